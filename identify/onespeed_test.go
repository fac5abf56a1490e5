package identify

import (
	"math"
	"slices"
	"testing"

	"hilrig/identify/fit"
	"hilrig/identify/independent"
	"hilrig/identify/record"
)

// oneSpeed is a record to and fro at one speed, whose drag is a share of the viscous force at that speed.
func oneSpeed(seed uint64, turn, drag float64) trial {
	b := newBench(seed, 10)
	b.toAndFro(turn)
	b.sensors.Force *= 2
	c := drag * b.axis.Friction.Sigma2 / 0.3
	b.axis.Load = func(_, _, v float64) float64 { return c * v * math.Abs(v) }
	return b.record(nil)
}

// missed are the parameters that are identified and whose interval misses the truth clearly.
func missed(tr trial, r *Result) (names []string) {
	for i := range r.Parameters {
		p := &r.Parameters[i]
		truth, known := tr.truth[p.Name]
		if !known || p.CI == nil || p.Worth != string(Identified) {
			continue
		}
		if mid, half := (p.CI[0]+p.CI[1])/2, (p.CI[1]-p.CI[0])/2; math.Abs(truth-mid) > clearly*half {
			names = append(names, p.Name)
		}
	}
	return names
}

// Motion of one speed does not tell drag from viscous friction: intervals hold as much of it as the turns allow, there being some or none.
// Motion of many speeds tells it, and nothing is added.
func TestDragAtOneSpeed(t *testing.T) {
	possible := func(r *Result) bool {
		return slices.ContainsFunc(r.Unmodelled, func(l fit.Effect) bool { return l.Kind == "drag" && l.Possible })
	}
	said, all := 0, 0
	for _, turn := range []float64{0.02, 0.08} {
		for seed := range uint64(draws(6)) {
			for _, drag := range []float64{0, 0.1, 0.3} {
				tr := oneSpeed(100*seed+7, turn, drag)
				o := attempt(kind{}, tr)
				if o.result == nil {
					t.Fatal(o.reason)
				}
				if all++; possible(o.result) {
					said++
				}
				if m := missed(tr, o.result); m != nil {
					t.Errorf("turns of %g s, seed %d, drag %g: %v missed; the record is %s (%s)", turn, seed, drag, m, o.verdict, o.reason)
				}
				if drag == 0 && o.verdict != Identified {
					t.Errorf("turns of %g s, seed %d, no drag: %s (%s)", turn, seed, o.verdict, o.reason)
				}
			}
		}
	}
	if 3*said < all {
		t.Errorf("%d of %d results hold drag that the motion does not exclude", said, all)
	}
	for seed := range uint64(draws(4)) {
		if o := attempt(kind{}, newBench(100*seed+7, 10).record(nil)); o.verdict != Identified || possible(o.result) {
			t.Errorf("three tones, seed %d: %s, drag possible %v", seed, o.verdict, possible(o.result))
		}
	}
}

// All inertia of such a record is in its turns. Where these are short, a filter of the force or of the position looks like a delay; the fit
// with the filter in place of the delay explains the record as well, with another inertia, and the interval holds that.
func TestFilterBehindShortTurns(t *testing.T) {
	alternatives, n := 0, draws(4)
	for seed := range uint64(n) {
		for _, c := range []struct {
			name string
			edit func(b *bench, d *record.Record)
		}{
			{"force behind 4 ms", func(b *bench, d *record.Record) { d.Force = behind(d.Force, b.dt, 4e-3) }},
			{"force behind 8 ms", func(b *bench, d *record.Record) { d.Force = behind(d.Force, b.dt, 8e-3) }},
			{"position behind 4 ms", func(b *bench, d *record.Record) { d.Position = behind(d.Position, b.dt, 4e-3); b.count(d.Position) }},
			{"position behind 8 ms", func(b *bench, d *record.Record) { d.Position = behind(d.Position, b.dt, 8e-3); b.count(d.Position) }},
			{"neither", nil},
		} {
			b := newBench(100*seed+57, 10)
			b.toAndFro(0.05)
			tr := b.record(func(_ *independent.Trace, d *record.Record) {
				if c.edit != nil {
					c.edit(b, d)
				}
			})
			o := attempt(kind{}, tr)
			if o.result == nil {
				t.Fatalf("%s, seed %d: %s", c.name, seed, o.reason)
			}
			p, _ := o.result.Param("M")
			t.Logf("%s, seed %d: M %.5g (%.5g), true %.5g, %s", c.name, seed, p.Value, *p.CI, b.axis.M, o.verdict)
			if p.CI[0] > b.axis.M || p.CI[1] < b.axis.M {
				t.Errorf("%s, seed %d: M %.5g (%.5g), true %.5g", c.name, seed, p.Value, *p.CI, b.axis.M)
			}
			if (c.edit == nil) != (o.verdict == Identified) {
				t.Errorf("%s, seed %d: %s (%s)", c.name, seed, o.verdict, o.reason)
			}
			for _, x := range o.result.Sensitivity {
				if x.What == "a filter of first order in place of the lag" && c.edit != nil &&
					math.Abs(x.Values["M"]-b.axis.M) < math.Abs(p.Value-b.axis.M) {
					alternatives++
				}
			}
		}
	}
	if alternatives < n {
		t.Errorf("in %d of %d results the filter is nearer to the truth than the delay", alternatives, 4*n)
	}
}

// shuttle moves the joint at which something is wrong to and fro at 1 rad/s, with turns of 0.1 s.
func (b *armBench) shuttle() independent.Tours {
	tour, half, turn := b.tour(), 0.8, 0.1
	return func(t float64) (q, v, a []float64) {
		q, v, a = tour(t)
		p, side, from := math.Mod(t, 2*half), 1.0, 0.0
		if p >= half {
			p, side, from = p-half, -1, half-turn
		}
		j := b.wrong
		if p < turn {
			q[j], v[j], a[j] = from+side*(p*p/turn-p), side*(2*p/turn-1), side*2/turn
		} else {
			q[j], v[j], a[j] = from+side*(p-turn), side, 0
		}
		return q, v, a
	}
}

// A joint of a machine that has one speed holds drag in its intervals as an axis does.
func TestDragAtOneSpeedOfAJoint(t *testing.T) {
	for seed := range uint64(3) {
		for _, drag := range []float64{0, 0.15} {
			b := newArmBench(10*seed+5, 2)
			b.along = b.shuttle()
			recs := more(func(b *armBench, tr *independent.ArmTrace, k int) float64 {
				v := tr.V[b.wrong][k]
				return drag * b.arm.Links[b.wrong].Fv * v * math.Abs(v)
			})(b)
			m, err := b.model(nil)
			if err != nil {
				t.Fatal(err)
			}
			r, err := fitArm(m, b.spec, recs)
			if err != nil {
				t.Fatal(err)
			}
			truth, err := b.truth()
			if err != nil {
				t.Fatal(err)
			}
			if m := missed(trial{truth: truth}, r); m != nil {
				t.Errorf("seed %d, drag %g at joint %d: %v missed; the machine is %s", seed, drag, b.wrong+1, m, r.Verdict)
			}
		}
	}
}
