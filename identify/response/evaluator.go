package response

import (
	"context"
	"math"
	"slices"

	"hilrig/engine"
	"hilrig/engine/machine"
	"hilrig/engine/multibody"
	"hilrig/identify/fit"
)

// problem is the fit at one division of the sampling interval and one set of noises.
type problem struct {
	ctx        context.Context // when it ends, every simulation fails at once
	spec       *Spec
	recs       []Recording
	params     []fit.Param // of the machine, then, unless fixedStart, q and v of every joint of StartJoints for every recording
	start      []float64   // where the recordings begin, as far as that is known without a fit
	fixedStart bool        // they begin there
	scale      []float64   // of each output
	steps      int         // in a sampling interval
	rows       int
	firstRow   [][]int // of each recording and output
	work       *work   // nil: nobody is told
}

func (p *problem) layout() {
	p.rows, p.firstRow = 0, nil
	for r := range p.recs {
		var at []int
		for range p.spec.Outputs {
			at = append(at, p.rows)
			p.rows += p.recs[r].Len()
		}
		p.firstRow = append(p.firstRow, at)
	}
}

// pieces are the first rows of all series.
func (p *problem) pieces() (list []int) {
	for _, at := range p.firstRow {
		list = append(list, at...)
	}
	return list
}

func (p *problem) solver() *fit.Problem {
	return &fit.Problem{Params: p.params, Rows: p.rows, NewEvaluator: func() fit.Evaluator { return &evaluator{p: p} },
		Horizon: func(share float64) *fit.Problem { return p.shortened(share).solver() }}
}

// shortened is the problem on the first share of every recording.
func (p *problem) shortened(share float64) *problem {
	out := *p
	out.recs = slices.Clone(p.recs)
	for r := range out.recs {
		rec := &out.recs[r]
		n := min(rec.Len(), max(minSamples, int(share*float64(rec.Len()))))
		cut := func(list [][]float64) (short [][]float64) {
			for _, y := range list {
				short = append(short, y[:n])
			}
			return short
		}
		rec.Inputs, rec.Outputs = cut(rec.Inputs), cut(rec.Outputs)
	}
	out.layout()
	return &out
}

// An evaluator simulates all recordings. Its derivatives are central differences: of all recordings for a parameter of the machine, of one
// for where that begins.
type evaluator struct {
	p                *problem
	workspace        *hand
	columnWorkspaces []*hand
	columns          [][]float64
	y                []float64
}

// hand is a workspace.
type hand struct {
	p            *problem
	machineTheta []float64 // values of the machine's parameters
	m            *Machine
	watch        *machine.Watch
	startPlaces  [][2]int // position and velocity in the state of the joints of StartJoints
	x, y         []float64
	theta        []float64
	a, b         []float64
	invalid      bool
	pushedJoint  int         // on which there is …
	push         [][]float64 // … a torque (N·m, N) that the machine does not have, at the samples of every recording; nil: there is none
}

// build makes the machine at theta unless it is there already.
func (h *hand) build(theta []float64) bool {
	n := len(h.p.spec.Params)
	if h.m != nil && slices.Equal(h.machineTheta, theta[:n]) {
		return true
	}
	h.m = nil
	m, err := h.p.spec.Build(theta[:n])
	if err != nil {
		return false
	}
	names := make([]string, len(h.p.spec.Outputs))
	for i, o := range h.p.spec.Outputs {
		names[i] = o.Name
	}
	if h.watch, err = m.Step.Watch(names...); err != nil || len(h.watch.Signals) != len(names) {
		return false
	}
	h.startPlaces = h.startPlaces[:0]
	for _, joint := range h.p.spec.StartJoints {
		q, v, err := m.Step.At(joint)
		if err != nil {
			return false
		}
		h.startPlaces = append(h.startPlaces, [2]int{q, v})
	}
	h.m, h.machineTheta = m, append(h.machineTheta[:0], theta[:n]...)
	h.x, h.y = append(h.x[:0], m.Start...), make([]float64, len(names))
	return true
}

// record simulates recording r and writes its rows to out, model alone or less what was measured.
func (h *hand) record(r int, theta, out []float64, less bool) bool {
	p := h.p
	rec, m := &p.recs[r], h.m
	copy(h.x, m.Start)
	for k, in := range m.Inputs {
		in.Value = rec.Inputs[k][0]
	}
	begin := p.start
	if !p.fixedStart {
		begin = theta[len(p.spec.Params):]
	}
	if !h.place(begin[min(len(begin), 2*r*len(h.startPlaces)):]) {
		return false
	}
	dt := rec.Dt / float64(p.steps)
	n := rec.Len()
	defer p.work.add(n * p.steps)
	for k := range n {
		if p.ctx.Err() != nil {
			return false
		}
		if h.watch.Forces {
			if st := m.Step.Forces(float64(k)*rec.Dt, dt, h.x); st != multibody.OK && st != multibody.Singular {
				return false
			}
		}
		h.watch.Read(m.Step, h.x, h.y)
		for j, y := range h.y {
			if less {
				y -= rec.Outputs[j][k]
			}
			if y /= p.scale[j]; y-y != 0 {
				return false
			}
			out[p.firstRow[r][j]+k] = y
		}
		if k == n-1 {
			break
		}
		for s := range p.steps {
			for i, in := range m.Inputs {
				u := rec.Inputs[i]
				in.Value = u[k]
				if p.spec.Line {
					in.Value += (float64(s) + 0.5) / float64(p.steps) * (u[k+1] - u[k])
				}
			}
			if h.push != nil {
				f := h.push[r]
				m.Step.Push(h.pushedJoint, f[k]+(float64(s)+0.5)/float64(p.steps)*(f[k+1]-f[k]))
			}
			st := m.Step.Step(float64(k)*rec.Dt+float64(s)*dt, dt, h.x)
			if st == engine.NonFinite || st == engine.NotConverged && m.Step.LastStatus == multibody.NotConverged {
				return false
			}
		}
	}
	return true
}

const wayPart = 0.05 // rad, m  longest part of the way to where a recording begins

// place brings the machine to a beginning: in small parts, so that loops stay in the branch in which the machine has them.
func (h *hand) place(begin []float64) bool {
	m := h.m
	parts := 1
	if m.Step.M.Model.NC() > 0 {
		for k, at := range h.startPlaces {
			parts = max(parts, int(math.Min(1e4, math.Ceil(math.Abs(begin[2*k]-m.Start[at[0]])/wayPart))))
		}
	}
	for i := 1; i <= parts; i++ {
		for k, at := range h.startPlaces {
			h.x[at[0]] = m.Start[at[0]] + float64(i)/float64(parts)*(begin[2*k]-m.Start[at[0]])
			if h.x[at[1]] = 0; i == parts {
				h.x[at[1]] = begin[2*k+1]
			}
		}
		if _, err := m.Step.Begin(0, h.x, multibody.Assembly{Hold: m.Hold}); err != nil {
			return false
		}
	}
	return true
}

// simulate runs the recordings from up to to.
func (h *hand) simulate(theta []float64, from, to int, out []float64, less bool) bool {
	if h.p.ctx.Err() != nil || !h.build(theta) {
		return false
	}
	for r := from; r < to; r++ {
		if !h.record(r, theta, out, less) {
			return false
		}
	}
	return true
}

// Residuals are model less measured, in noises.
func (e *evaluator) Residuals(theta, r []float64) engine.Status {
	if e.workspace == nil {
		e.workspace = &hand{p: e.p}
	}
	if e.workspace.simulate(theta, 0, len(e.p.recs), r, true) {
		return engine.OK
	}
	for k := range r {
		r[k] = divergedResidual
	}
	return engine.NonFinite
}

const (
	difference = 1e-4 // relative to a parameter …
	minShare   = 1e-3 // … or to this share of its range, where it is smaller
)

// displacement is that of a parameter for differences.
func displacement(p *fit.Param, x float64) float64 {
	size := math.Abs(x)
	if width := p.Hi - p.Lo; !p.Log && !math.IsInf(width, 0) {
		size = math.Max(size, minShare*width)
	}
	if size == 0 {
		size = minShare
	}
	return difference * size
}

// Columns are the derivatives.
func (e *evaluator) Columns(theta []float64) ([][]float64, engine.Status) {
	n := len(theta)
	if e.columns == nil {
		e.columns, e.columnWorkspaces = make([][]float64, n), make([]*hand, n)
		for j := range n {
			e.columns[j] = make([]float64, e.p.rows)
			e.columnWorkspaces[j] = &hand{p: e.p, a: make([]float64, e.p.rows), b: make([]float64, e.p.rows), theta: make([]float64, n)}
		}
	}
	fit.Parallel(n, func(j int) { e.columnWorkspaces[j].column(j, theta, e.columns[j]) })
	for _, h := range e.columnWorkspaces {
		if h.invalid {
			return e.columns, engine.NonFinite
		}
	}
	return e.columns, engine.OK
}

// column is the derivative by parameter j. Where the machine cannot be built on one side, the other side is taken alone.
func (h *hand) column(j int, theta, out []float64) {
	p := h.p
	from, to := 0, len(p.recs)
	if own := j - len(p.spec.Params); own >= 0 {
		from = own / (2 * len(p.spec.StartJoints))
		to = from + 1
	}
	d := displacement(&p.params[j], theta[j])
	side := func(x float64, out []float64) bool {
		copy(h.theta, theta)
		h.theta[j] = x
		return h.simulate(h.theta, from, to, out, false)
	}
	up, down := theta[j]+d, theta[j]-d
	high, low := side(up, h.a), side(down, h.b)
	switch {
	case high && low:
	case high:
		down = theta[j]
		low = side(down, h.b)
	case low:
		up = theta[j]
		high = side(up, h.a)
	}
	clear(out)
	if h.invalid = !high || !low; h.invalid {
		return
	}
	in := 1 / (up - down)
	last := p.rows
	if to < len(p.recs) {
		last = p.firstRow[to][0]
	}
	for k := p.firstRow[from][0]; k < last; k++ {
		out[k] = (h.a[k] - h.b[k]) * in
	}
}

// Measured tells what was measured: every series about its mean, in noises.
func (e *evaluator) Measured() (y []float64, quantity string, pieces []int, dt float64) {
	p := e.p
	if e.y == nil {
		e.y = make([]float64, p.rows)
		for r := range p.recs {
			for j, list := range p.recs[r].Outputs {
				mean := 0.0
				for _, v := range list {
					mean += v / float64(len(list))
				}
				for k, v := range list {
					e.y[p.firstRow[r][j]+k] = (v - mean) / p.scale[j]
				}
			}
		}
	}
	return e.y, "outputs, each by its noise", p.pieces(), p.recs[0].Dt
}
