package machine

import (
	"errors"
	"fmt"
	"math"

	"hilrig/engine"
)

// ErrSteady is a circuit without currents and voltages that stay while the machine rests.
var ErrSteady = errors.New("the circuit has no steady state")

// equilibrateElectrical moves currents of windings and voltages of capacitors in the state x, whose speeds are zero, to where they go while
// the machine rests. What no rate changes stays as it was: the charge of a capacitor that nothing discharges, the charge between capacitors
// in series, the flux of windings in a loop without resistance. Temperatures and controllers stay too.
func (m *Machine) equilibrateElectrical(t float64, x []float64) error {
	q, v, z := m.split(x)
	m.setAxes(q, v)
	for k, p := range m.Parts {
		c := network(p)
		if c == nil {
			continue
		}
		own := m.partStates(k, z)
		n := 0
		for n < len(own) && (n < c.Windings() || c.Capacitance(n) != 0) {
			n++
		}
		if n == 0 {
			continue
		}
		dz, tau := make([]float64, len(own)), make([]float64, len(m.axes))
		rates := func(z []float64) ([]float64, error) {
			if _, st := p.Flow(t, m.q, m.v, z, dz, tau); st != engine.OK {
				return nil, fmt.Errorf("%s: %v", p.Name(), st)
			}
			return append([]float64(nil), dz[:n]...), nil
		}
		e := settling{n: n, z: own, names: p.States(), rates: rates, variation: 1e-6, lu: engine.NewLU(n)}
		if c.Affine() {
			e.variation = 1 // a straight line: the longer the difference the less it is rounded
		}
		if err := e.findSteadyState(); err != nil {
			return fmt.Errorf("%s: %w", p.Name(), err)
		}
	}
	return nil
}

// settling moves the first n of z to where their rates f are zero, by implicit Euler with steps h that grow tenfold:
//
//	z⁺ = z + h·f(z⁺)
//
// A sum wᵀz that no rate changes has wᵀf = 0 and stays as it was, which Newton's method for f = 0 would not keep.
type settling struct {
	n         int
	z         []float64
	names     []engine.Signal
	rates     func(z []float64) ([]float64, error)
	variation float64 // of each number, as a share of one plus its size, for the slope of the rates
	lu        engine.LU

	slope []float64 // n×n  ∂f/∂z
	size  []float64 // of each row: the largest that makes up its rate
}

const (
	settledShare  = 1e-9 // of what makes up a rate that counts as zero
	roundingShare = 1e-6 // beside it, where more steps do not help
	settleSpan    = 1e15 // longest step by the shortest time constant
)

// findSteadyState ends with an ErrSteady, z as it was, where some number goes on changing.
func (e *settling) findSteadyState() error {
	f, err := e.rates(e.z)
	if err != nil {
		return err
	}
	start := append([]float64(nil), e.z[:e.n]...)
	undo := func(err error) error {
		copy(e.z, start)
		return err
	}
	if err := e.differentiate(); err != nil {
		return undo(err)
	}
	fastest := largest(e.slope)
	for h := 1 / fastest; fastest > 0 && h < settleSpan/fastest; h *= 10 {
		if _, share := e.worst(f); share <= settledShare {
			return nil
		}
		if f, err = e.euler(h); err != nil {
			return undo(err)
		}
	}
	if i, share := e.worst(f); share > roundingShare {
		return undo(fmt.Errorf("%w: %s goes on changing by %.3g %s/s while the machine rests", ErrSteady, e.names[i].Name, f[i], e.names[i].Unit))
	}
	return nil
}

// worst is the number whose rate is the farthest from zero, and the share of what makes it up that is left.
func (e *settling) worst(f []float64) (at int, share float64) {
	for i, x := range f {
		left := 0.0
		if x != 0 {
			left = math.Abs(x) / e.size[i] // +Inf where nothing makes it up
		}
		if left > share {
			at, share = i, left
		}
	}
	return at, share
}

// differentiate writes slope and size at z.
func (e *settling) differentiate() error {
	n, z := e.n, e.z
	e.slope, e.size = make([]float64, n*n), make([]float64, n)
	for j := range n {
		was := z[j]
		step := e.variation * (1 + math.Abs(was))
		z[j] = was + step
		up, err := e.rates(z)
		if err != nil {
			return err
		}
		z[j] = was - step
		down, err := e.rates(z)
		if err != nil {
			return err
		}
		z[j] = was
		for i := range n {
			s := (up[i] - down[i]) / (2 * step)
			e.slope[i*n+j] = s
			e.size[i] = max(e.size[i], math.Abs(s*was), math.Abs(s)*1e-6)
		}
	}
	return nil
}

// euler takes a step of h (s) and returns the rates at its end: Newton's method for z⁺ − h·f(z⁺) = z.
func (e *settling) euler(h float64) (f []float64, err error) {
	const (
		rounds = 50
		met    = 1e-10 // of the numbers
	)
	n := e.n
	before, step := append([]float64(nil), e.z[:n]...), make([]float64, n)
	if f, err = e.rates(e.z); err != nil {
		return nil, err
	}
	last := math.Inf(1)
	for range rounds {
		if err := e.differentiate(); err != nil {
			return nil, err
		}
		for i := range n {
			for j := range n {
				e.lu.A[i*n+j] = -h * e.slope[i*n+j]
			}
			e.lu.A[i*n+i]++
			step[i] = before[i] + h*f[i] - e.z[i]
		}
		if !e.lu.Factor() {
			return nil, ErrSteady
		}
		e.lu.Solve(step)
		change := 0.0
		for i, x := range step {
			change = max(change, math.Abs(x)/(1+math.Abs(e.z[i])))
		}
		share := 1.0
		if change > 0.7*last {
			share = 0.5 // to and fro over a kink
		}
		for i, x := range step {
			e.z[i] += share * x
		}
		if f, err = e.rates(e.z); err != nil {
			return nil, err
		}
		if last = change; change <= met || e.variation == 1 {
			break
		}
	}
	return f, nil
}

func largest(x []float64) (top float64) {
	for _, x := range x {
		top = max(top, math.Abs(x))
	}
	return top
}
