package machine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"gonum.org/v1/gonum/floats"

	"hilrig/engine/multibody"
)

// Base are the base parameters of a machine: β = B·θ, the sums of its parameters that its torques determine.
type Base struct {
	Columns []Column // of all parameters
	Pivot   []int    // column that stands for each base parameter
	B       []float64
	Unseen  []int // columns that no torque feels

	knownColumns []Column // what the file says and nobody asks for
	timing       *timing  // of the torques; nil: as they are stamped
}

// Share is a part of a base parameter.
type Share struct {
	Name   string  `json:"name"`
	Factor float64 `json:"factor"`
}

const (
	// dependentTol is where what a column has of its own, relative to its length, is rounding. A length of a micrometre among metres
	// makes 1e-6.
	dependentTol = 1e-8
	// noShare is where a factor is rounding, by the lengths of the columns.
	noShare = 1e-9
)

// NewBase finds the base parameters of the terms of s by the columns of the regressor at random motions of all joints: going through them
// in order, a column that depends on those before joins them [G91]. Distal bodies so join proximal ones, as is usual [KD04]. coulomb
// has the Coulomb friction of the file by joint.
func NewBase(m *multibody.Model, s Spec, coulomb []float64) *Base {
	b := &Base{Columns: columns(m, s, coulomb), knownColumns: knownColumns(m, s, coulomb)}
	n := len(b.Columns)
	samples := 4*n/m.NV() + 40
	rows := samples * m.NV()
	w := make([][]float64, n)
	for k := range w {
		w[k] = make([]float64, rows)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	d := m.NewData()
	q, v, a := make([]float64, m.NV()), make([]float64, m.NV()), make([]float64, m.NV())
	y := make([]float64, m.NV()*multibody.BodyParams*m.Bodies())
	for t := range samples {
		for i := range q {
			q[i], v[i], a[i] = math.Pi*(2*rng.Float64()-1), 4*(2*rng.Float64()-1), 12*(2*rng.Float64()-1)
		}
		multibody.Regressor(m, d, q, v, a, y)
		for i := range q {
			row := y[i*multibody.BodyParams*m.Bodies():][:multibody.BodyParams*m.Bodies()]
			for k := range b.Columns {
				w[k][t*m.NV()+i] = b.Columns[k].value(i, row, v[i])
			}
		}
	}
	b.reduce(w)
	return b
}

// reduce goes through the columns by Gram and Schmidt, twice for each so that nothing but rounding is left of what depends, and keeps
// the factors: w_k = Σ r_ik·q_i + its own.
func (b *Base) reduce(w [][]float64) {
	var q [][]float64
	var r [][]float64 // of each column, by pivots before it
	length := make([]float64, len(w))
	own := make([]float64, len(w))
	place := make([]int, len(w))
	longest := 0.0
	for k, col := range w {
		length[k] = floats.Norm(col, 2)
		longest = math.Max(longest, length[k])
	}
	for k, col := range w {
		place[k] = -1
		r = append(r, nil)
		if length[k] <= noShare*longest {
			b.Unseen = append(b.Unseen, k)
			continue
		}
		floats.Scale(1/length[k], col)
		r[k] = make([]float64, len(q))
		for range 2 {
			for i, e := range q {
				x := floats.Dot(e, col)
				r[k][i] += x
				floats.AddScaled(col, -x, e)
			}
		}
		if own[k] = floats.Norm(col, 2); own[k] > dependentTol {
			floats.Scale(1/own[k], col)
			place[k] = len(q)
			q, b.Pivot = append(q, col), append(b.Pivot, k)
		}
	}
	nb, n := len(b.Pivot), len(w)
	b.B = make([]float64, nb*n)
	for k := range w {
		switch {
		case place[k] >= 0:
			b.B[place[k]*n+k] = 1
		case r[k] != nil: // w_k = Σ x_i·w_pivot(i): back substitution in the triangle of the pivots
			x := make([]float64, len(r[k]))
			for i := len(x) - 1; i >= 0; i-- {
				sum := r[k][i]
				for j := i + 1; j < len(x); j++ {
					sum -= r[b.Pivot[j]][i] * x[j]
				}
				x[i] = sum / own[b.Pivot[i]]
			}
			for i, x := range x {
				if math.Abs(x) > noShare {
					b.B[i*n+k] = x * length[k] / length[b.Pivot[i]]
				}
			}
		}
	}
}

// Of is B·θ.
func (b *Base) Of(theta []float64) []float64 {
	n := len(b.Columns)
	out := make([]float64, len(b.Pivot))
	for i := range out {
		out[i] = floats.Dot(b.B[i*n:i*n+n], theta)
	}
	return out
}

// Start are the parameters of the machine file.
func (b *Base) Start() []float64 {
	theta := make([]float64, len(b.Columns))
	for k := range theta {
		theta[k] = b.Columns[k].Value
	}
	return theta
}

// Shares are the parts of base parameter i, that which stands for it first.
func (b *Base) Shares(i int) []Share {
	n := len(b.Columns)
	out := []Share{{b.Columns[b.Pivot[i]].Name, 1}}
	for k, x := range b.B[i*n : i*n+n] {
		if k != b.Pivot[i] && x != 0 {
			out = append(out, Share{b.Columns[k].Name, x})
		}
	}
	return out
}

// Name is that of the column that stands for base parameter i, with _R where others joined it, as [KD04] mark regrouped ones.
func (b *Base) Name(i int) string {
	name := b.Columns[b.Pivot[i]].Name
	if len(b.Shares(i)) > 1 {
		name += "_R"
	}
	return name
}

// Text is base parameter i as a sum: izz + 0.09·mass.
func (b *Base) Text(i int) string {
	var t strings.Builder
	for k, s := range b.Shares(i) {
		sign, x := " + ", s.Factor
		if x < 0 {
			sign, x = " − ", -x
		}
		if k > 0 {
			t.WriteString(sign)
		}
		if math.Abs(x-1) > 1e-9 {
			fmt.Fprintf(&t, "%.4g·", x)
		}
		t.WriteString(s.Name)
	}
	return t.String()
}
