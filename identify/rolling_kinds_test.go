package identify

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/identify/ball"
	"hilrig/identify/record"
)

// The suite of balls: bodies, starts and friction by chance, motions of the integrator of rolling_plant_test.go. Each kind has one thing
// wrong, or nothing.

// usualDoubt is what a file says of its numbers where nobody measured how well they are known.
var usualDoubt = ball.Uncertainty{Radius: 0.01, Mass: 0.01, Inertia: 0.03, Center: 0.01, Markers: 0.01, Gravity: 0.001}

// ballBench is a ball before it is recorded.
type ballBench struct {
	rng     *rand.Rand
	seed    uint64
	ball    rollingBall
	spec    ball.Spec // its Body and Markers are those of the ball, where nothing else is said
	seconds float64
	rate    float64 // Hz
	noise   float64 // m
	unknown []string
	ranges  map[string][2]float64 // of coefficients that change
}

func newBallBench(seed uint64) *ballBench {
	b := &ballBench{rng: rand.New(rand.NewPCG(seed, 808)), seed: seed, seconds: 4, rate: 200, noise: 1e-4}
	b.ball = drawnBall(b.rng)
	b.spec.FreeParams = []string{"mu_roll", "mu_spin", "height"}
	return b
}

// drawnBall is a ball of some material and size, with a centre of mass off its middle, that slows down within some seconds.
func drawnBall(rng *rand.Rand) (b rollingBall) {
	in := func(lo, hi float64) float64 { return lo * math.Pow(hi/lo, rng.Float64()) }
	b.radius, b.gravity = in(0.02, 0.1), 9.81
	b.mass = 4. / 3 * math.Pi * math.Pow(b.radius, 3) * in(200, 3000)
	off := in(0.05, 0.3) * b.radius
	b.center = r3.Vec{X: 0.1 * off * rng.NormFloat64(), Y: 0.1 * off * rng.NormFloat64(), Z: off}
	size := b.mass * b.radius * b.radius
	first, about := in(0.35, 0.6), in(0.8, 1.25)
	for k, share := range [3]float64{first, first * in(0.9, 1.1), first * about} {
		b.inertia[k] = size * share
	}
	slowed := size * (1 + first)
	b.roll[0], b.spin[0] = slowed*in(0.1, 0.8), slowed*in(0.05, 0.3)
	top := math.Sqrt(b.gravity / b.radius)
	sign := func() float64 { return float64(2*rng.IntN(2) - 1) }
	b.turn = r3.Vec{X: math.Pi - 0.3 - 0.7*rng.Float64(), Y: 0.4 * rng.NormFloat64()}
	b.w = r3.Vec{X: 0.1 * top * rng.NormFloat64(), Y: sign() * in(0.05, 0.25) * top, Z: sign() * in(0.1, 0.25) * top}
	for _, m := range rollingMarkers {
		b.markers = append(b.markers, r3.Scale(b.radius/0.035, m))
	}
	return b
}

func (b *ballBench) times() (t []float64) {
	for k := 0; float64(k) <= b.seconds*b.rate+1e-9; k++ {
		t = append(t, float64(k)/b.rate)
	}
	return t
}

func (b *ballBench) record() *ball.Recording { return b.ball.recordedAt(b.times(), b.noise, b.seed) }

// size is the moment of inertia about the contact.
func (b *ballBench) size() float64 {
	return b.ball.mass*b.ball.radius*b.ball.radius + (b.ball.inertia[0]+b.ball.inertia[1]+b.ball.inertia[2])/3
}

// speed is that at the start.
func (b *ballBench) speed() float64 { return math.Hypot(b.ball.w.X, b.ball.w.Y) }

// each changes all points.
func each(rec *ball.Recording, f func(k, j int, p *r3.Vec)) *ball.Recording {
	for k := range rec.Points {
		for j := range rec.Points[k] {
			f(k, j, &rec.Points[k][j])
		}
	}
	return rec
}

// ballKind makes a recording of a ball.
type ballKind struct {
	name         string
	clean, slips bool // what is clean is to be identified, what slips to be refused
	make         func(b *ballBench) *ball.Recording
}

// drawn gives the file numbers that are off by chance.
func (b *ballBench) drawn(u ball.Uncertainty) {
	b.spec.Uncertain = u
	b.spec.Body, b.spec.Markers = b.ball.drawn(u, b.rng)
}

// wrong lets the file be wrong in one number and say that the others are known as usual.
func wrong(f func(b *ballBench)) func(b *ballBench) *ball.Recording {
	return func(b *ballBench) *ball.Recording {
		b.spec.Body, b.spec.Markers, b.spec.Uncertain = b.ball.given(), slices.Clone(b.ball.markers), usualDoubt
		f(b)
		return b.record()
	}
}

// lacks is a ball with a moment that no coefficient that is searched stands for; usual: the numbers of the file are known as usual.
func lacks(usual bool, f func(b *ballBench)) func(b *ballBench) *ball.Recording {
	return func(b *ballBench) *ball.Recording {
		if usual {
			b.spec.Uncertain = usualDoubt
		}
		f(b)
		return b.record()
	}
}

// seen is what cameras make of a clean motion.
func seen(f func(b *ballBench, rec *ball.Recording)) func(b *ballBench) *ball.Recording {
	return func(b *ballBench) *ball.Recording {
		rec := b.record()
		f(b, rec)
		return rec
	}
}

// against is a moment against rolling and spinning, these shares of the viscous one.
func against(b *ballBench, roll, spin func(s *rollingState) float64) {
	l, m := b.ball.roll[0], b.ball.spin[0]
	b.ball.moment = func(s *rollingState) r3.Vec {
		return r3.Vec{X: -roll(s) * l * s.w.X, Y: -roll(s) * l * s.w.Y, Z: -spin(s) * m * s.w.Z}
	}
}

// dry is dry friction, this share of the viscous one at the start.
func dry(part float64) func(b *ballBench) {
	return func(b *ballBench) { b.ball.roll[2] = part * b.ball.roll[0] * b.speed() }
}

func none(*rollingState) float64 { return 0 }

// slowly makes noise that hangs together over some frames (0 … 1), of the same size.
func slowly(b *ballBench, hang float64) func(b *ballBench, rec *ball.Recording) {
	return func(b *ballBench, rec *ball.Recording) {
		last := make([]r3.Vec, len(rec.Points[0]))
		each(rec, func(k, j int, p *r3.Vec) {
			n := r3.Scale(1e-4*math.Sqrt(1-hang*hang), r3.Vec{X: b.rng.NormFloat64(), Y: b.rng.NormFloat64(), Z: b.rng.NormFloat64()})
			last[j] = r3.Add(r3.Scale(hang, last[j]), n)
			*p = r3.Add(*p, last[j])
		})
	}
}

// slowOffsets are those that drift by 0.1 mm within seconds, by frame and marker.
func slowOffsets(b *ballBench, rec *ball.Recording) [][]r3.Vec {
	off := &ball.Recording{}
	for range rec.Points {
		off.Points = append(off.Points, make([]r3.Vec, len(rec.Points[0])))
	}
	slowly(b, 0.998)(b, off)
	return off.Points
}

var ballKinds = []ballKind{
	{name: "clean, exact numbers", clean: true, make: (*ballBench).record},
	{name: "numbers as usual", clean: true, make: func(b *ballBench) *ball.Recording { b.drawn(usualDoubt); return b.record() }},
	{name: "numbers measured", clean: true, make: func(b *ballBench) *ball.Recording { b.drawn(measured); return b.record() }},
	{name: "noise of 2.5 % of the radius", clean: true, make: lacks(false, func(b *ballBench) { b.noise = 0.025 * b.ball.radius })},
	{name: "20 um of noise", clean: true, make: lacks(false, func(b *ballBench) { b.noise = 2e-5 })},
	{name: "100 Hz", clean: true, make: lacks(false, func(b *ballBench) { b.rate = 100 })},
	{name: "1.5 s", clean: true, make: lacks(false, func(b *ballBench) { b.seconds = 1.5 })},
	{name: "uneven frames", clean: true, make: func(b *ballBench) *ball.Recording {
		t := b.times()
		for k := range t {
			t[k] += 1.5e-3 * b.rng.Float64()
		}
		return b.ball.recordedAt(t, b.noise, b.seed)
	}},
	{name: "markers hidden", clean: true, make: seen(func(b *ballBench, rec *ball.Recording) {
		for k := range rec.Visible {
			for j := range rec.Visible[k] {
				rec.Visible[k][j] = b.rng.Float64() > 0.15
			}
		}
		for k := 300; k < 330; k++ {
			clear(rec.Visible[k])
		}
	})},
	{name: "labels exchanged", clean: true, make: seen(func(b *ballBench, rec *ball.Recording) { swap(4, 1, 3)(rec, b.rng) })},
	{name: "reflections", clean: true, make: seen(func(b *ballBench, rec *ball.Recording) {
		for range 6 {
			rec.Points[20+b.rng.IntN(700)][b.rng.IntN(5)].Y += 0.5 * b.ball.radius
		}
	})},
	{name: "dry friction searched", clean: true, make: lacks(false, func(b *ballBench) {
		b.spec.FreeParams = append(b.spec.FreeParams, "roll_moment")
		b.ball.roll[2] = 0.3 * b.ball.roll[0] * b.speed()
	})},
	{name: "dry friction searched, to rest", clean: true, make: lacks(false, func(b *ballBench) {
		b.spec.FreeParams = append(b.spec.FreeParams, "roll_moment")
		b.ball.roll[2] = 0.6 * b.size() * b.speed()
	})},
	{name: "an arm searched", clean: true, make: lacks(false, func(b *ballBench) {
		b.spec.FreeParams = append(b.spec.FreeParams, "roll_arm")
		b.ball.roll[3] = 0.1 * b.size() * b.speed() / b.ball.mass / b.ball.gravity
	})},
	{name: "the square searched", clean: true, make: lacks(false, func(b *ballBench) {
		b.spec.FreeParams = append(b.spec.FreeParams, "mu_roll2")
		b.ball.roll[1] = b.ball.roll[0] / b.speed()
	})},
	{name: "fall of the plane searched", clean: true, make: lacks(false, func(b *ballBench) {
		b.spec.FreeParams = append(b.spec.FreeParams, "tilt_x", "tilt_y")
		b.ball.tilt = [2]float64{0.002, -0.003}
	})},
	{name: "no friction against spinning", clean: true, make: lacks(false, func(b *ballBench) { b.ball.spin[0] = 0 })},

	{name: "dry friction of 2 %", make: lacks(false, dry(0.02))},
	{name: "dry friction of 5 %, numbers as usual", make: lacks(true, dry(0.05))},
	{name: "dry friction of 20 %, numbers as usual", make: lacks(true, dry(0.2))},
	{name: "dry friction of 5 %, much noise, as usual", make: lacks(true, func(b *ballBench) {
		b.noise, b.seconds, b.ball.roll[2] = 0.025*b.ball.radius, 1.5, 0.05*b.ball.roll[0]*b.speed()
	})},
	{name: "dry friction of 5 %, much noise", make: lacks(false, func(b *ballBench) {
		b.noise, b.seconds, b.ball.roll[2] = 0.025*b.ball.radius, 1.5, 0.05*b.ball.roll[0]*b.speed()
	})},
	{name: "an arm of 10 %", make: lacks(true, func(b *ballBench) {
		b.ball.roll[3] = 0.1 * b.ball.roll[0] * b.speed() / b.ball.mass / b.ball.gravity
	})},
	{name: "the square, 20 %", make: lacks(true, func(b *ballBench) { b.ball.roll[1] = 0.2 * b.ball.roll[0] / b.speed() })},
	{name: "the square, 5 %, much noise", make: lacks(false, func(b *ballBench) {
		b.noise, b.seconds, b.ball.roll[1] = 0.025*b.ball.radius, 1.5, 0.05*b.ball.roll[0]/b.speed()
	})},
	{name: "spinning friction not searched", make: lacks(true, func(b *ballBench) { b.spec.FreeParams = []string{"mu_roll", "height"} })},
	{name: "dry spinning friction of 20 %", make: lacks(true, func(b *ballBench) {
		b.ball.spin[2] = 0.2 * b.ball.spin[0] * math.Abs(b.ball.w.Z)
	})},
	{name: "friction grows by 20 %", make: lacks(true, func(b *ballBench) {
		against(b, func(s *rollingState) float64 { return 0.2 * s.t / b.seconds }, none)
		b.ranges = map[string][2]float64{"mu_roll": {b.ball.roll[0], 1.2 * b.ball.roll[0]}}
	})},
	{name: "rougher beyond a line", make: lacks(true, func(b *ballBench) {
		against(b, func(s *rollingState) float64 { return map[bool]float64{true: 0.5}[s.p.X > 0] }, none)
		b.ranges = map[string][2]float64{"mu_roll": {b.ball.roll[0], 1.5 * b.ball.roll[0]}}
	})},
	{name: "rougher one way", make: lacks(true, func(b *ballBench) {
		against(b, func(s *rollingState) float64 { return map[bool]float64{true: 0.2}[s.w.Y > 0] }, none)
		b.ranges = map[string][2]float64{"mu_roll": {b.ball.roll[0], 1.2 * b.ball.roll[0]}}
	})},
	{name: "a moment that drives", make: lacks(true, func(b *ballBench) {
		m := 0.05 * b.ball.roll[0] * b.speed()
		b.ball.moment = func(s *rollingState) r3.Vec { return r3.Vec{X: m} }
	})},
	{name: "touched half-way", make: lacks(true, func(b *ballBench) {
		m := 0.2 * b.speed() * b.size() / 0.02
		b.ball.moment = func(s *rollingState) r3.Vec {
			return r3.Vec{X: map[bool]float64{true: m}[s.t > 1.5 && s.t < 1.52]}
		}
	})},
	{name: "plane falls by 0.3 mrad", make: lacks(true, func(b *ballBench) { b.ball.tilt = [2]float64{3e-4, -2e-4} })},
	{name: "plane falls by 3 mrad", make: lacks(false, func(b *ballBench) { b.ball.tilt = [2]float64{0.003, 0.001} })},
	{name: "plane is wavy", make: lacks(true, func(b *ballBench) {
		b.ball.moment = func(s *rollingState) r3.Vec {
			return r3.Vec{Y: 0.001 * b.ball.mass * b.ball.gravity * b.ball.radius * math.Sin(s.p.X/0.1)}
		}
	})},
	{name: "cameras lean by 2 mrad", make: seen(func(b *ballBench, rec *ball.Recording) {
		each(rec, func(_, _ int, p *r3.Vec) { p.X, p.Z = p.X-0.002*p.Z, p.Z+0.002*p.X })
		b.unknown = []string{"height"}
	})},
	{name: "cameras show 1 % too much", make: seen(func(b *ballBench, rec *ball.Recording) {
		b.spec.Uncertain, b.unknown = usualDoubt, []string{"height"}
		each(rec, func(_, _ int, p *r3.Vec) { *p = r3.Scale(1.01, *p) })
	})},
	{name: "x is 0.5 % too long", make: seen(func(b *ballBench, rec *ball.Recording) {
		b.spec.Uncertain, b.unknown = usualDoubt, []string{"height"}
		each(rec, func(_, _ int, p *r3.Vec) { p.X *= 1.005 })
	})},
	{name: "z is 1 % too long", make: seen(func(b *ballBench, rec *ball.Recording) {
		b.spec.Uncertain, b.unknown = usualDoubt, []string{"height"}
		each(rec, func(_, _ int, p *r3.Vec) { p.Z *= 1.01 })
	})},
	{name: "y leans on x by 5 mrad", make: seen(func(b *ballBench, rec *ball.Recording) {
		b.spec.Uncertain = usualDoubt
		each(rec, func(_, _ int, p *r3.Vec) { p.X += 0.005 * p.Y })
	})},
	{name: "lens bends", make: seen(func(b *ballBench, rec *ball.Recording) {
		b.spec.Uncertain = usualDoubt
		each(rec, func(_, _ int, p *r3.Vec) {
			f := 1 + 0.01*(p.X*p.X+p.Y*p.Y)
			p.X, p.Y = p.X*f, p.Y*f
		})
	})},
	{name: "a frame was lost, times count on", make: seen(func(b *ballBench, rec *ball.Recording) {
		k := 300
		rec.Points, rec.Visible = slices.Delete(rec.Points, k, k+1), slices.Delete(rec.Visible, k, k+1)
		rec.Times = rec.Times[:len(rec.Points)]
	})},
	{name: "five frames were lost, times count on", make: seen(func(b *ballBench, rec *ball.Recording) {
		b.spec.Uncertain = usualDoubt
		k := 300
		rec.Points, rec.Visible = slices.Delete(rec.Points, k, k+5), slices.Delete(rec.Visible, k, k+5)
		rec.Times = rec.Times[:len(rec.Points)]
	})},
	{name: "times tremble by 2 ms", make: func(b *ballBench) *ball.Recording {
		t := b.times()
		for k := range t {
			t[k] += 2e-3 * b.rng.Float64()
		}
		rec := b.ball.recordedAt(t, b.noise, b.seed)
		rec.Times = b.times()
		return rec
	}},
	{name: "mean of five frames", make: seen(func(b *ballBench, rec *ball.Recording) {
		smoothed := slices.Clone(rec.Points)
		for k := 2; k+2 < len(smoothed); k++ {
			smoothed[k] = make([]r3.Vec, 5)
			for j := range smoothed[k] {
				for i := -2; i <= 2; i++ {
					smoothed[k][j] = r3.Add(smoothed[k][j], r3.Scale(0.2, rec.Points[k+i][j]))
				}
			}
		}
		rec.Points = smoothed
	})},
	{name: "low-passed at 15 Hz", make: seen(func(b *ballBench, rec *ball.Recording) {
		b.spec.Uncertain = usualDoubt
		last := slices.Clone(rec.Points[0])
		a := 1 - math.Exp(-2*math.Pi*15/b.rate)
		each(rec, func(_, j int, p *r3.Vec) {
			last[j] = r3.Add(last[j], r3.Scale(a, r3.Sub(*p, last[j])))
			*p = last[j]
		})
	})},
	{name: "noise that hangs together", make: seen(func(b *ballBench, rec *ball.Recording) { slowly(b, 0.95)(b, rec) })},
	{name: "noise of markers that drifts", make: seen(func(b *ballBench, rec *ball.Recording) { slowly(b, 0.998)(b, rec) })},
	{name: "noise with long tails", make: seen(func(b *ballBench, rec *ball.Recording) {
		each(rec, func(_, _ int, p *r3.Vec) {
			if b.rng.Float64() < 0.03 {
				*p = r3.Add(*p, r3.Scale(1e-3, r3.Vec{X: b.rng.NormFloat64(), Y: b.rng.NormFloat64(), Z: b.rng.NormFloat64()}))
			}
		})
	})},
	{name: "rounded to 1 mm", make: seen(func(b *ballBench, rec *ball.Recording) {
		each(rec, func(_, _ int, p *r3.Vec) {
			p.X, p.Y, p.Z = math.Round(1e3*p.X)/1e3, math.Round(1e3*p.Y)/1e3, math.Round(1e3*p.Z)/1e3
		})
	})},
	{name: "a marker moves on the ball", make: func(b *ballBench) *ball.Recording {
		rec := b.record()
		moved := b.ball
		moved.markers = slices.Clone(b.ball.markers)
		moved.markers[2] = r3.Scale(0.95, moved.markers[2])
		after := moved.recordedAt(b.times(), b.noise, b.seed+50)
		copy(rec.Points[400:], after.Points[400:])
		return rec
	}},
	{name: "labels exchanged for a while", make: seen(func(b *ballBench, rec *ball.Recording) {
		for k := 200; k < 300; k++ {
			rec.Points[k][0], rec.Points[k][2] = rec.Points[k][2], rec.Points[k][0]
		}
	})},
	{name: "inertia 5 % off", make: wrong(func(b *ballBench) {
		for k := range 3 {
			b.spec.Body.Inertia[k] *= 1.05
		}
	})},
	{name: "one moment of inertia 6 % off", make: wrong(func(b *ballBench) { b.spec.Body.Inertia[b.seed%3] *= 0.94 })},
	{name: "products of inertia of 3 %", make: wrong(func(b *ballBench) {
		for k := range 3 {
			b.spec.Body.Products[k] = 0.03 * b.spec.Body.Inertia[0]
		}
	})},
	{name: "mass 2 % off", make: wrong(func(b *ballBench) { b.spec.Body.Mass *= 1.02 })},
	{name: "radius 2 % off", make: wrong(func(b *ballBench) { b.spec.Body.Radius *= 0.98 })},
	{name: "radius 5 % off", make: wrong(func(b *ballBench) { b.spec.Body.Radius *= 1.05; b.unknown = []string{"height"} })},
	{name: "gravity 0.3 % off", make: wrong(func(b *ballBench) { b.spec.Body.Gravity *= 1.003 })},
	{name: "centre of mass 3 % of the radius off", make: wrong(func(b *ballBench) { b.spec.Body.Center[b.seed%3] += 0.03 * b.ball.radius })},
	{name: "a marker 5 % of the radius off", make: wrong(func(b *ballBench) { b.spec.Markers[3].X += 0.05 * b.ball.radius })},
	{name: "markers turned by 2 degrees", make: wrong(func(b *ballBench) {
		for j, m := range b.spec.Markers {
			b.spec.Markers[j] = r3.Add(m, r3.Vec{Y: 0.035 * m.Z, Z: -0.035 * m.Y})
		}
	})},

	{name: "pushed", slips: true, make: lacks(true, func(b *ballBench) {
		b.ball.slide = 0.1 + 0.2*b.rng.Float64()
		b.ball.push = r3.Vec{X: 3 * b.ball.slide * b.ball.gravity * (0.02 + 0.1*b.rng.Float64())}
	})},
	{name: "too smooth", slips: true, make: lacks(true, func(b *ballBench) { b.ball.slide = 0.5 * b.ball.peakRatio(b.seconds) })},
	{name: "let go with a slip of some ms", make: lacks(false, func(b *ballBench) {
		b.ball.slide = 0.3
		b.ball.push = r3.Vec{Y: 0.08 * b.ball.radius * math.Sqrt(b.ball.gravity/b.ball.radius)}
	})},
	{name: "caught", make: seen(func(b *ballBench, rec *ball.Recording) {
		n := len(rec.Points)
		for k := n - 3; k < n; k++ {
			copy(rec.Points[k], rec.Points[n-4])
		}
	})},

	{name: "cameras drift, all markers alike", make: seen(func(b *ballBench, rec *ball.Recording) {
		off := slowOffsets(b, rec)
		b.unknown = []string{"height"} // the frame itself moves
		each(rec, func(k, _ int, p *r3.Vec) { *p = r3.Add(*p, off[k][0]) })
	})},
	{name: "one marker drifts by 0.2 mm", make: seen(func(b *ballBench, rec *ball.Recording) {
		off := slowOffsets(b, rec)
		each(rec, func(k, j int, p *r3.Vec) { *p = r3.Add(*p, r3.Scale(map[int]float64{1: 2}[j], off[k][j])) })
	})},
	{name: "markers slide on a line in time", make: seen(func(b *ballBench, rec *ball.Recording) {
		var way []r3.Vec
		for range rec.Points[0] {
			way = append(way, r3.Scale(1e-4, r3.Vec{X: b.rng.NormFloat64(), Y: b.rng.NormFloat64(), Z: b.rng.NormFloat64()}))
		}
		each(rec, func(k, j int, p *r3.Vec) { *p = r3.Add(*p, r3.Scale(rec.Times[k]/b.seconds, way[j])) })
	})},
	{name: "markers drift, numbers as usual", make: func(b *ballBench) *ball.Recording {
		b.drawn(usualDoubt)
		rec := b.record()
		slowly(b, 0.998)(b, rec)
		return rec
	}},
	{name: "long tails of 5 times the noise, numbers measured", make: func(b *ballBench) *ball.Recording {
		b.drawn(measured)
		return each(b.record(), func(_, _ int, p *r3.Vec) {
			if b.rng.Float64() < 0.03 {
				*p = r3.Add(*p, r3.Scale(5e-4, r3.Vec{X: b.rng.NormFloat64(), Y: b.rng.NormFloat64(), Z: b.rng.NormFloat64()}))
			}
		})
	}},
}

// ballOutcome is what was made of a recording.
type ballOutcome struct {
	verdict  Verdict
	wrong    []string // called identified under such a verdict, and wrong
	held, of int
	reason   string
}

func (b *ballBench) attempt(k *ballKind) (o ballOutcome) {
	rec := k.make(b)
	if b.spec.Body.Radius == 0 {
		b.spec.Body = b.ball.given()
	}
	if b.spec.Markers == nil {
		b.spec.Markers = b.ball.markers
	}
	found, err := ball.Fit(context.Background(), b.spec, rec, nil)
	if err != nil {
		return ballOutcome{verdict: "refused", reason: err.Error()}
	}
	n := len(rec.Times)
	r, err := Rolling(found, record.Info{Samples: n, Duration: rec.Times[n-1], Interval: rec.Times[n-1] / float64(n-1)}, nil)
	if err != nil {
		return ballOutcome{verdict: "refused", reason: err.Error()}
	}
	o.verdict = r.Verdict
	if len(r.Reasons) > 0 {
		o.reason = r.Reasons[0].Text
	}
	if k.slips && r.Verdict != Rejected {
		o.wrong = append(o.wrong, "a slip passes")
	}
	truth := truthOf(&b.ball)
	for i := range r.Parameters {
		p := &r.Parameters[i]
		v, known := truth[p.Name]
		span, changes := b.ranges[p.Name]
		if !changes {
			span = [2]float64{v, v}
		}
		if p.Fixed || !known || p.CI == nil || k.slips || slices.Contains(b.unknown, p.Name) {
			continue
		}
		miss := max(p.CI[0]-span[1], span[0]-p.CI[1])
		if o.of++; miss <= 0 {
			o.held++
		}
		if half := (p.CI[1] - p.CI[0]) / 2; r.Verdict == Identified && p.Worth == string(Identified) && miss > (clearly-1)*half {
			o.wrong = append(o.wrong, fmt.Sprintf("%s %+.2f %%, %.1f half intervals", p.Name, 100*(p.Value-v)/v, 1+miss/half))
		}
	}
	return o
}

// ballSuite runs seeds of kinds and counts.
func ballSuite(t *testing.T, first, seeds uint64, only func(k *ballKind) bool) {
	bad, trials, alarms, clean, held, of := 0, 0, 0, 0, 0, 0
	for i := range ballKinds {
		k := &ballKinds[i]
		if !only(k) {
			continue
		}
		t.Run(k.name, func(t *testing.T) {
			verdicts, kindHeld, kindOf := map[Verdict]int{}, 0, 0
			for seed := first; seed < first+seeds; seed++ {
				o := newBallBench(1000*seed + uint64(i)).attempt(k)
				verdicts[o.verdict]++
				trials, kindHeld, kindOf = trials+1, kindHeld+o.held, kindOf+o.of
				if o.wrong != nil {
					bad++
					t.Errorf("seed %d, %s: %s", seed, o.verdict, strings.Join(o.wrong, ", "))
				}
				if o.verdict != Identified {
					t.Logf("seed %d: %s", seed, o.reason)
				}
				if k.clean {
					if clean++; o.verdict != Identified {
						alarms++
					}
				}
			}
			if k.clean {
				held, of = held+kindHeld, of+kindOf
			}
			t.Logf("%v held %d/%d", verdicts, kindHeld, kindOf)
		})
	}
	t.Logf("confident wrong: %d of %d; false alarms %d of %d; intervals of clean ones %d of %d", bad, trials, alarms, clean, held, of)
	if bad > 0 || float64(alarms) > 0.05*float64(clean) {
		t.Errorf("%d of %d are wrong under the verdict identified, %d of %d clean ones are not identified", bad, trials, alarms, clean)
	}
}

// No value of a ball is wrong with confidence; the whole suite is rolling_soak_test.go.
func TestSuiteOfBalls(t *testing.T) {
	t.Parallel()
	some := []string{"numbers measured", "dry friction of 20 %, numbers as usual", "y leans on x by 5 mrad", "plane falls by 0.3 mrad",
		"caught"}
	ballSuite(t, 5, 1, func(k *ballKind) bool { return slices.Contains(some, k.name) })
}

// Noise with long tails puts one marker far off near an end, which is no slip.
func TestLongTailsAreNoSlip(t *testing.T) {
	t.Parallel()
	i := slices.IndexFunc(ballKinds, func(k ballKind) bool { return k.name == "noise with long tails" })
	for _, seed := range []uint64{3, 4} {
		if o := newBallBench(1000*seed + uint64(i)).attempt(&ballKinds[i]); o.verdict != Identified || o.wrong != nil {
			t.Errorf("seed %d: %s, %s %v", seed, o.verdict, o.reason, o.wrong)
		}
	}
}
