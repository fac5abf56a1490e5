package bristle

import (
	"math"
	"math/rand/v2"

	"hilrig/engine/numeric"
	"hilrig/identify/fit"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// likelihood runs the filter at t with the given noise and returns −2·ln L per sample and the mean of e²/S.
func (k *tracker) likelihood(t *theta, n noise) (l, mean float64) {
	k.runs++
	k.f.noise = n
	logS, ok := k.f.run(t, k.r)
	if !ok {
		return math.Inf(1), math.Inf(1)
	}
	mean = floats.Dot(k.r, k.r) / float64(len(k.r))
	return mean + logS, mean
}

// levels finds the noise levels that are not given, at the parameters t. One of them is searched; if both are free, their
// common factor follows from the mean of e²/S, because it changes no prediction.
func (k *tracker) levels(t *theta, width float64) {
	n := k.f.noise
	given := k.o.ForceNoise > 0
	if given && !k.estimatesNoise {
		return
	}
	at := func(l float64) (noise, float64) {
		trial := n
		if given {
			trial.position *= math.Exp(l)
		} else {
			trial.force *= math.Exp(l)
		}
		cost, mean := k.likelihood(t, trial)
		if k.estimatesNoise && !given && numeric.IsFinite(mean) {
			trial.force *= mean
			trial.position *= mean
			cost += 1 - mean + math.Log(mean)
		}
		return trial, cost
	}
	// golden section in the logarithm of the variance; once more around an end that turns out the best
	const g = 0.6180339887498949
	for range 6 {
		a, b := -width, width
		x1, x2 := b-g*(b-a), a+g*(b-a)
		n1, c1 := at(x1)
		n2, c2 := at(x2)
		for b-a > 0.05 {
			if c1 < c2 {
				b, x2, n2, c2 = x2, x1, n1, c1
				x1 = b - g*(b-a)
				n1, c1 = at(x1)
			} else {
				a, x1, n1, c1 = x1, x2, n2, c2
				x2 = a + g*(b-a)
				n2, c2 = at(x2)
			}
		}
		if c2 < c1 {
			n1 = n2
		}
		n = n1
		if a > -width && b < width {
			break
		}
	}
	k.f.noise = n
}

// acting is the share of the force noise that acts on the mass, with its standard error; the rest is an error of the force
// sensor.
//
// An error n of the sensor is in the record and drives the filter, but not the axis: the prediction errors are r = G·n and
// what is independent of the force until then, G the response of the filter. The real force depends on nothing that comes
// after it, not even in a loop. So with δ = H·u, the innovation of the recorded force, which its past does not predict, the
// mean of (G·δ)ᵀr is σn²·K, K = (G·H·w)ᵀ(G·w) for white noise w of variance one. What the parameters can explain of G·δ is
// left out.
func (k *tracker) acting(t *theta, s *fit.Solution, h innovator, new []float64) (share, se float64) {
	n, sd := len(s.FreeParams), math.Sqrt(k.f.noise.force)
	if n == 0 || sd == 0 {
		return 1, 0
	}
	r, w := rand.New(rand.NewPCG(1, 1)), make([]float64, len(k.r))
	for i := range w {
		w[i] = sd * r.NormFloat64()
	}
	unforeseen := k.f.noise.force // of the noise, by its past: of a mean of two errors a quarter of their variance
	if k.d.means {
		unforeseen /= 4
		for i := range len(w) - 1 {
			w[i] = (w[i] + w[i+1]) / 2
		}
	}
	base, plain := make([]float64, len(k.r)), k.f.u
	_, good := k.f.run(t, base)
	// the change of the prediction errors by a force
	response := func(du []float64, hold Hold) []float64 {
		a := min(1, 3*sd/max(floats.Norm(du, math.Inf(1)), 1e-300))
		f := hold.pieceSubstepMeans(k.d, du, du, k.f.substeps)
		floats.Scale(a, f)
		k.f.u = floats.AddTo(f, plain, f)
		out := make([]float64, len(k.r))
		_, ok := k.f.run(t, out)
		good = good && ok
		k.f.u = plain
		k.runs++
		floats.Sub(out, base)
		floats.Scale(1/a, out)
		return out
	}
	hold := k.hold
	if hold != Held {
		hold = Linear // so is the noise of it taken
	}
	c, gw, ghw := response(new, Held), response(w, hold), response(h.apply(k.d, w), Held)

	f, coef := numeric.NewFactor(n), make([]float64, n)
	for i, v := range c {
		f.Add(s.Jac[i*n:i*n+n], v)
	}
	if !good || f.Solve(coef) != nil {
		return k.f.share, 0.5
	}
	num, cc, kk := 0.0, 0.0, 0.0
	for i, v := range c {
		for j, b := range coef {
			v -= b * s.Jac[i*n+j]
		}
		num += v * base[i]
		cc += v * v
		kk += gw[i] * ghw[i]
	}
	// of the variance of w, which is that of the force noise
	sensor, err := num/kk, math.Sqrt(cc)/kk
	if !(kk > 0) {
		sensor, err = 0, math.Inf(1)
	}
	err = math.Hypot(err, sensor*k.levelErr(t))
	// before it was all or nothing, up to what the past does not predict
	most := min(1, stat.MomentAbout(2, new, 0, nil)/unforeseen)
	mean, spread := 0.5*most, 0.5*most
	weight := 1 / (1 + err*err/max(spread*spread, 1e-30))
	return 1 - min(max(weight*sensor+(1-weight)*mean, 0), most), spread * math.Sqrt(1-weight)
}

// levelErr is the standard error of the logarithm of the variance of the force noise, from the bend of its likelihood.
func (k *tracker) levelErr(t *theta) float64 {
	const bend = 0.3
	was := k.f.noise
	at := func(l float64) float64 {
		n := was
		n.force *= math.Exp(l)
		cost, _ := k.likelihood(t, n)
		return cost
	}
	c := (at(bend) + at(-bend) - 2*at(0)) / (bend * bend) * float64(len(k.r)) / 2
	k.f.noise = was
	return 1 / math.Sqrt(max(c, 1))
}

// innovator turns a signal into what its own past does not predict: x_k − Σ a_j·x_{k−1−j}.
type innovator []float64

// remembered is how far back an innovator looks: enough samples to tell slow sines from each other.
const remembered = 40

// predictor fits an innovator to the recorded force.
func predictor(d *data) innovator {
	f, row := numeric.NewFactor(remembered), make([]float64, remembered)
	for i := range row { // a force without noise is predicted without rest by more than one choice
		clear(row)
		row[i] = 1e-6 * d.maxForce * math.Sqrt(float64(len(d.u)))
		f.Add(row, 0)
	}
	for _, p := range d.spans {
		for k := p.start + remembered; k < p.stop; k++ {
			for j := range row {
				row[j] = d.u[k-1-j]
			}
			f.Add(row, d.u[k])
		}
	}
	a := make(innovator, remembered)
	if f.Solve(a) != nil {
		return innovator{3, -3, 1} // a parabola goes on
	}
	return a
}

// apply gives the innovations of x, zero where a piece begins.
func (a innovator) apply(d *data, x []float64) []float64 {
	out := make([]float64, len(x))
	for _, p := range d.spans {
		for k := p.start + len(a); k < p.stop; k++ {
			out[k] = x[k]
			for j, c := range a {
				out[k] -= c * x[k-1-j]
			}
		}
	}
	return out
}
