package population

import (
	"math"
	"math/rand/v2"
)

// The programs that a competent programmer writes first, one member at a time, with math.Exp: what speed and results are
// compared with.

// plainA is scheme A: exact relaxation with two exponentials. It returns the sum of the squared errors of the velocity.
func plainA(t *Trace, th []float64) float64 {
	m, sigma0, sigma1, sigma2, fc, df, vs, off := th[0], th[1], th[2], th[3], th[4], th[5]-th[4], th[6], th[7]
	h := t.Dt
	v := t.V0 - 0.5*h*(t.U[0]-off-(sigma1+sigma2)*t.V0)/m
	z, sum, before := 0.0, 0.0, t.U[0]
	for k, u := range t.U {
		g := fc + df*math.Exp(-(v/vs)*(v/vs))
		s := 1.0
		if v < 0 {
			s = -1
		}
		e := math.Exp(-sigma0 * math.Abs(v) * h / g)
		zn := s*g/sigma0 + (z-s*g/sigma0)*e
		f := sigma0*zn + sigma1*(zn-z)/h + sigma2*v
		vn := v + h*(0.5*(before+u)-off-f)/m
		d := 0.5*(v+vn) - t.Y[k]
		sum += d * d
		v, z, before = vn, zn, u
	}
	return sum
}

// plainPade is scheme A-Padé with one exponential, written as in theory §4.3. With r it also returns the errors.
func plainPade(t *Trace, th []float64, r []float64) float64 {
	m, sigma0, sigma1, sigma2, fc, df, vs, off := th[0], th[1], th[2], th[3], th[4], th[5]-th[4], th[6], th[7]
	h := t.Dt
	v := t.V0 - 0.5*h*(t.U[0]-off-(sigma1+sigma2)*t.V0)/m
	x, z, sum, before := t.X0, 0.0, 0.0, t.U[0]
	for k, u := range t.U {
		g := fc + df*math.Exp(-(v/vs)*(v/vs))
		a := h * sigma0 * math.Abs(v)
		zn := (z*g*g + a*math.Copysign(g, v)*(g+a/2)) / (g*(g+a/2) + a/2*(g+a))
		f := zn + sigma1*(zn-z)/(h*sigma0) + sigma2*v
		vn := v + h*(0.5*(before+u)-off-f)/m
		d := 0.5*(v+vn) - t.Y[k]
		if t.Output == Position {
			d = x - t.Y[k]
		}
		if r != nil {
			r[k] = d
		}
		sum += d * d
		x += h * vn
		v, z, before = vn, zn, u
	}
	return sum
}

// truth is the member that made the data of the tests.
var truth = []float64{1, 1e4, 60, 0.6, 1, 1.6, 0.02, 0.05}

// scene is a record: a multi-sine that sticks, breaks loose and reverses, with white noise on the output.
func scene(n int, out Output) *Trace {
	t := &Trace{Dt: 1e-3, Output: out, U: make([]float64, n), Y: make([]float64, n)}
	for k := range t.U {
		s := float64(k) * t.Dt
		t.U[k] = 1.3*math.Sin(2*math.Pi*0.7*s) + 0.9*math.Sin(2*math.Pi*1.9*s+1) + 0.5*math.Sin(2*math.Pi*5.3*s+2)
	}
	rng := rand.New(rand.NewPCG(4, 2))
	noise := 2e-4
	if out == Position {
		noise = 2e-6
	}
	plainPade(t, truth, t.Y)
	for k := range t.Y {
		t.Y[k] += noise * rng.NormFloat64()
	}
	return t
}

// crowd draws members around the truth, every parameter log-uniform within a factor of five, M and offset within a tenth.
func crowd(n int, seed uint64) [][]float64 {
	rng := rand.New(rand.NewPCG(seed, 1))
	th := make([][]float64, n)
	for i := range th {
		th[i] = make([]float64, len(truth))
		for j, p := range truth {
			f := math.Pow(5, 2*rng.Float64()-1)
			if j == thM || j == thOffset {
				f = 1 + 0.1*(2*rng.Float64()-1)
			}
			th[i][j] = p * f
		}
	}
	return th
}
