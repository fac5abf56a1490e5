package bristle

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"hilrig/engine/friction"
	signals "hilrig/identify/filter"
)

// motion is the smoothed position of all pieces with its speed, and the force that belongs to it. The second difference of a position is
// the mean of the acceleration under a hat of two samples' width, so means under it are what is compared: of the force and of every term.
type motion struct {
	spans   []span
	x, v, a []float64
	hatV    []float64 // mean of the speed under the hat
	u       []float64 // and of the force
	rows    []int     // samples that count: the bristles have forgotten their unknown start there, the smoother its ends
}

// underHat makes the samples of a smooth signal its means under the hat.
func underHat(x []float64) {
	last := x[0]
	for k := 1; k < len(x)-1; k++ {
		x[k], last = (last+10*x[k]+x[k+1])/12, x[k]
	}
}

// newMotion reserves the columns for data.
func newMotion(d *data, hold Hold) *motion {
	n := len(d.y)
	return &motion{spans: d.spans, x: make([]float64, n), v: make([]float64, n), a: make([]float64, n), hatV: make([]float64, n),
		u: hold.underHat(d)}
}

// derive fills v and a from x.
func (m *motion) derive() {
	for _, p := range m.spans {
		copy(m.v[p.start:p.stop], signals.Derivative(m.x[p.start:p.stop], p.h))
		for k := p.start + 1; k < p.stop-1; k++ {
			m.a[k] = (m.x[k+1] - 2*m.x[k] + m.x[k-1]) / (p.h * p.h)
		}
	}
	copy(m.hatV, m.v)
	underHat(m.hatV)
}

// margin is the number of samples at either end where a smoothed motion is not to be trusted.
const margin = 10

// choose sets the rows. The bristles forget after some break-away deflections; a twentieth of the reach of the position is
// many of them wherever the contact slides.
func (m *motion) choose(reach float64) {
	for _, p := range m.spans {
		k := p.start + margin
		for path := 0.0; k < p.start+(p.stop-p.start)/10; k++ {
			if path += math.Abs(m.x[k] - m.x[k-1]); path > 0.05*reach {
				break
			}
		}
		for ; k < p.stop-margin; k++ {
			m.rows = append(m.rows, k)
		}
	}
}

// at are the values of a signal at the rows.
func (m *motion) at(x []float64) []float64 {
	out := make([]float64, len(m.rows))
	for i, k := range m.rows {
		out[i] = x[k]
	}
	return out
}

// bristleForce runs the bristles along the motion and writes ζ and the regressor of σ1, (v − |v|·ζ/g(v))·exp(−(v/vd)²), at
// every sample. Between samples the exact step for constant velocity is taken, ζ⁺ = s·g + (ζ − s·g)·e^{−a} [theory §4.2].
func (m *motion) bristleForce(t *theta, zeta, rate []float64) {
	s0, fc, df, vs1, vd1 := t[sigma0], t[coulomb], t[breakout]-t[coulomb], 1/t[stribeck], t.fade()
	for _, p := range m.spans {
		vs1h, z := vs1/p.h, 0.0
		for k := p.start; k < p.stop; k++ {
			if k > p.start {
				dx := m.x[k] - m.x[k-1]
				r := dx * vs1h
				g := fc + df*friction.ExpNeg(r*r)
				z += (math.Copysign(g, dx) - z) * -math.Expm1(-s0*math.Abs(dx)/g)
			}
			v := m.v[k]
			r := v * vs1
			g := fc + df*friction.ExpNeg(r*r)
			zeta[k] = z
			rate[k] = (v - math.Abs(v)*z/g) * friction.ExpNeg(vd1*vd1*v*v)
		}
	}
}

// linear are the places of the parameters in which the force is linear, in the order of the columns a, rate, v, 1.
var linear = [4]int{inertia, sigma1, sigma2, offset}

// projector solves the linear parameters for given others and leaves the force that remains unexplained: variable
// projection. Parameters that hit a bound are held there and the rest is solved again.
type projector struct {
	*motion
	m          *model
	zeta, rate []float64

	normal [16]float64 // equations of the columns, each over its length
	rhs    [4]float64
}

func newProjector(mo *motion, m *model) *projector {
	n := len(mo.x)
	return &projector{motion: mo, m: m, zeta: make([]float64, n), rate: make([]float64, n)}
}

// bristleMeans are those of ζ and of the regressor of σ1.
func (p *projector) bristleMeans(t *theta) {
	p.bristleForce(t, p.zeta, p.rate)
	underHat(p.zeta)
	underHat(p.rate)
}

// solve fills the linear parameters of t and returns the sum of squares of what remains, N².
func (p *projector) solve(t *theta) (cost float64) {
	p.bristleMeans(t)
	// normal equations of the four columns: the columns are few and well apart after scaling
	var g [4][4]float64
	var b [4]float64
	for _, k := range p.rows {
		c := [4]float64{p.a[k], p.rate[k], p.hatV[k], 1}
		y := p.u[k] - p.zeta[k]
		for i := range 4 {
			for j := range i + 1 {
				g[i][j] += c[i] * c[j]
			}
			b[i] += c[i] * y
		}
	}
	for i := range 4 {
		for j := range i {
			g[j][i] = g[i][j]
		}
	}

	// those that are fixed keep their value; one on its bound joins them
	var held [4]bool
	for j, i := range linear {
		held[j] = !p.m.isFree[i]
		if held[j] {
			t[i] = p.m.start[i]
		}
	}
	for range 4 {
		p.active(&g, &b, held, t)
		worst, at := 0.0, -1
		for j, i := range linear {
			if held[j] {
				continue
			}
			if out := max(p.m.lo[i]-t[i], t[i]-p.m.hi[i]) * math.Sqrt(g[j][j]); out > worst {
				worst, at = out, j
			}
		}
		if at < 0 {
			break
		}
		i := linear[at]
		t[i] = min(max(t[i], p.m.lo[i]), p.m.hi[i])
		held[at] = true
	}
	for _, k := range p.rows {
		e := p.residualAt(t, k)
		cost += e * e
	}
	return cost
}

// active solves the normal equations of the columns that are not held; the row of one that is becomes that of the identity.
// Columns that are alike share their sum instead of going to infinity.
func (p *projector) active(g *[4][4]float64, b *[4]float64, held [4]bool, t *theta) {
	length := func(i int) float64 { return math.Sqrt(max(g[i][i], 1e-300)) }
	for i := range 4 {
		rhs := b[i]
		for j := range 4 {
			v := g[i][j] / length(i) / length(j)
			if held[j] {
				rhs -= g[i][j] * t[linear[j]]
			}
			if held[i] || held[j] {
				v = 0
			}
			if i == j {
				v = 1 + 1e-12
			}
			p.normal[4*i+j] = v
		}
		p.rhs[i] = rhs / length(i)
	}
	root, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Upper, N: 4, Stride: 4, Data: p.normal[:]})
	if !ok {
		return // numbers that are not finite
	}
	lapack64.Potrs(root, blas64.General{Rows: 4, Cols: 1, Stride: 1, Data: p.rhs[:]})
	for i, k := range linear {
		if !held[i] {
			t[k] = p.rhs[i] / length(i)
		}
	}
}

// residualAt is the measured force less that of the model at sample k, for the t that bristleMeans ran with last.
func (p *projector) residualAt(t *theta, k int) float64 {
	return p.u[k] - p.zeta[k] - t[inertia]*p.a[k] - t[sigma1]*p.rate[k] - t[sigma2]*p.hatV[k] - t[offset]
}

// residuals writes measured − model for the rows, all parameters given.
func (p *projector) residuals(t *theta, r []float64) {
	p.bristleMeans(t)
	for i, k := range p.rows {
		r[i] = p.residualAt(t, k)
	}
}
