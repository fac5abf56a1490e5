package ball

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/numeric"
	"hilrig/engine/plant/ball"
)

// Value is an estimate of one level.
type Value struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Value float64 `json:"value"`
	Err   float64 `json:"std_err"` // standard error; 0: not known
}

// Level is what one way of looking at the recording says.
type Level struct {
	Name    string  `json:"name"`
	Values  []Value `json:"values"`
	RMS     float64 `json:"rms"` // of what is left over, in Unit
	Unit    string  `json:"unit"`
	Rows    int     `json:"rows"`
	Warning string  `json:"warning,omitempty"` // what the level is not good for
}

// Value finds an estimate by name.
func (l *Level) Value(name string) (Value, bool) {
	for _, v := range l.Values {
		if v.Name == name {
			return v, true
		}
	}
	return Value{}, false
}

// linear is a regression y = Σ θ·x; the values of the free terms come first, then those of others.
func linear(name, unit string, free []term, others int, rows func(add func(x []float64, y float64))) (Level, error) {
	l := Level{Name: name, Unit: unit}
	f := numeric.NewFactor(len(free) + others)
	rows(func(x []float64, y float64) {
		f.Add(x, y)
		l.Rows++
	})
	n := len(free) + others
	theta, se := make([]float64, n), make([]float64, n)
	if err := f.Solve(theta); err != nil {
		return l, fmt.Errorf("%s: the recording does not tell the coefficients apart: %w", name, err)
	}
	f.Errors(se)
	l.RMS = math.Sqrt(f.SumSquares() / float64(max(1, l.Rows-n)))
	for k, t := range free {
		l.Values = append(l.Values, Value{t.name, t.unit, theta[k], l.RMS * se[k]})
	}
	return l, nil
}

// addVector adds the components of y = −Σ θ·phi.
func addVector(add func(x []float64, y float64), phi []r3.Vec, y r3.Vec) {
	x := [3][]float64{}
	for _, v := range phi {
		x[0], x[1], x[2] = append(x[0], -v.X), append(x[1], -v.Y), append(x[2], -v.Z)
	}
	add(x[0], y.X)
	add(x[1], y.Y)
	add(x[2], y.Z)
}

// share widens the errors for frames that share their window: there are as many independent ones as windows side by side.
func (l *Level) share(ms []motion) {
	step := (ms[len(ms)-1].t - ms[0].t) / float64(len(ms)-1)
	by := math.Sqrt(max(1, 2*ms[0].halfWindow/step))
	for k := range l.Values {
		l.Values[k].Err *= by
	}
}

// projection is Σ(M, φ)/Σ|φ|² of the moments that the equations of motion ask of friction.
func projection(p *ball.Params, free []term, ms []motion) (Level, error) {
	m := p.Unchecked()
	l, err := linear("projection", "N·m", free, 0, func(add func([]float64, float64)) {
		phi := make([]r3.Vec, len(free))
		for i := range ms {
			s := &ms[i]
			if !s.directed(p, free) {
				continue
			}
			moment, force := m.Inverse(&s.f, s.w, s.dw)
			moment = r3.Sub(moment, knownMoment(p, free, &s.f, s.w, force.Z))
			for k := range free {
				phi[k] = free[k].phi(&s.f, s.w, force.Z)
			}
			addVector(add, phi, moment)
		}
	})
	l.share(ms)
	l.Warning = "a first value: the window of the smoothing biases it, and neighbouring frames are not independent"
	return l, err
}

// Moduli are the source's fits (2.2) of |M_roll| over |ω_roll|, and its check of directions, figure 5b.
type Moduli struct {
	Linear       float64 `json:"linear"`     // N·m·s   |M| = a·|ω|
	LinearRMS    float64 `json:"linear_rms"` // N·m
	Quadratic    float64 `json:"quadratic"`  // N·m·s²  |M| = b·|ω|²
	QuadraticRMS float64 `json:"quadratic_rms"`
	Cosine       float64 `json:"cosine"`  // mean of the cosine between M_roll and ω_roll; −1: opposed
	Opposed      float64 `json:"opposed"` // share of the frames with a cosine below −0.9
	Noise        float64 `json:"noise"`   // N·m  root mean square of M_roll against the projection
	Warning      string  `json:"warning"`
}

const moduliWarning = "fits of moduli are biased upward: the modulus of a noisy vector is larger than that of the vector, and the more " +
	"so the smaller it is. They are given to compare with [KKK17] (2.2); do not use them"

// moduli reproduces the source's way.
func moduli(p *ball.Params, ms []motion, mu float64) Moduli {
	m := p.Unchecked()
	var wm, ww, w2m, w4, mm, noise, cos, opposed float64
	for i := range ms {
		s := &ms[i]
		moment, _ := m.Inverse(&s.f, s.w, s.dw)
		_, wh := split(&s.f, s.w)
		_, mh := split(&s.f, moment)
		w, a := r3.Norm(wh), r3.Norm(mh)
		wm, ww, w2m, w4, mm = wm+w*a, ww+w*w, w2m+w*w*a, w4+w*w*w*w, mm+a*a
		noise += r3.Norm2(r3.Add(mh, r3.Scale(mu, wh)))
		if w > 0 && a > 0 {
			c := r3.Dot(wh, mh) / (w * a)
			cos += c
			if c < -0.9 {
				opposed++
			}
		}
	}
	n := float64(len(ms))
	return Moduli{Linear: wm / ww, LinearRMS: math.Sqrt(max(0, mm-wm*wm/ww) / n), Quadratic: w2m / w4,
		QuadraticRMS: math.Sqrt(max(0, mm-w2m*w2m/w4) / n), Cosine: cos / n, Opposed: opposed / n, Noise: math.Sqrt(noise / n),
		Warning: moduliWarning}
}
