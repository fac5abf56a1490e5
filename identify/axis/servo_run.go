package axis

import (
	"math"
	"slices"

	"hilrig/engine"
	"hilrig/identify/fit"
)

// loopRun evaluates one set of parameters after the other.
type loopRun struct {
	full    []float64 // all parameters
	at      []int     // places of the free ones
	slots   []slot    // what each of them is
	c       contact
	lag     float64 // s
	tracks  []track
	target  [][]float64 // what is compared, per piece
	name    string      // of that, for people
	starts  []start
	bristle bool
	step    int // every so many samples are compared
	linear  bool
	output  Output
	lost    float64 // residual of a sample that was not reached
	w       [maxParts]window
}

func (l *Loop) evaluator(params []fit.Param, share float64) *loopRun {
	e := &loopRun{bristle: l.spec.Law == "lugre", step: l.step(), linear: l.spec.LinearHold, output: l.spec.Output, name: l.quantity(), starts: slices.Clone(l.starts)}
	e.slots = l.slots(params)
	_, e.at = fit.Free(params)
	for _, p := range params {
		e.full = append(e.full, p.Value)
	}
	for i, d := range l.pieces {
		n := l.length(d, share)
		top := max(math.Abs(slices.Max(d.Position)), math.Abs(slices.Min(d.Position)))
		t := track{h: d.Dt, force: l.pulses[i].drive[:n], closed: l.closed(), pad: 1, reach: top + farAway*span(d.Position)}
		if t.closed {
			t.ctl, t.reference, t.u = *l.spec.Controller, d.Reference[:n], make([]float64, n)
			if p := l.pulses[i].force; p != nil {
				t.pulse = p[:n]
			}
			t.asked = l.pulses[i].asked[:n]
			t.pad = t.ctl.Delay + max(1, t.ctl.Mean)
		}
		t.x = make([]float64, n+t.pad+1)
		target := l.target(i)
		e.tracks, e.target = append(e.tracks, t), append(e.target, target[:n])
		e.lost = max(e.lost, worst*span(target))
	}
	if e.lost == 0 {
		e.lost = worst
	}
	return e
}

// worst is the residual of a simulation that broke off, in ranges of what is compared; none is larger.
const worst = 1e3

// block is how many samples run between two looks at the cost.
const block = 2048

// Residuals writes simulated − recorded.
func (e *loopRun) Residuals(theta, r []float64) engine.Status {
	_, status := e.simulate(theta, r, math.Inf(1))
	return status
}

// Cost is the sum of squared residuals, given up when it exceeds limit.
func (e *loopRun) Cost(theta []float64, limit float64) float64 {
	cost, _ := e.simulate(theta, nil, limit)
	return cost
}

// simulate runs every piece, in blocks, and compares; r may be nil.
func (e *loopRun) simulate(theta, r []float64, limit float64) (cost float64, status engine.Status) {
	for i, j := range e.at {
		e.full[j] = theta[i]
	}
	e.set()
	row := 0
	for i := range e.tracks {
		t := &e.tracks[i]
		n := len(t.force)
		var at moment
		parts := 0
		if e.c.sound() {
			parts = e.c.parts(t.h)
		}
		w := e.w[:parts]
		good := 0
		if parts > 0 {
			windows(w, min(max(e.lag/t.h, lagLo), lagHi), e.linear)
			at, good = t.begin(&e.c, e.starts[i], parts), n
		}
		k := 0 // next sample to compare
		for from := 0; from < n; from += block {
			to := min(from+block, n)
			if good == n {
				if end := t.run(&e.c, &at, w, from, to); end < to {
					good = end
				}
			}
			for ; k < to; k += e.step {
				d := e.lost
				if k < good {
					if diff := e.output.of(t, k) - e.target[i][k]; diff > -e.lost && diff < e.lost {
						d = diff
					}
				}
				cost += d * d
				if r != nil {
					r[row] = d
				}
				row++
			}
			if cost > limit {
				return cost, status
			}
		}
		if good < n {
			status = engine.NonFinite
		}
	}
	return cost, status
}

// of is the simulated output at sample k.
func (o Output) of(t *track, k int) float64 {
	switch x := t.x[t.pad+k-1:]; o {
	case Position:
		return x[1]
	case Velocity: // the scheme has it half a step before and after the sample: their mean
		return (x[2] - x[0]) / (2 * t.h)
	}
	return t.u[k]
}

// Measured tells what the rows of the residual were measured to be.
func (e *loopRun) Measured() (y []float64, quantity string, pieces []int, dt float64) {
	for _, target := range e.target {
		pieces = append(pieces, len(y))
		for k := 0; k < len(target); k += e.step {
			y = append(y, target[k])
		}
	}
	return y, e.name, pieces, e.tracks[0].h * float64(e.step)
}

// quantity is what is compared, for people.
func (l *Loop) quantity() string {
	n := linearNames
	if l.spec.Rotary {
		n = rotaryNames
	}
	return map[Output]string{Position: n.position, Velocity: n.velocity, Command: n.force}[l.spec.Output]
}

// target is what a piece is compared with.
func (l *Loop) target(i int) []float64 {
	switch d := l.pieces[i]; l.spec.Output {
	case Position:
		return d.Position
	case Velocity:
		return d.Velocity
	default:
		return l.pulses[i].asked
	}
}
