package machine

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"hilrig/engine"
)

// ErrSteady is a circuit without currents and voltages that stay while the machine rests.
var ErrSteady = errors.New("the circuit has no steady state")

// equilibrateElectrical moves currents of windings and voltages of capacitors in the state x, whose speeds are zero, to where they stay:
// Newton's method for dz/dt = 0 with a slope of differences. What rests wherever it is, as the charge of a capacitor that nothing
// discharges, stays as it was. Temperatures and controllers stay too.
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
		if err := settleRates(own, n, rates); err != nil {
			return fmt.Errorf("%s: %w", p.Name(), err)
		}
	}
	return nil
}

// settleRates moves the first n of z to where their rates are zero.
func settleRates(z []float64, n int, rates func(z []float64) ([]float64, error)) error {
	const (
		most = 100
		rank = 1e-12 // of the largest singular value
		met  = 1e-9  // of what makes up the rates
	)
	f, err := rates(z)
	if err != nil {
		return err
	}
	for range most {
		slope := mat.NewDense(n, n, nil)
		size := 0.0
		for j := range n {
			was := z[j]
			e := 1e-6 * (1 + math.Abs(was))
			z[j] = was + e
			up, err := rates(z)
			if err != nil {
				return err
			}
			z[j] = was - e
			down, err := rates(z)
			if err != nil {
				return err
			}
			z[j] = was
			for i := range n {
				s := (up[i] - down[i]) / (2 * e)
				slope.Set(i, j, s)
				size = max(size, math.Abs(s*was), math.Abs(s)*1e-6)
			}
		}
		left := largest(f)
		if left <= met*size {
			return nil
		}
		var svd mat.SVD
		if !svd.Factorize(slope, mat.SVDFull) {
			return ErrSteady
		}
		var step mat.Dense
		r := svd.Rank(rank)
		if r == 0 {
			return ErrSteady
		}
		b := mat.NewDense(n, 1, nil)
		for i, x := range f {
			b.Set(i, 0, -x)
		}
		svd.SolveTo(&step, b, r)
		base := append([]float64(nil), z[:n]...)
		better := false
		for share := 1.0; share > 1e-4 && !better; share /= 2 {
			for i := range n {
				z[i] = base[i] + share*step.At(i, 0)
			}
			g, err := rates(z)
			if err != nil {
				continue
			}
			if largest(g) < left {
				f, better = g, true
			}
		}
		if !better {
			copy(z, base)
			if left <= 1e-6*size {
				return nil // rounding
			}
			return fmt.Errorf("%w: currents or voltages go on changing while the machine rests", ErrSteady)
		}
	}
	return fmt.Errorf("%w: it was not found in %d steps", ErrSteady, most)
}

func largest(x []float64) (top float64) {
	for _, x := range x {
		top = max(top, math.Abs(x))
	}
	return top
}
