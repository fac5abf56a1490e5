package ball

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"
)

// One step of a second is as good as a thousand of a millisecond, also from where the ball turns back and hardly moves.
func TestLongStep(t *testing.T) {
	p := Paper()
	m, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []float64{0, 1e-6, 1e-3, 0.1, 5} {
		a := State{Q: quat.Number{Real: math.Cos(1.1), Imag: math.Sin(1.1)}, W: r3.Vec{X: w}}
		m.Place(&a)
		b := a
		m.Step(1, &a)
		for range 1000 {
			m.Step(1e-3, &b)
		}
		if d := r3.Norm(r3.Sub(a.W, b.W)); !(d < 1e-7) || !(math.Hypot(a.X-b.X, a.Y-b.Y) < 1e-9) {
			t.Errorf("from %g rad/s: ω differs by %g rad/s", w, d)
		}
	}
}
