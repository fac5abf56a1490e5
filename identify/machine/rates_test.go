package machine

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/multibody"
	"hilrig/engine/rotation"
	"hilrig/identify/record"
)

// Recordings of nearly one rate are one experiment, each with its own interval. Truth is a wheel, written here: τ = J·a + Fv·v + Fc·sign v.
func TestRecordingsOfNearlyOneRate(t *testing.T) {
	const inertia, viscous, coulomb = 0.02, 0.05, 0.3
	wheel := func(int) multibody.Inertia {
		return multibody.Inertia{Mass: 1, I: rotation.Eye.Scale(0.01)}
	}
	m := arm(t, r3.Vec{}, [][3]float64{{}}, wheel)
	var recs []Recording
	for k := range 8 {
		d := &record.Record{Dt: 2e-3 * (1 + 0.015*float64(k%3)/2)}
		for i := range 3000 {
			s := float64(i) * d.Dt
			x, v, a := 0.0, 0.0, 0.0
			for j, f := range []float64{0.5, 1.3, 2.9} {
				w, size := 2*math.Pi*f, []float64{1, 0.3, 0.1}[j]
				sin, cos := math.Sincos(w*s + float64(k+j))
				x, v, a = x+size*sin, v+size*w*cos, a-size*w*w*sin
			}
			d.Position = append(d.Position, x)
			d.Force = append(d.Force, inertia*a+viscous*v+math.Copysign(coulomb, v))
		}
		recs = append(recs, Recording{d})
	}
	r, err := Fit(t.Context(), m, Spec{Terms: []Term{Inertia, Viscous, Coulomb}, Cutoff: 20, Order: 4, MinVelocity: []float64{FromRecord}, Trim: 0.2},
		recs, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range []float64{inertia, viscous, coulomb} {
		if got := r.Values[k]; math.Abs(got-want) > 2e-3*want {
			t.Errorf("%s = %.5g, put in %g", r.Base.Name(k), got, want)
		}
	}
	// each explains the others
	if _, _, _, err := r.Explain(recs[1:2], r.Values); err != nil {
		t.Error(err)
	}
}
