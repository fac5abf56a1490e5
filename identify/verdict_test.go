package identify

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"hilrig/engine/peer"
	"hilrig/identify/linear"
	"hilrig/identify/record"
)

// swing is a slide in motion: three sines with known derivatives, the force of a law, noise in it and steps in the position.
func swing(t *testing.T, law func(q, v, a float64) float64, noise, step float64) *record.Record {
	t.Helper()
	rng := rand.New(rand.NewPCG(0, 7))
	q, f := make([]float64, 20000), make([]float64, 20000)
	for k := range q {
		var p, v, a float64
		for _, s := range [][3]float64{{0.2, 0.3, 0}, {0.05, 1.1, 1}, {0.01, 3.2, 2}} { // m, Hz, rad
			w := 2 * math.Pi * s[1]
			sin, cos := math.Sincos(w*float64(k)*1e-3 + s[2])
			p, v, a = p+s[0]*sin, v+s[0]*w*cos, a-s[0]*w*w*sin
		}
		q[k], f[k] = p, law(p, v, a)+noise*rng.NormFloat64()
		if step > 0 {
			q[k] = step * math.Round(q[k]/step)
		}
	}
	d := &record.Record{Dt: 1e-3, Position: q, Force: f}
	return d
}

// slide is 12 kg with 30 N·s/m, 5 N and −1.5 N.
func slide(q, v, a float64) float64 { return 12*a + 30*v + 5*math.Copysign(1, v) - 1.5 }

func regressed(t *testing.T, s linear.Spec, fitted, validation *record.Record) *Result {
	t.Helper()
	recs := Records{Fit: []*record.Record{fitted}}
	if validation != nil {
		recs.Validation = []*record.Record{validation}
	}
	r, err := Run(t.Context(), Plan{Methods: Chain{"regress"}, Regress: s}, recs, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func expect(t *testing.T, name string, r *Result, want Verdict, because string) {
	t.Helper()
	if r.Verdict != want || !strings.Contains(strings.Join(r.Because(), "\n"), because) {
		t.Errorf("%s: %s %q, want %s because …%s…", name, r.Headline(), r.Reasons, want, because)
	}
}

// Verdicts below identified name their reason.
func TestVerdictNamesItsReason(t *testing.T) {
	s := linear.DefaultSpec()
	expect(t, "a clean record", regressed(t, s, swing(t, slide, 1, 0), nil), Identified, "")
	expect(t, "wrong sign of the force", regressed(t, s, swing(t, func(q, v, a float64) float64 { return -slide(q, v, a) }, 0, 0), nil),
		Rejected, "M is negative")
	expect(t, "a spring that is not in the model", regressed(t, s,
		swing(t, func(q, v, a float64) float64 { return slide(q, v, a) + 4000*q }, 0, 0), nil),
		Rejected, "does not describe these data")
	expect(t, "drowned in noise", regressed(t, s, swing(t, slide, 1500, 0), nil), Rejected, "Fc")
	falls := func(fv float64) *record.Record {
		return swing(t, func(q, v, a float64) float64 { return slide(q, v, a) + (fv-30)*v }, 1, 0)
	}
	expect(t, "friction that falls with speed", regressed(t, s, falls(-4), nil), Weak, "Fv is negative beyond doubt (-4")
	expect(t, "hardly any viscous friction", regressed(t, s, falls(0.05), nil), Identified, "")
	expect(t, "none that can be told from it", regressed(t, s, falls(-0.02), nil), Identified, "")
	expect(t, "a coarse encoder", regressed(t, s, swing(t, slide, 0, 8e-4), nil), Weak, "depend on the filter")
}

// A second record that the parameters explain far worse takes the verdict down.
func TestVerdictHearsValidation(t *testing.T) {
	s, good := linear.DefaultSpec(), swing(t, slide, 1, 0)
	expect(t, "the same slide again", regressed(t, s, good, swing(t, slide, 1, 1e-6)), Identified, "")
	expect(t, "another slide", regressed(t, s, good, swing(t, func(q, v, a float64) float64 { return 3 * slide(q, v, a) }, 1, 0)), Rejected,
		"validation")
	expect(t, "a heavier one", regressed(t, s, good, swing(t, func(q, v, a float64) float64 { return slide(q, v, a) + 2*a + 3*v }, 1, 0)),
		Weak, "points worse")
}

// A torque-controlled pendulum: the run ddp is fitted to 93 % by others; from the whole band the inertia differs between
// tenths of the run; the run pd_sysid, whose drive saturates, is neither explained by it nor fitted by the same terms.
func TestVerdictOnMeasuredPendulum(t *testing.T) {
	read := func(name string) *record.Record {
		recs, err := record.Read(peer.SharedRecord(t, "dfki_pendulum/"+name+".csv.gz"), record.Mapping{
			Time:     record.Column{Name: "time_s", Unit: "s"},
			Position: record.Column{Name: "position_rad", Unit: "rad"},
			Force:    record.Column{Name: "torque_Nm", Unit: "N·m"},
		})
		if err != nil {
			t.Fatal(err)
		}
		return recs[0]
	}
	s := linear.Spec{
		Rotary: true, Terms: []linear.Term{linear.Inertia, linear.Viscous, linear.Coulomb, linear.GravitySin, linear.Offset},
		Order: 4, Cutoff: 20, Decimate: 5, Trim: 0.2,
	}
	good, bad := read("ddp"), read("pd_sysid")
	expect(t, "the whole band", regressed(t, s, good, nil), Weak, "J is known to")
	expect(t, "the saturated run as validation", regressed(t, s, good, bad), Rejected, "validation")
	expect(t, "the saturated run itself", regressed(t, s, bad, nil), Rejected, "does not describe these data")
	s = linear.DefaultSpec()
	s.Rotary, s.Terms = true, []linear.Term{linear.Inertia, linear.Viscous, linear.Coulomb, linear.GravitySin, linear.Offset}
	expect(t, "a run with a viscous friction below zero", regressed(t, s, read("direct_collocation"), nil), Weak,
		"Fv is negative beyond doubt")
}

// A parameter that differs from piece to piece is not called identified because the rows are many.
func TestPiecesThatDisagreeAreNotIdentified(t *testing.T) {
	var recs []*record.Record
	b := newBench(3, 6)
	for _, share := range []float64{1.5, 0.12, 0.25, 2.2} {
		one := *b
		one.axis.Friction.Fc *= share
		recs = append(recs, one.run().Record(one.sensors, one.ref))
	}
	o := attempt(kind{}, b.trial(recs...))
	if o.result == nil || o.verdict == Identified {
		t.Fatalf("%s: %s", o.verdict, o.reason)
	}
	if p, _ := o.result.Param("Fc"); p.Worth == string(Identified) || p.CI == nil || p.CI[0] > 0.25*b.axis.Friction.Fc ||
		p.CI[1] < 1.5*b.axis.Friction.Fc {
		t.Errorf("Fc = %.3g N, %s in %v: the pieces were made with 0.12 to 2.2 times %.3g", p.Value, p.Worth, p.CI, b.axis.Friction.Fc)
	}
}
