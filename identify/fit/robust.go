package fit

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
)

// LossKind is what a residual costs.
type LossKind uint8

const (
	Squares LossKind = iota
	SoftL1
	Huber
	Cauchy
)

// Words are the losses by number.
func (LossKind) Words() []string { return []string{"squares", "soft-l1", "huber", "cauchy"} }

func (k LossKind) String() string { return k.Words()[k] }

// Loss is ρ of the cost ½·Σ s²·ρ(r²/s²), with z = r²/s² and the scale s in the unit of the residuals:
//
//	squares  ρ = z
//	soft-l1  ρ = 2·(√(1+z) − 1)               [T00]
//	huber    ρ = z for z ≤ 1, else 2·√z − 1   [H64]
//	cauchy   ρ = ln(1 + z)
//
// Residuals well below s count as squares, those far above it hardly pull. Far from the solution this smooths the valleys
// of a record that goes out of phase; a scale of 20 times the noise keeps nearly full efficiency at the solution.
type Loss struct {
	Kind  LossKind `yaml:"loss" doc:"squares, or a loss that outliers pull less"`
	Scale float64  `yaml:"loss_scale" unit:"residual" want:">=0" doc:"residual at which the loss turns, in the unit of what is compared; 0: 20 times the noise of the record"`
}

// Check says what is wrong with a loss.
func (l Loss) Check() error {
	if l.Kind > Cauchy {
		return fmt.Errorf("loss %d is not known", l.Kind)
	}
	if l.Kind != Squares && !(l.Scale > 0 && !math.IsInf(l.Scale, 1)) {
		return fmt.Errorf("loss %s has the scale %g, want a size of residuals above zero, such as 20 times the noise", l.Kind, l.Scale)
	}
	return nil
}

// rho returns ρ(z) and ρ'(z).
func (l Loss) rho(z float64) (rho, weight float64) {
	switch l.Kind {
	case SoftL1:
		t := math.Sqrt(1 + z)
		return 2 * z / (t + 1), 1 / t // 2·(t−1) without cancellation
	case Huber:
		if z > 1 {
			q := math.Sqrt(z)
			return 2*q - 1, 1 / q
		}
	case Cauchy:
		return math.Log1p(z), 1 / (1 + z)
	}
	return z, 1
}

// Cost is ½·Σ s²·ρ(r²/s²); +Inf if a residual is not a finite number.
func (l Loss) Cost(r []float64) float64 {
	sum := 0.0
	if l.Kind == Squares {
		sum += floats.Dot(r, r)
	} else {
		in := 1 / l.Scale
		for _, v := range r {
			v *= in
			c, _ := l.rho(v * v)
			sum += c
		}
		sum *= l.Scale * l.Scale
	}
	if !(sum < math.Inf(1)) {
		return math.Inf(1)
	}
	return sum / 2
}

// Roots writes √ρ'(r²/s²): the factors of the rows of a weighted problem that has the same gradient.
//
// The weighted JᵀJ leaves out the second derivative of ρ and so stays positive: steps are those of iteratively reweighted least squares,
// which lower the cost of these losses without the rows that Triggs' correction would have to drop.
func (l Loss) Roots(r, w []float64) {
	if l.Kind == Squares {
		for k := range w {
			w[k] = 1
		}
		return
	}
	in := 1 / l.Scale
	for k, v := range r {
		v *= in
		_, d := l.rho(v * v)
		w[k] = math.Sqrt(d)
	}
}
