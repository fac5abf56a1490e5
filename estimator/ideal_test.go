package estimator

import (
	"math"
	"slices"
)

// ideal is the textbook's continuous-discrete Kalman filter, state and covariance integrated from their equations: dx/dt = A·x + B·u,
// dP/dt = A·P + P·Aᵀ + W. It takes the readings it has in the order of their times and begins again where a late one stands.
type ideal struct {
	a        *testAxis
	r        *record
	period   float64 // s  of the noise of the input
	readings []reading
	after    []estimate
}

type estimate struct {
	x [4]float64
	p [4][4]float64
}

// input is what drives the axis at a time, as far as it is known: the command, or a straight line between measured efforts.
func (f *ideal) input(t float64) float64 {
	if f.a.measured == 0 {
		return f.r.u[min(len(f.r.u)-1, max(0, int(t/f.r.tick)))]
	}
	var before, behind *reading
	for i := len(f.readings) - 1; i >= 0; i-- {
		y := &f.readings[i]
		if !slices.Contains(f.r.streams[y.group].of, f.a.measured) {
			continue
		}
		if y.t <= t {
			before = y
			break
		}
		behind = y
	}
	u := func(y *reading) float64 { return f.a.perUnit * y.y[f.a.measured] }
	switch {
	case before == nil && behind == nil:
		return 0
	case behind == nil:
		return u(before)
	case before == nil:
		return u(behind)
	}
	return u(before) + (u(behind)-u(before))*(t-before.t)/(behind.t-before.t)
}

func (f *ideal) dot(v, d []float64, u float64) { // of the state alone, or of state and covariance
	clear(d)
	a := &f.a.model
	white := f.a.inputNoise * f.a.inputNoise * f.period
	for i := range 4 {
		d[i] += f.a.input[i] * u
		for l := range 4 {
			d[i] += a[i][l] * v[l]
			for j := range len(v)/4 - 1 {
				d[4+4*i+j] += a[i][l]*v[4+4*l+j] + v[4+4*i+l]*a[j][l]
			}
		}
		if len(v) > 4 {
			d[4+5*i] += f.a.input[i] * f.a.input[i] * white
		}
	}
	if len(v) > 4 {
		d[19] += f.a.walk * f.a.walk
	}
}

func (f *ideal) advance(e *estimate, from, to float64, alone bool) {
	var v [20]float64
	copy(v[:4], e.x[:])
	for i := range 4 {
		copy(v[4+4*i:], e.p[i][:])
	}
	n := 20
	if alone {
		n = 4
	}
	for at := from; at < to-1e-12; {
		end := min(to, at+4*f.a.dt, (math.Floor(at/f.r.tick+1e-9)+1)*f.r.tick) // by way of the ticks
		u := f.input((at + end) / 2)
		rung(v[:n], end-at, func(v, d []float64) { f.dot(v, d, u) })
		at = end
	}
	copy(e.x[:], v[:4])
	for i := range 4 {
		copy(e.p[i][:], v[4+4*i:8+4*i])
	}
}

func (f *ideal) correct(e *estimate, y *reading) {
	for _, q := range f.r.streams[y.group].of {
		c, r := [nY]int{0, 2, 1}, f.a.sd(q, y.y[q])
		if q >= nY || q == f.a.measured && q != 0 {
			continue
		}
		s := e.p[c[q]][c[q]] + r*r
		nu, p := y.y[q]-e.x[c[q]], e.p
		for i := range 4 {
			e.x[i] += p[i][c[q]] / s * nu
			for l := range 4 {
				e.p[i][l] = p[i][l] - p[i][c[q]]*p[c[q]][l]/s
			}
		}
	}
}

// take adds readings and filters again from where the first of them changes something.
func (f *ideal) take(came []reading) {
	from := len(f.readings)
	for _, y := range came {
		i := len(f.readings)
		for i > 0 && f.readings[i-1].t > y.t {
			i--
		}
		f.readings = slices.Insert(f.readings, i, y)
		for input := slices.Contains(f.r.streams[y.group].of, f.a.measured) && f.a.measured != 0; input && i > 0 &&
			!slices.Contains(f.r.streams[f.readings[i-1].group].of, f.a.measured); {
			i--
		}
		from = min(from, i)
	}
	f.after = f.after[:min(from, len(f.after))]
	for j := len(f.after); j < len(f.readings); j++ {
		e := estimate{p: [4][4]float64{{0: 1}, {1: 300 * 300}, {2: 20 * 20}, {3: 1e4}}}
		if f.a.noise[Current] == 0 || f.a.measured != 0 { // no current, or an input
			e.p[2][2] = 0
		}
		if j > 0 {
			e = f.after[j-1]
			f.advance(&e, f.readings[j-1].t, f.readings[j].t, false)
		}
		f.correct(&e, &f.readings[j])
		f.after = append(f.after, e)
	}
}

// now is its estimate at a time.
func (f *ideal) now(t float64) [4]float64 {
	if len(f.after) == 0 {
		return [4]float64{}
	}
	e := f.after[len(f.after)-1]
	f.advance(&e, f.readings[len(f.readings)-1].t, t, true)
	return e.x
}
