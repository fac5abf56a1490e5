package axis

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"hilrig/engine/friction"
	"hilrig/engine/numeric"
	"hilrig/identify/fit"
)

// Inverse is what the model, with the parameters of a fit, leaves over of the recorded force along the recorded motion:
//
//	e = u − M·a − F(v, z) − loads
//
// Where no force was recorded, u = 0, and what is explained is −M·a.
// Nothing is simulated but the state of the contact, so that an error of the force stays where it is instead of being
// integrated along the record. Both sides are smoothed alike, by two moving averages that are as long as the acceleration needs
// to stand out of the noise of the position. nil without an error: the records hold no position, or the
// model does not stay finite along it.
func (m *Model) Inverse(params []fit.Param) (*fit.Solution, error) {
	s := &fit.Solution{Unit: m.names.unitF, Quantity: m.names.force, Dt: m.pieces[0].dt}
	for i, p := range params {
		if !p.Fixed && !fit.IsState(p.Name) {
			s.FreeParams = append(s.FreeParams, i)
		}
	}
	s.Params = params
	b, err := m.newBody(params)
	if err != nil {
		return nil, err
	}
	w := m.smoothing()
	s.Blur = 3 * float64(w) * s.Dt
	var drags []*drag
	for _, p := range m.pieces {
		if d := newDrag(p, w); d != nil {
			drags = append(drags, d)
		}
	}
	left := func() (e []float64, ok bool) {
		if !b.set() {
			return nil, false
		}
		for _, d := range drags {
			e = append(e, d.residualForce(m, b)...)
		}
		return e, true
	}
	base, ok := left()
	if !ok || len(base) == 0 {
		return nil, nil
	}
	for _, d := range drags {
		s.Pieces = append(s.Pieces, len(s.Measured))
		s.Measured, s.Velocity, s.Position = append(s.Measured, d.explained(b)...), append(s.Velocity, d.v...), append(s.Position, d.x...)
	}
	if !numeric.AllFinite(base...) || !numeric.AllFinite(s.Measured...) {
		return nil, nil
	}
	s.Residual, s.Jac = base, make([]float64, len(base)*len(s.FreeParams))
	for j, i := range s.FreeParams {
		p := &params[i]
		h := 1e-4 * math.Abs(p.Value)
		if h == 0 {
			h = 1e-6 * math.Min(p.Hi-p.Lo, 1)
		}
		b.value[i] = p.Value + h
		moved, ok := left()
		if !ok {
			h = -h
			b.value[i] = p.Value + h
			moved, ok = left()
		}
		b.value[i] = p.Value
		if !ok {
			return nil, nil
		}
		for k, e := range moved {
			s.Jac[k*len(s.FreeParams)+j] = (base[k] - e) / h
		}
	}
	return s, nil
}

// AtSamples are the values at the rows of a solution of Inverse, which lie between two samples, at the samples before them, for
// every piece; zero where there is no row.
func (m *Model) AtSamples(at func(row int) float64) (out [][]float64) {
	row := 0
	for _, p := range m.pieces {
		x := make([]float64, p.n)
		first, last := m.inverseSamples(p)
		for k := first; k < last; k++ {
			x[k] = at(row)
			row++
		}
		out = append(out, x)
	}
	return out
}

// inverseSamples are the samples of a piece that have a row of Inverse behind them: from the first to the one before the last.
func (m *Model) inverseSamples(p *piece) (first, last int) {
	w := m.smoothing()
	if !p.draggable(w) {
		return 0, 0
	}
	return 4 * w, p.n - 4*w - 1
}

// WithLessForce is the model under less force: less N at the rows of a solution of Inverse, each up to the next sample.
func (m *Model) WithLessForce(less func(row int) float64) *Model {
	x := m.AtSamples(less)
	return m.withForce(func(i int, p *piece) []float64 {
		if p.force == nil { // nothing drives it but a spring
			floats.Scale(-1, x[i])
			return x[i]
		}
		return floats.SubTo(x[i], p.force, x[i])
	})
}

// withForce is the model under another force.
func (m *Model) withForce(force func(i int, p *piece) []float64) *Model {
	q := *m
	q.pieces = nil
	for i, p := range m.pieces {
		other := *p
		other.force = force(i, p)
		q.pieces = append(q.pieces, &other)
	}
	return &q
}

// smoothed is the length of the moving averages, samples.
func (m *Model) smoothed() int {
	const noisy = 0.05 // share of the acceleration that may be noise
	w := 2
	for _, p := range m.pieces {
		if len(p.rec.Position) == 0 {
			continue
		}
		noise := numeric.Noise(p.rec.Position)
		for limit := max(p.n/50, 2); w < limit; w += 1 + w/4 {
			sum, n := 0.0, 0
			for k := 2 * w; k < p.n-2*w; k++ {
				a := (p.rec.Position[k+2*w] - 2*p.rec.Position[k] + p.rec.Position[k-2*w]) / (4 * float64(w*w) * p.dt * p.dt)
				sum, n = sum+a*a, n+1
			}
			// variance of a second difference over 2w of a twice averaged noise
			if n > 0 && noise*math.Sqrt(6/float64(2*w))/(4*float64(w*w)*p.dt*p.dt) < noisy*math.Sqrt(sum/float64(n)) {
				break
			}
		}
	}
	return w
}

// drag is a piece whose motion is imposed on the model. Everything stands in the middle between two samples.
type drag struct {
	p          *piece
	w          int
	u, x, v, a []float64
	springEnd  []float64
	lag        float64 // s, of u; NaN: there is none yet
}

// newDrag smooths a piece; nil: it is too short or has no position.
func newDrag(p *piece, w int) *drag {
	if !p.draggable(w) {
		return nil
	}
	first, last := 4*w, p.n-4*w-1
	room := func() []float64 { return make([]float64, 0, last-first) }
	d := &drag{p: p, w: w, x: room(), v: room(), a: room(), lag: math.NaN()}
	x := numeric.MovingMean(numeric.MovingMean(p.rec.Position, w), w)
	var far []float64
	if p.springEnd != nil {
		far = numeric.MovingMean(numeric.MovingMean(p.springEnd, w), w)
	}
	v := func(k int) float64 { return (x[k+1] - x[k]) / p.dt }
	for k := first; k < last; k++ {
		d.x, d.v = append(d.x, (x[k]+x[k+1])/2), append(d.v, v(k))
		d.a = append(d.a, (v(k+w)-v(k-w))/(2*float64(w)*p.dt))
		if far != nil {
			d.springEnd = append(d.springEnd, (far[k]+far[k+1])/2)
		}
	}
	d.u = make([]float64, len(d.v))
	return d
}

// explained is the force that friction and loads have to explain: that of the drive, or, where there is none, that of the inertia.
func (d *drag) explained(b *body) []float64 {
	if d.p.force != nil {
		return d.u
	}
	return floats.ScaleTo(make([]float64, len(d.a)), -b.mass.M, d.a)
}

// draggable tells whether a piece is long enough to be smoothed, and has a position.
func (p *piece) draggable(w int) bool { return len(p.rec.Position) == p.n && p.n-8*w-1 >= 20 }

// residualForce is the force of the drive, which goes to d.u, less that of the model along the motion.
func (d *drag) residualForce(m *Model, b *body) []float64 {
	p, first := d.p, 4*d.w
	if p.force != nil && d.lag != b.lagTime() {
		d.lag = b.lagTime()
		u, lag := p.force, d.lag/p.dt
		w, late := windowOf(-lag, 1-lag, m.spec.Hold == Linear), make([]float64, len(u))
		for k := range late {
			late[k] = w.meanOf(u, k)
		}
		late = numeric.MovingMean(numeric.MovingMean(late, d.w), d.w)
		copy(d.u, late[first:])
	}
	z := make([]float64, b.fullLaw.StateDim())
	b.fullLaw.Reset(z)
	loads := b.loads
	loads.u, loads.du, loads.dp = 0, 0, 0
	out := make([]float64, len(d.v))
	for k, v := range d.v {
		if d.springEnd != nil {
			loads.p = d.springEnd[k]
		}
		in := friction.Input{Dt: p.dt, V: v, Fa: d.u[k] - b.mass.M*d.a[k]}
		if p.load != nil {
			in.N = p.load[first+k]
		}
		if p.current != nil {
			in.I = p.current[first+k]
		}
		act, _, _ := loads.At(0, d.x[k], v)
		out[k] = d.u[k] + act - b.mass.M*d.a[k] - b.fullLaw.Step(z, in)
	}
	return out
}
