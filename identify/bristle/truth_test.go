package bristle

import (
	"math"
	"math/rand/v2"

	"hilrig/identify/record"
)

// rig is a simulated experiment with known truth, integrated apart from the code under test: Runge–Kutta of order four on
// the differential equations, in steps that resolve the bristles, with the continuous force of a multi-sine.
type rig struct {
	name       string
	truth      theta
	amplitude  []float64 // N
	frequency  []float64 // Hz
	noise      float64   // N, of the recorded force
	white      float64   // m, noise of the position before it is rounded
	range_     float64   // m, of the 16-bit encoder
	duration   float64
	rate       float64 // Hz
	micro      float64 // s, step of the integration
	disturbing bool    // the noise acts on the mass and is not in the record
	hold       Hold    // what the force does between its samples; Auto: the exact sines
	x, u       []float64
}

func (g *rig) force(t float64, phase []float64) float64 {
	u := g.truth[offset]
	for i, a := range g.amplitude {
		u += a * math.Sin(2*math.Pi*g.frequency[i]*t+phase[i])
	}
	return u
}

// run integrates once; x and u are exact samples.
func (g *rig) run(seed uint64) {
	n := int(g.duration*g.rate) + 1
	g.x, g.u = make([]float64, n), make([]float64, n)
	r := rand.New(rand.NewPCG(seed, 77))
	phase := make([]float64, len(g.amplitude))
	for i := range phase {
		phase[i] = 2 * math.Pi * r.Float64()
	}
	t := g.truth
	flow := func(u float64, s [3]float64) (d [3]float64) {
		q := s[1] / t[stribeck]
		lvl := t[coulomb] + (t[breakout]-t[coulomb])*math.Exp(-q*q)
		d[0] = s[1]
		d[2] = s[1] - t[sigma0]*math.Abs(s[1])*s[2]/lvl
		d[1] = (u - t[sigma0]*s[2] - t[sigma1]*d[2] - t[sigma2]*s[1] - t[offset]) / t[inertia]
		return d
	}
	per := int(math.Ceil(1 / g.rate / g.micro))
	h := 1 / g.rate / float64(per)
	var s [3]float64
	push := 0.0
	for k := range n {
		g.x[k], g.u[k] = s[0], g.force(float64(k)/g.rate, phase)
		if g.disturbing {
			push = g.noise * r.NormFloat64()
		}
		for i := range per {
			at := float64(k)/g.rate + float64(i)*h
			u0, u1, u2 := g.force(at, phase)+push, g.force(at+h/2, phase)+push, g.force(at+h, phase)+push
			if g.hold != Auto {
				a, b := g.u[k], g.force(float64(k+1)/g.rate, phase)
				if g.hold == Held {
					b = a
				}
				f := float64(i) / float64(per)
				u0, u2 = a+f*(b-a)+push, a+(f+1/float64(per))*(b-a)+push
				u1 = (u0 + u2) / 2
			}
			add := func(d [3]float64, f float64) [3]float64 {
				return [3]float64{s[0] + f*d[0], s[1] + f*d[1], s[2] + f*d[2]}
			}
			k1 := flow(u0, s)
			k2 := flow(u1, add(k1, h/2))
			k3 := flow(u1, add(k2, h/2))
			k4 := flow(u2, add(k3, h))
			for j := range s {
				s[j] += h / 6 * (k1[j] + 2*k2[j] + 2*k3[j] + k4[j])
			}
		}
	}
}

// record is the exact motion seen through the encoder, with fresh noise on the force.
func (g *rig) record(seed uint64) *record.Record {
	r := rand.New(rand.NewPCG(seed, 5))
	q := g.range_ / 65536
	off := q * r.Float64()
	y, u := make([]float64, len(g.x)), make([]float64, len(g.u))
	for k := range y {
		y[k] = q * math.Round((g.x[k]+off+g.white*r.NormFloat64())/q)
		u[k] = g.u[k]
		if !g.disturbing {
			u[k] += g.noise * r.NormFloat64()
		}
	}
	rec, err := record.New(1/g.rate, y, u)
	if err != nil {
		panic(err)
	}
	return rec
}

// rigs are truths apart from each other in stiffness, damping, levels and weight.
func rigs() []*rig {
	return []*rig{
		{
			name:      "scaled P95",
			truth:     theta{1, 4e4, 200, 2, 1, 1.5, 0.01, 0.1},
			amplitude: []float64{1.3, 0.9, 0.6, 0.25}, frequency: []float64{0.6, 1.7, 4.3, 23}, noise: 0.01, range_: 0.04, duration: 10, rate: 1000, micro: 2e-5,
		},
		{
			name:      "heavy slide",
			truth:     theta{30, 2e6, 4000, 120, 40, 52, 0.02, -3},
			amplitude: []float64{45, 30, 22, 10}, frequency: []float64{0.45, 1.3, 3.7, 31}, noise: 0.3, range_: 0.08, duration: 10, rate: 1000, micro: 2e-5,
		},
		{
			name:      "light and soft",
			truth:     theta{0.2, 5e3, 12, 0.8, 0.5, 0.62, 0.03, 0.05},
			amplitude: []float64{0.6, 0.4, 0.25, 0.12}, frequency: []float64{0.8, 2.1, 5.9, 19}, noise: 0.005, range_: 0.1, duration: 10, rate: 1000, micro: 2e-5,
		},
	}
}
