package identify

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/identify/axis"
	"hilrig/identify/ball"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// scaledRecord is a record with force, motion and times larger by these.
func scaledRecord(d *record.Record, force, position, velocity, time float64) {
	floats.Scale(force, d.Force)
	floats.Scale(position, d.Position)
	floats.Scale(velocity, d.Velocity)
	d.Dt, d.Start = time*d.Dt, time*d.Start
}

// scaleCase is a number that no record tells, and the powers of it that values have which are found with it wrong.
type scaleCase struct {
	number                          string
	force, position, velocity, time float64 // 1: it is this
	powers                          map[string]float64
}

// goesWith asks that values are off by the closed form, that the result says so beside each, and that they are right but for that.
func goesWith(t *testing.T, r *Result, truth map[string]float64, c *scaleCase, by float64) {
	t.Helper()
	for name, power := range c.powers {
		p, ok := r.Param(name)
		if !ok || p.CI == nil {
			t.Errorf("no %s", name)
			continue
		}
		half := p.halfInterval()
		if want := truth[name] * math.Pow(by, power); math.Abs(p.Value-want) > 2*half+0.002*math.Abs(want) {
			t.Errorf("%s %g: %s is %.6g ± %.2g, by the closed form %.6g", c.number, by, name, p.Value, half, want)
		}
		said := 0.0
		for _, s := range p.ScalesWith {
			if s.Name == c.number {
				said = s.Percent
			}
		}
		if math.Abs(said-math.Abs(power)) > 0.05 {
			t.Errorf("%s: 1 %% of it is said to be %.3g %% of %s, want %g", c.number, said, name, math.Abs(power))
		}
		if seen := strings.Contains(p.IntervalSource, c.number); power != 0 && half < 0.01*p.Value && !seen {
			t.Errorf("%s is known to %.2g times the %s: %q", name, half/p.Value, c.number, p.IntervalSource)
		}
	}
	if !strings.Contains(r.Headline(), c.number) {
		t.Errorf("%s: %s", c.number, r.Headline())
	}
}

var axisScales = []scaleCase{
	{fit.ForceGain, 1, 0, 0, 0, map[string]float64{"M": 1, "Fv": 1, "Fc": 1}},
	{"gain of the position", 0, 1, 0, 0, map[string]float64{"M": -1, "Fv": -1, "Fc": 0}},
	{fit.Clock, 0, 0, 0, 1, map[string]float64{"M": 2, "Fv": 1, "Fc": 0}},
}

// A record of an axis with another gain of force, position or velocity, or another clock, is that of another axis.
func TestAxisGoesWithItsGains(t *testing.T) {
	velocity := scaleCase{"gain of the velocity", 0, 0, 1, 0, map[string]float64{"M": -1, "Fv": -1, "Fc": 0}}
	clock := scaleCase{fit.Clock, 0, 0, 0, 1, map[string]float64{"M": 1, "Fv": 0, "Fc": 0}}
	for _, w := range []struct {
		name  string
		plan  func(p *Plan)
		cases []scaleCase
	}{
		{"regress", func(*Plan) {}, axisScales},
		{"lm, position", func(p *Plan) {
			p.Methods, p.Model = Chain{"lm"}, axis.Spec{Law: "coulomb", Terms: []string{"viscous"}, Output: axis.Position, Hold: axis.Held,
				Initial: axis.Free}
		}, axisScales},
		{"lm, velocity", func(p *Plan) {
			p.Methods, p.Model = Chain{"lm"}, axis.Spec{Law: "coulomb", Terms: []string{"viscous"}, Output: axis.Velocity, Hold: axis.Held,
				Initial: axis.Free}
		}, []scaleCase{axisScales[0], velocity, clock}},
	} {
		for _, c := range w.cases {
			for _, by := range []float64{0.98, 1.02} {
				b := newBench(11, 6)
				b.sensors.Velocity = 2e-4
				tr := b.record(nil)
				w.plan(&tr.plan)
				power := func(is float64) float64 { return math.Pow(by, is) }
				scaledRecord(tr.recs[0], power(c.force), power(c.position), power(c.velocity), power(c.time))
				r := attempt(kind{}, tr).result
				if r == nil {
					t.Fatal(w.name, attempt(kind{}, tr).reason)
				}
				t.Run(w.name, func(t *testing.T) { goesWith(t, r, tr.truth, &c, by) })
			}
		}
	}
}

// Of free motion a known inertia stands for the force: its error is that of all forces, friction goes with the clock.
func TestFreeMotionGoesWithItsGains(t *testing.T) {
	k := freeKinds[slices.IndexFunc(freeKinds, func(k freeKind) bool { return k.name == "run-down" })]
	for _, c := range []scaleCase{
		{"gain of the position", 0, 1, 0, 0, map[string]float64{"Fv": 0, "Fc": 1}},
		{fit.Clock, 0, 0, 0, 1, map[string]float64{"Fv": -1, "Fc": -2}},
	} {
		for _, by := range []float64{0.98, 1.02} {
			tr := k.trial(3)
			scaledRecord(tr.recs[0], 1, math.Pow(by, c.position), 1, math.Pow(by, c.time))
			r := attempt(kind{}, tr).result
			goesWith(t, r, tr.truth, &c, by)
		}
	}
}

// So it is with the torques of a machine, all of them or its only one. A position and the clock do what the derivatives say.
func TestMachineGoesWithItsGains(t *testing.T) {
	for joints := range 2 {
		for _, by := range []float64{0.98, 1.02} {
			b := newArmBench(95, joints+1)
			b.top, b.n, b.count = 3, 4000, 2*math.Pi/1e7
			recs := [][]*record.Record{b.record(b.led())}
			truth, err := b.truth()
			if err != nil {
				t.Fatal(err)
			}
			m, err := b.model(nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range recs[0] {
				scaledRecord(d, 1, 1, 1, by)
			}
			r, err := fitArm(m, b.spec, recs)
			if err != nil {
				t.Fatal(err)
			}
			if joints == 0 {
				goesWith(t, r, truth, &scaleCase{number: fit.Clock, powers: map[string]float64{"l1.izz_R": 2, "l1.Fv": 1, "l1.Fc": 0}}, by)
				continue
			}
			for i := range r.Parameters { // weight and inertia share parameters: what the clock makes of each is not a power
				p := &r.Parameters[i]
				said := 0.0
				for _, s := range p.ScalesWith {
					if s.Name == fit.Clock {
						said = s.Percent / 100 * math.Abs(by-1) * 100 * math.Abs(p.Value)
					}
				}
				if x, known := truth[p.Name]; known && p.CI != nil && p.Worth == string(Identified) &&
					math.Abs(p.Value-x) > 2*p.halfInterval()+1.2*said+0.005*math.Abs(x) {
					t.Errorf("clock %g: %s is %.4g ± %.2g, true %.4g; said to go by %.2g", by, p.Name, p.Value, p.halfInterval(), x, said)
				}
			}
		}
	}
}

// A ball is slower in a slower time, under the same weight. What its file calls exact is named.
func TestBallGoesWithItsGains(t *testing.T) {
	for _, by := range []float64{0.98, 1.02} {
		b := paperBall()
		b.w = r3.Vec{X: 2, Y: 1, Z: 1.5}
		rec := b.recorded(3, 1e-4, 5)
		floats.Scale(by, rec.Times)
		r, _ := fitRolling(t, ball.Spec{FreeParams: []string{"mu_roll", "mu_spin", "height"}, Body: b.given(), Markers: rollingMarkers}, rec)
		for _, name := range []string{"mu_roll", "mu_spin"} {
			p, _ := r.Param(name)
			said := map[string]float64{}
			for _, s := range p.ScalesWith {
				said[s.Name] = s.Percent
			}
			if truth := truthOf(&b)[name]; math.Abs(p.Value-truth) > 2*p.halfInterval()+1.1*truth*math.Abs(by-1)*said[fit.Clock] {
				t.Errorf("clock %g: %s is %.4g ± %.2g, true %.4g; said to go with %v", by, name, p.Value, p.halfInterval(), truth, said)
			}
			if said["mass"] == 0 || said["moments of inertia"] == 0 {
				t.Errorf("%s goes with %v: no mass, no inertia", name, said)
			}
		}
		for _, name := range []string{"mass", "radius", "gravity", fit.Clock} {
			if !strings.Contains(r.Headline(), name) {
				t.Errorf("no %s in %s", name, r.Headline())
			}
		}
	}
}
