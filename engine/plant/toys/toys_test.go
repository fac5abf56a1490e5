package toys_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"hilrig/engine/contact"
	"hilrig/engine/plant/toys"
)

// each makes every toy with its defaults.
func each(t *testing.T, f func(t *testing.T, info toys.Info, toy toys.Toy)) {
	for _, info := range toys.Registry {
		t.Run(info.Name, func(t *testing.T) {
			toy, err := info.Make(nil)
			if err != nil {
				t.Fatal(err)
			}
			f(t, info, toy)
		})
	}
}

// A toy starts where its contacts are open or touch, and names all of its coordinates.
func TestStartIsFreeOfPenetration(t *testing.T) {
	each(t, func(t *testing.T, info toys.Info, toy toys.Toy) {
		n := toy.DOF()
		if got := len(toy.Coordinates()); got != n {
			t.Errorf("%d coordinates named, %d there", got, n)
		}
		q, u, set := make([]float64, n), make([]float64, n), contact.NewSet(32, n)
		toy.Start(q, u)
		toy.Contacts(0, q, u, math.Inf(1), set)
		if set.N == 0 {
			t.Error("no contact")
		}
		for i := range set.N {
			if set.Gap[i] < -1e-15 {
				t.Errorf("contact %d: gap %g m at the start", set.ID[i], set.Gap[i])
			}
			if set.NX[i]*set.NX[i]+set.NY[i]*set.NY[i] != 1 && math.Abs(math.Hypot(set.NX[i], set.NY[i])-1) > 1e-12 {
				t.Errorf("contact %d: normal (%g, %g)", set.ID[i], set.NX[i], set.NY[i])
			}
		}
		toy.Contacts(0, q, u, -1, set)
		if set.N != 0 {
			t.Errorf("%d contacts within a reach of −1 m", set.N)
		}
	})
}

// w_N against the slope of the gap, w̄_N and w̄_T against the change of ġ along a free motion; M against its transpose.
func TestRowsAreDerivativesOfTheGap(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	each(t, func(t *testing.T, info toys.Info, toy toys.Toy) {
		n := toy.DOF()
		q, u, a, b := make([]float64, n), make([]float64, n), contact.NewSet(32, n), contact.NewSet(32, n)
		m := make([]float64, n*n)
		away, h := 0.01, 1e-5
		if info.Name == "wheel" {
			away, h = 1e-8, 2e-7 // within an edge and close to it
		}
		kept := 0
		for range 20 {
			toy.Start(q, u)
			for j := range q {
				q[j] += away * r.NormFloat64()
				u[j] = r.NormFloat64()
			}
			toy.Mass(0, q, m)
			for i := range n {
				for j := range n {
					if m[i*n+j] != m[j*n+i] {
						t.Errorf("M is not symmetric")
					}
				}
			}
			at := func(s float64, set *contact.Set) {
				p := make([]float64, n)
				for j := range p {
					p[j] = q[j] + s*u[j]
				}
				toy.Contacts(s, p, u, math.Inf(1), set)
			}
			toy.Contacts(0, q, u, math.Inf(1), a)
			for i := range a.N {
				vn, _ := a.Rate(i, u)
				at(-h, b)
				before := b.Feature[i]
				at(h, b)
				if b.Feature[i] != before {
					continue // over a vertex
				}
				kept++
				up, gap := b.Gap[i], 0.0
				upN, upT := b.Rate(i, u)
				at(-h, b)
				gap = (up - b.Gap[i]) / (2 * h)
				dnN, dnT := b.Rate(i, u)
				if math.Abs(gap-vn) > 1e-6*(1+math.Abs(vn)) {
					t.Errorf("contact %d: ġ_N %g, slope of the gap %g", a.ID[i], vn, gap)
				}
				if d := (upN - dnN) / (2 * h); math.Abs(d-a.AN[i]) > 1e-5*(1+math.Abs(d)) {
					t.Errorf("contact %d: w̄_N %g, by differences %g", a.ID[i], a.AN[i], d)
				}
				if d := (upT - dnT) / (2 * h); math.Abs(d-a.AT[i]) > 1e-5*(1+math.Abs(d)) {
					t.Errorf("contact %d: w̄_T %g, by differences %g", a.ID[i], a.AT[i], d)
				}
			}
		}
		if kept < 10 {
			t.Errorf("only %d contacts compared", kept)
		}
	})
}

// Force contains −K·q − C·u of what is Stiff.
func TestLinearPartIsInTheForce(t *testing.T) {
	each(t, func(t *testing.T, info toys.Info, toy toys.Toy) {
		s, ok := toy.(contact.Stiff)
		if !ok {
			return
		}
		n := toy.DOF()
		k, c := make([]float64, n*n), make([]float64, n*n)
		for i := range k {
			k[i], c[i] = math.NaN(), math.NaN() // Linear fills all
		}
		s.Linear(k, c)
		q, u, f0, f1 := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		for j := range n {
			clear(q)
			clear(u)
			toy.Force(0, q, u, f0)
			q[j] = 1
			toy.Force(0, q, u, f1)
			for i := range n {
				if d := f0[i] - f1[i] - k[i*n+j]; !(math.Abs(d) < 1e-12*(1+math.Abs(f1[i]))) {
					t.Errorf("K[%d][%d] is off by %g", i, j, d)
				}
			}
			q[j], u[j] = 0, 1
			toy.Force(0, q, u, f1)
			for i := range n {
				if d := f0[i] - f1[i] - c[i*n+j]; !(math.Abs(d) < 1e-12*(1+math.Abs(f1[i]))) {
					t.Errorf("C[%d][%d] is off by %g", i, j, d)
				}
			}
		}
	})
}

func TestParametersByName(t *testing.T) {
	each(t, func(t *testing.T, info toys.Info, toy toys.Toy) {
		values := map[string]float64{}
		for _, p := range info.Params() {
			if p.Doc == "" || p.Name == "" || !(p.Value >= p.Lo && p.Value <= p.Hi) {
				t.Errorf("%+v", p)
			}
			values[p.Name] = math.NaN()
		}
		// every one of them is checked, all at once
		_, err := info.Make(values)
		if err == nil {
			t.Fatal("NaN accepted")
		}
		for name := range values {
			if !strings.Contains(err.Error(), info.Name+"."+name+": NaN") {
				t.Errorf("%s: not in the error", name)
			}
		}
	})
	for _, c := range []struct {
		toy    string
		values map[string]float64
		want   string
	}{
		{"ball", map[string]float64{"mass": -1}, "ball.mass: -1, want > 0"},
		{"ball", map[string]float64{"colour": 3}, `ball: no parameter "colour"`},
		{"rod", map[string]float64{"ground.eps_n": 1.5}, "rod.ground.eps_n: 1.5, want 0 … 1"},
		{"chain", map[string]float64{"balls": 2.5}, "whole number"},
		{"discs", map[string]float64{"start.offset": 0.07}, "do not meet"},
		{"woodpecker", map[string]float64{"r_M": 0.002}, "does not fit the pole"},
		{"woodpecker", map[string]float64{"start.phi_S": 0.2}, "beak meets the pole"},
	} {
		info, err := toys.Find(c.toy)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := info.Make(c.values); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: %v, want %q", c.toy, c.values, err, c.want)
		}
	}
	if _, err := toys.Find("top"); err == nil || !strings.Contains(err.Error(), "woodpecker") {
		t.Errorf("%v", err)
	}
}
