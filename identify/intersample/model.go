package intersample

import (
	"math"
	"sort"

	"hilrig/engine/plant"
	"hilrig/identify/filter"
)

// run is the force that the model makes of the commands along a record.
type run struct {
	force       []float64 // at the samples
	fall        []float64 // its mean over the interval behind a sample with the weight 1 − x, x = 0 … 1 …
	rise        []float64 // … and with the weight x
	deviceForce []float64 // at the samples of another device
	time        []float64 // s  of those
}

// model runs the drive along a record, in steps that end at samples and commands.
func (s *search) model(r *Record, t timing) *run {
	n := len(r.Position)
	out := &run{force: make([]float64, n), fall: make([]float64, n), rise: make([]float64, n)}
	if s.deviceSamples != nil {
		lo, hi := s.deviceRange(r)
		out.time = s.deviceSamples.Time[lo:hi]
		out.deviceForce = make([]float64, 0, hi-lo)
	}
	w := winding{r: 1, l: math.Max(t.tau, 1e-9), k: 0, scale: 1}
	if m := s.d.Winding; m != nil {
		w = winding{r: m.R, l: math.Max(m.L, 1e-9), k: m.K, scale: m.K, brushes: *m}
	}
	speed := filter.Derivative(r.Position, r.Dt)
	c := cursor{steps: s.c, t: t, h: r.Dt}
	c.begin(r.Start)
	i := 0.0
	if len(r.Force) > 0 {
		i = r.Force[0] / w.scale
	}
	j := 0 // of own
	for k := range n - 1 {
		out.force[k] = w.scale * i
		begin := r.Start + float64(k)*r.Dt
		mean := (r.Position[k+1] - r.Position[k]) / r.Dt
		bend := 6 * (mean - (speed[k]+speed[k+1])/2) // the derivative of the cubic with these slopes is a line and bend·x·(1 − x)
		omega := func(x float64) float64 { return speed[k] + x*(speed[k+1]-speed[k]) + bend*x*(1-x) }
		c.sample(begin)
		for at := 0.0; at < r.Dt; {
			u, until := c.next(begin + at)
			end := math.Min(r.Dt, math.Max(until-begin, at+1e-6))
			parts := math.Max(1, math.Ceil((end-at)/s.step()*(1-1e-9)))
			step := (end - at) / parts
			for range int(parts) {
				from, to := omega(at/r.Dt), omega((at+step)/r.Dt)
				for out.deviceForce != nil && j < len(out.time) && out.time[j] < begin+at+step {
					then, _, _ := w.step(i, u, from, to, math.Max(1e-9, out.time[j]-begin-at))
					out.deviceForce = append(out.deviceForce, w.scale*then)
					j++
				}
				next, sum, moment := w.step(i, u, from, to, step)
				rise := (sum*at + moment) / r.Dt
				out.fall[k] += w.scale / r.Dt * (sum - rise)
				out.rise[k] += w.scale / r.Dt * rise
				i, at = next, at+step
			}
			at = end
		}
	}
	out.force[n-1] = w.scale * i
	for out.deviceForce != nil && len(out.deviceForce) < len(out.time) {
		out.deviceForce = append(out.deviceForce, w.scale*i)
	}
	return out
}

// hat is T of sample k > 0.
func (y *run) hat(k int) float64 { return y.rise[k-1] + y.fall[k] }

// hatInverse are the weights of T at a sample and at those beside it, from the middle to one side, for differences up to the eighth, the
// sixth … and none: near the ends of a record fewer samples are there.
var hatInverse = func() (w [5][5]float64) {
	powers := [5][5]float64{{1}, {-2, 1}, {6, -4, 1}, {-20, 15, -6, 1}, {70, -56, 28, -8, 1}} // δ⁰, δ² … δ⁸
	for n := range w {
		for d, c := range []float64{1, -1. / 12, 1. / 90, -1. / 560, 1. / 3150}[:n+1] {
			for k, b := range powers[d] {
				w[n][k] += c * b
			}
		}
	}
	return w
}()

// point is p of sample k of n.
func (y *run) point(k, n int) float64 {
	w := &hatInverse[min(len(hatInverse)-1, k-1, n-2-k)]
	p := w[0] * y.hat(k)
	for i := 1; i < len(w) && w[i] != 0; i++ {
		p += w[i] * (y.hat(k-i) + y.hat(k+i))
	}
	return p
}

// bows are what is to be added to the forces of a record: the points of the smooth signal less what was taken for them.
func (s *search) bows(r *Record, y *run) []float64 {
	n := len(y.force)
	out := make([]float64, n)
	if n < 7 {
		return out
	}
	for k := 2; k < n-2; k++ {
		out[k] = y.point(k, n) - s.modelReading(r, y, k)
	}
	out[0], out[1], out[n-2], out[n-1] = out[2], out[2], out[n-3], out[n-3]
	return out
}

// modelReading is what the record would have at sample k if the sensor read the model.
func (s *search) modelReading(r *Record, y *run, k int) float64 {
	if s.deviceSamples == nil {
		return y.force[k]
	}
	t := r.Start + float64(k)*r.Dt
	j := sort.SearchFloat64s(y.time, t)
	if j == 0 || j == len(y.time) {
		return y.hat(max(k, 1))
	}
	return y.deviceForce[j-1] + (y.deviceForce[j]-y.deviceForce[j-1])*(t-y.time[j-1])/(y.time[j]-y.time[j-1])
}

// winding is L·di/dt = u − R·i − drop(i) − K·ω.
type winding struct {
	r, l, k float64
	scale   float64 // force per current
	brushes plant.Motor
}

// step is the current after h seconds of a constant voltage, while the speed goes evenly from a to b, its integral, and that of the
// current times the time, with the drop of the brushes linear around i.
func (w *winding) step(i, u, a, b, h float64) (to, sum, moment float64) {
	r, e := w.r, u
	if b := &w.brushes; b.BrushDrop > 0 {
		drop := b.Drop(i)
		slope := (b.BrushDrop - drop*drop/b.BrushDrop) / b.DropScale
		r, e = r+slope, e-drop+slope*i
	}
	// i(t) = p + g·t + (i − p)·exp(−t/τ)
	tau, g := w.l/r, -w.k*(b-a)/(h*r)
	p := (e-w.k*a)/r - g*tau
	x := math.Exp(-h / tau)
	return p + g*h + (i-p)*x, p*h + g*h*h/2 + (i-p)*tau*(1-x), p*h*h/2 + g*h*h*h/3 + (i-p)*tau*(tau*(1-x)-h*x)
}

// cursor gives the command that acts, in the order of time.
type cursor struct {
	steps    Steps
	t        timing
	h        float64
	index    int     // of steps: the last one not after the time asked for
	takeTime float64 // s  OnceASample: when the next command is taken
	value    float64
}

// find is the command that was sent last at time t.
func (c *cursor) find(t float64) float64 {
	for c.index+1 < len(c.steps.Time) && c.steps.Time[c.index+1] <= t {
		c.index++
	}
	return c.steps.Value[c.index]
}

// begin goes to the beginning of a record.
func (c *cursor) begin(start float64) {
	c.index = max(0, sort.SearchFloat64s(c.steps.Time, start-c.t.delay-2*c.h)-1)
	if c.t.mode == OnceASample {
		c.value = c.find(start - (1-c.t.phase)*c.h - c.t.delay)
	}
}

// sample begins the interval of a sample.
func (c *cursor) sample(begin float64) { c.takeTime = begin + c.t.phase*c.h }

// next is the command that acts at time t, and until when.
func (c *cursor) next(t float64) (u, until float64) {
	if c.t.mode == OnceASample {
		if t >= c.takeTime-1e-9 {
			c.value, c.takeTime = c.find(c.takeTime-c.t.delay), math.Inf(1)
		}
		return c.value, c.takeTime
	}
	u = c.find(t - c.t.delay + 1e-9)
	if c.index+1 < len(c.steps.Time) {
		return u, c.steps.Time[c.index+1] + c.t.delay
	}
	return u, math.Inf(1)
}
