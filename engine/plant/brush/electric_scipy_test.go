package brush

import (
	"math"
	"testing"

	"hilrig/engine"
	"hilrig/engine/peer"
)

type circuitCase struct {
	R, L, K, V0, Ilin, Rb, Varc, Iarc, V float64
	AR                                   float64 `json:"aR"`
	BR                                   float64 `json:"bR"`
	Series                               bool    `json:"series"`
	F                                    float64 `json:"f"`
	W                                    float64 `json:"w"`
	Depth                                float64 `json:"depth"`
	Rate                                 float64 `json:"rate"`
	T                                    float64
	N                                    int `json:"n"`
}

type coilCase struct {
	Lc, Rc, Varc, R float64
	E               float64 `json:"e"`
	A               float64 `json:"a"`
	Pitch           float64 `json:"pitch"`
	Half            float64 `json:"half"`
	Slot            float64 `json:"slot"`
	Rate            float64 `json:"rate"`
	Theta0          float64 `json:"theta0"`
	T               float64
}

type scipyJob struct {
	Circuit []circuitCase `json:"circuit"`
	Coils   []coilCase    `json:"coils"`
}

type scipyResult struct {
	Circuit []struct {
		I            []float64
		Square, Loss float64
	}
	Coils [][]float64
}

func scipy(t *testing.T, job scipyJob) (r scipyResult) {
	t.Helper()
	peer.Ask(t, "scipy", job, &r, "testdata/electric.py")
	return r
}

// With forces that swing over decades the current agrees with a stiff integrator, and halving the step quarters the error.
func TestCurrentUnderSwingingForcesAgreesWithSciPy(t *testing.T) {
	base := circuitCase{R: 1.2, L: 0.6e-3, K: 0.042, V0: 1, Ilin: 0.5, AR: 0.02, BR: 0.01, Rb: 0.014, Varc: 13, Iarc: 0.3, V: 24, W: 200,
		Rate: 400, T: 0.02, N: 200}
	shallow, deep, series := base, base, base
	shallow.Depth, deep.Depth = 2, 5 // down to 0.05 N and 1e-4 N, with arcs
	series.Series, series.R, series.L, series.K, series.V, series.F, series.W, series.Depth = true, 2.5, 0.06, 0.1, 325, 50, 314, 4
	cases := []circuitCase{shallow, deep, series}
	ref := scipy(t, scipyJob{Circuit: cases})
	for n, c := range cases {
		e := Circuit{R: c.R, L: c.L, K: c.K, Series: c.Series,
			Drop: Drop{V0: c.V0, Ilin: c.Ilin, AR: c.AR, BR: c.BR, Rb: c.Rb, Varc: c.Varc, Iarc: c.Iarc}}
		want := ref.Circuit[n]
		run := func(div int) (worst, square, loss, arc float64) {
			h := c.T / float64(c.N*div)
			i, top := 0.0, 0.0
			var o Flow
			for k := range c.N * div {
				a, b := float64(k)*h, float64(k+1)*h
				u := c.V
				if c.F > 0 {
					x := 2 * math.Pi * c.F
					u = c.V * (math.Cos(x*a) - math.Cos(x*b)) / (x * h)
				}
				var touch [2]Touch
				for s := range touch {
					touch[s].Force = 2.5 * math.Exp(c.Depth*(math.Sin(2*math.Pi*c.Rate*(a+b)/2+float64(s))-1))
				}
				if st := e.Step(h, i, u, c.W, 0, &touch, &o); st != engine.OK {
					t.Fatal(st)
				}
				i, square, loss, arc = o.I, square+o.Square, loss+o.Contact+o.Arc, arc+o.Arc
				if (k+1)%div == 0 {
					worst, top = max(worst, math.Abs(i-want.I[(k+1)/div])), max(top, math.Abs(i))
				}
			}
			return worst / top, math.Abs(square/want.Square - 1), math.Abs(loss/want.Loss - 1), arc
		}
		e1, s1, l1, arc := run(5)
		e2, _, _, _ := run(20)
		t.Logf("case %d: 20 µs: current off by %.2g of its peak, ∫i² by %.2g, contact loss by %.2g, arcs %.3g J; 5 µs: %.2g", n, e1, s1, l1,
			arc,
			e2)
		if e1 > 1e-3 || s1 > 1e-3 || l1 > 1e-3 {
			t.Errorf("case %d: off by %.3g, %.3g, %.3g, want 1e-3", n, e1, s1, l1)
		}
		if e2 > e1/8 {
			t.Errorf("case %d: error %.3g at 20 µs, %.3g at 5 µs: not second order", n, e1, e2)
		}
		if (arc > 0) != (n >= 1) {
			t.Errorf("case %d: arcs %g J", n, arc)
		}
	}
}

// The chain of shorted coils agrees with a stiff integrator up to the moment at which the bar leaves.
func TestShortedCoilsAgreeWithSciPy(t *testing.T) {
	half, slot := 6.3/22, 0.5/11
	hi := half - slot/2
	var cases []coilCase
	for _, w := range []float64{50, 314, -314, 1200} {
		for _, r := range []float64{0.02, 0.3, 2} {
			for _, bars := range []float64{24, 20, 30} {
				pitch := 2 * math.Pi / bars
				n := math.Floor(2 * hi / pitch)
				more := 2*hi - n*pitch // turn while n + 1 coils are shorted
				for _, span := range [][2]float64{{0.999 * pitch, 1.01 * more}, {0.99 * more, 1e-3 * more}} {
					c := coilCase{Lc: 60e-6, Rc: 0.2, Varc: 13, R: r, E: 0.3, A: 2, Pitch: pitch, Half: half, Slot: slot, Rate: w}
					c.Theta0, c.T = math.Copysign(1, w)*(hi-span[0]), (span[0]-span[1])/math.Abs(w)
					cases = append(cases, c)
				}
			}
		}
	}
	ref := scipy(t, scipyJob{Coils: cases})
	counts := map[int]int{}
	for _, l := range []struct {
		steps int
		want  float64
	}{{40, 0.1}, {400, 5e-3}, {4000, 6e-4}} {
		worst, mean := 0.0, 0.0
		for n, c := range cases {
			m, err := NewCommutation(11e-3, 6.3e-3, 0.5e-3, int(math.Round(2*math.Pi/c.Pitch)), c.Lc, c.Rc, c.Varc)
			if err != nil {
				t.Fatal(err)
			}
			m.EMF = c.E
			m.Step(1e-12, c.Theta0, 2*c.A, c.R)
			for k := range l.steps {
				x := float64(k+1) / float64(l.steps)
				m.Step(c.T/float64(l.steps), c.Theta0+c.Rate*c.T*x, 2*c.A, c.R)
			}
			want := ref.Coils[n]
			if m.Coils() != len(want) || m.Breaks != 0 {
				t.Errorf("case %d: %d coils, %d breaks; want %d and none", n, m.Coils(), m.Breaks, len(want))
				continue
			}
			counts[len(want)]++
			off := 0.0
			for k, v := range want {
				off = max(off, math.Abs(m.Coil(k)-v)/c.A)
			}
			worst, mean = max(worst, off), mean+off/float64(len(cases))
		}
		t.Logf("%d steps per bar: coil currents off by %.2g of the brush's half, at most %.2g", l.steps, mean, worst)
		if worst > l.want {
			t.Errorf("%d steps per bar: off by %.3g, want at most %g", l.steps, worst, l.want)
		}
	}
	t.Logf("coils: %v", counts)
	if counts[2] == 0 || counts[3] == 0 {
		t.Errorf("want chains of two and three coils, got %v", counts)
	}
}
