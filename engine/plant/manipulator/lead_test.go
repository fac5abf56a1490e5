package manipulator

import (
	"math"
	"testing"

	"hilrig/engine"
)

// A joint that is led tick by tick along the motion of its drive goes with the one that has it, to the order of the cubics, and allocates
// nothing.
func TestLead(t *testing.T) {
	m := model(t, Paper(1))
	off := func(n int) (q, lambda float64) {
		own, err := m.NewMachine()
		if err != nil {
			t.Fatal(err)
		}
		led, _ := m.NewMachine()
		if led.FollowMotion(1, Drawn{}) == nil {
			t.Fatal("a free joint was led")
		}
		x, z := own.NewState(), led.NewState()
		y, w := make([]float64, len(own.Layout().Outputs)), make([]float64, len(own.Layout().Outputs))
		h := 1 / float64(n)
		for i := 1; i <= n; i++ {
			at := float64(i) * h
			a, b, c := m.p.Joints[0].Drive.At(at)
			if err := led.FollowMotion(0, Drawn{a, b, c}); err != nil {
				t.Fatal(err)
			}
			if st := max(own.Step(h, x, nil, y), led.Step(h, z, nil, w)); st != engine.OK {
				t.Fatalf("at %g s: %v", at, st)
			}
			for j := range 4 {
				q = math.Max(q, math.Abs(y[j]-w[j]))
			}
			lambda = math.Max(lambda, math.Abs(y[m.n+OutLambda]-w[m.n+OutLambda]))
		}
		if a := testing.AllocsPerRun(5, func() { led.FollowMotion(0, led.p.followers[0].endPoint); led.Step(h, z, nil, w) }); a != 0 {
			t.Errorf("%g allocations", a)
		}
		return q, lambda
	}
	q, lambda := off(1000)
	fine, fineLambda := off(2000)
	if !(q < 1e-7) || !(lambda < 1e-3) || !(fine < q/6) || !(fineLambda < lambda/3) {
		t.Errorf("off by %.3g and %.3g N at 1 ms, %.3g and %.3g N at half of it", q, lambda, fine, fineLambda)
	}
}
