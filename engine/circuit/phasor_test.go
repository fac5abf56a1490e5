package circuit

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"hilrig/engine"
	"hilrig/engine/reference"
)

// part of a random network for phasors: φ_from − φ_to = E + Σ Z·i, or i = J.
type phasorBranch struct {
	name     string
	from, to int // 0: ground
	z        map[int]complex128
	e, j     complex128
	source   bool // of current
}

// phasors solves the tableau of all node voltages and branch currents by elimination with row pivoting; nil: singular.
func phasors(nodes int, branches []phasorBranch) []complex128 {
	n := nodes + len(branches)
	a := make([][]complex128, n)
	for i := range a {
		a[i] = make([]complex128, n+1)
	}
	for k, b := range branches {
		row := a[nodes+k]
		if b.from > 0 {
			a[b.from-1][nodes+k]++
			row[b.from-1]++
		}
		if b.to > 0 {
			a[b.to-1][nodes+k]--
			row[b.to-1]--
		}
		if b.source {
			clear(row)
			row[nodes+k], row[n] = 1, b.j
			continue
		}
		for l, z := range b.z {
			row[nodes+l] -= z
		}
		row[n] = b.e
	}
	for c := range n {
		p := c
		for r := c; r < n; r++ {
			if cmplx.Abs(a[r][c]) > cmplx.Abs(a[p][c]) {
				p = r
			}
		}
		if cmplx.Abs(a[p][c]) < 1e-12 {
			return nil
		}
		a[c], a[p] = a[p], a[c]
		for r := range n {
			if f := a[r][c] / a[c][c]; r != c && f != 0 {
				for k := c; k <= n; k++ {
					a[r][k] -= f * a[c][k]
				}
			}
		}
	}
	x := make([]complex128, n)
	for c := range n {
		x[c] = a[c][n] / a[c][c]
	}
	return x
}

// Random networks of resistors, coils, coupled coils, capacitors and sources in the steady state of one frequency, which complex
// numbers give: begun on it, every current, voltage and node stays on it, and a fixed step of a fortieth of a period keeps close.
// Nodes that only coils and current sources reach are among them.
func TestRandomNetworksAgainstPhasors(t *testing.T) {
	const freq = 50.0
	w := 2 * math.Pi * freq
	rng := rand.New(rand.NewPCG(18, 3))
	uniform := func(lo, hi float64) float64 { return lo * math.Pow(hi/lo, rng.Float64()) }
	accepted, cuts := 0, 0
	for range 120 {
		nodes := 2 + rng.IntN(4)
		name := func(k int) string { return fmt.Sprint(k) }
		var branches []phasorBranch
		var make0 []func(i complex128, u complex128) Element // element with its start, given its phasors
		add := func(b phasorBranch, make1 func(i, u complex128) Element) {
			branches, make0 = append(branches, b), append(make0, make1)
		}
		now := func(z complex128) float64 { return imag(z) }
		for k := range nodes + 4 {
			from, to := 1+rng.IntN(nodes), rng.IntN(nodes+1)
			if k < nodes { // a tree, so that nothing floats
				from, to = k+1, rng.IntN(k+1)
			}
			if from == to {
				continue
			}
			b := phasorBranch{name: fmt.Sprintf("b%d", k), from: from, to: to, z: map[int]complex128{}}
			own := len(branches)
			f, g, id := name(from), name(to), b.name
			switch kind := rng.IntN(6); kind {
			case 0:
				r := uniform(1, 100)
				b.z[own] = complex(r, 0)
				add(b, func(_, _ complex128) Element { return &Resistor{Name: id, FromNode: f, ToNode: g, R: r} })
			case 1, 2:
				l, r := uniform(1e-3, 0.1), uniform(0.1, 10)
				b.z[own] = complex(r, w*l)
				add(b, func(i, _ complex128) Element {
					return &Inductor{Name: id, FromNode: f, ToNode: g, L: l, R: r, I0: now(i)}
				})
			case 3:
				c := uniform(1e-5, 1e-3)
				b.z[own] = complex(0, -1/(w*c))
				add(b, func(_, u complex128) Element { return &Capacitor{Name: id, FromNode: f, ToNode: g, C: c, U0: now(u)} })
			case 4:
				amp, phase := uniform(1, 20), rng.Float64()*6
				b.e = cmplx.Rect(amp, phase)
				s := reference.Sine{Tone: reference.Tone{Amplitude: amp, Frequency: freq, Phase: phase}}
				r := float64(rng.IntN(2))
				b.z[own] = complex(r, 0)
				add(b, func(_, _ complex128) Element { return &VoltageSource{Name: id, FromNode: f, ToNode: g, U: s, R: r} })
			case 5:
				amp, phase := uniform(0.1, 2), rng.Float64()*6
				b.source, b.j = true, cmplx.Rect(amp, phase)
				s := reference.Sine{Tone: reference.Tone{Amplitude: amp, Frequency: freq, Phase: phase}}
				add(b, func(_, _ complex128) Element { return &CurrentSource{Name: id, FromNode: f, ToNode: g, I: s} })
			}
		}
		// two coupled coils between ground and random nodes
		first := len(branches)
		l1, l2, k12 := uniform(5e-3, 5e-2), uniform(5e-3, 5e-2), 0.8
		m := k12 * math.Sqrt(l1*l2)
		ends := [2]int{1 + rng.IntN(nodes), 1 + rng.IntN(nodes)}
		for i, l := range [2]float64{l1, l2} {
			b := phasorBranch{name: fmt.Sprintf("coil%d", i), from: ends[i],
				z: map[int]complex128{first + i: complex(1, w*l), first + 1 - i: complex(0, w*m)}}
			add(b, func(_, _ complex128) Element { return nil })
		}
		x := phasors(nodes, branches)
		if x == nil {
			continue
		}
		phi := func(k int) complex128 {
			if k == 0 {
				return 0
			}
			return x[k-1]
		}
		var elements []Element
		for k, b := range branches[:first] {
			elements = append(elements, make0[k](x[nodes+k], phi(b.from)-phi(b.to)))
		}
		elements = append(elements, &Windings{Name: "coils", Axis: -1, Field: &Constant{L: []float64{l1, m, m, l2}}, Branches: []Winding{
			{"coil0", name(ends[0]), "0", 1, now(x[nodes+first])}, {"coil1", name(ends[1]), "0", 1, now(x[nodes+first+1])}}})
		c, err := Build(Spec{Elements: elements})
		if err != nil {
			continue // loops of sources and capacitors, cuts of current sources: said elsewhere
		}
		accepted++
		if len(c.cuts) > 0 {
			cuts++
		}
		turned := func(z complex128, at float64) float64 { return imag(z * cmplx.Rect(1, w*at)) }
		size := 0.0
		for _, z := range x {
			size = max(size, cmplx.Abs(z))
		}
		want := func(at float64) (y []float64) {
			for _, s := range c.States() {
				for k, b := range branches {
					switch s.Name {
					case b.name + ".current":
						y = append(y, turned(x[nodes+k], at))
					case b.name + ".voltage":
						y = append(y, turned(phi(b.from)-phi(b.to), at))
					}
				}
			}
			return y
		}
		const end = 0.013
		y, e := integrate(t, c, still(0), still(0), end)
		for k, v := range want(end) {
			near(t, c.States()[k].Name, y[k], v, 1e-8*size)
		}
		for k, n := range c.Nodes() {
			var number int
			fmt.Sscan(n, &number)
			// the last evaluation of the integrator is that of the end
			c.Flow(end, nil, nil, y, make([]float64, len(y)), nil)
			near(t, "node "+n, c.Voltage(k), turned(phi(number), end), 1e-7*size)
		}
		if e.Relative() > 1e-9 {
			t.Errorf("energies close to %.1e", e.Relative())
		}
		z := make([]float64, len(y))
		c.Reset(z)
		const h = 0.5e-3
		for k := range 26 {
			if _, st := c.Trial(float64(k)*h, h, nil, nil, nil, z, z, nil, nil); st != engine.OK {
				t.Fatal(st)
			}
		}
		for k, v := range want(end) {
			near(t, "fixed: "+c.States()[k].Name, z[k], v, 5e-3*size)
		}
	}
	t.Logf("%d networks, %d with nodes on coils and current sources only", accepted, cuts)
	if accepted < 40 || cuts < 5 {
		t.Errorf("%d networks, %d with cuts", accepted, cuts)
	}
}
