package intersample

import (
	"math"
	"math/rand/v2"
	"testing"

	"hilrig/engine/numeric"
	"hilrig/engine/plant"
)

// shaft is a motor on friction, its voltage by a feedback that jumps with every sample: written here, in steps of 5 µs.
type shaft struct {
	h, phase, delay float64 // s; phase < 0: commands act as they come
	noise           float64 // A
	seed            uint64  // of it
}

const (
	ohm, henry, kt, inertia = 1.2, 0.6e-3, 0.042, 7e-5
	fine                    = 5e-6 // s
	seconds                 = 12
	encoder                 = 2 * math.Pi / 65536
)

// play gives the recording, the commands, and the points of the smooth signal at its samples: the torque under the hat of each, less the
// second difference. sent is when commands were sent.
func (s shaft) play() (r Record, c Steps, want []float64) {
	rng := rand.New(rand.NewPCG(3+s.seed, 5))
	n, every, tick := int(seconds/fine), int(math.Round(s.h/fine)), int(math.Round(1e-3/fine))
	hat := make([]float64, n/every+2)
	var th, w, i, u, held, arrived, guess, rate float64
	var due [][2]float64
	r.Dt = s.h
	for k := range n {
		t := float64(k) * fine
		if k%every == 0 {
			r.Position = append(r.Position, math.Round(th/encoder)*encoder)
			r.Force = append(r.Force, kt*(i+s.noise*rng.NormFloat64()))
			guess, rate = r.Position[len(r.Position)-1], w
		}
		if k%tick == 0 {
			guess += 1e-3 * rate
			to := 3*math.Sin(2.5*t) + 0.6*math.Sin(14.5*t)
			speed := 7.5*math.Cos(2.5*t) + 8.7*math.Cos(14.5*t)
			held = ohm/kt*(0.03*(to-guess)+1.5e-3*(speed-rate)) + kt*rate + 0.4*math.Tanh(speed)
			c.Time, c.Value, due = append(c.Time, t), append(c.Value, held), append(due, [2]float64{t + s.delay, held})
		}
		for len(due) > 0 && due[0][0] <= t+1e-9 {
			arrived, due = due[0][1], due[1:]
		}
		if s.phase < 0 || k%every == int(math.Round(s.phase*float64(every))) {
			u = arrived
		}
		x := float64(k%every) / float64(every)
		hat[k/every] += kt * i * (1 - x) * fine / s.h
		hat[k/every+1] += kt * i * x * fine / s.h
		i, w, th = i+fine*(u-ohm*i-kt*w)/henry, w+fine*(kt*i-15e-3*math.Tanh(w/0.05)-1.5e-4*w)/inertia, th+fine*w
	}
	want = make([]float64, len(r.Force))
	for k := 1; k < len(want)-1; k++ {
		want[k] = hat[k] - (hat[k+1]-2*hat[k]+hat[k-1])/12
	}
	return r, c, want
}

// inertiaOff is what forces that are off by e do to an inertia: their part along the acceleration over 0.1 s.
func inertiaOff(r *Record, e []float64) float64 {
	m := int(0.05 / r.Dt)
	var num, den float64
	for k := 2 * m; k < len(e)-2*m; k++ {
		a := (r.Position[k+m] - 2*r.Position[k] + r.Position[k-m]) / (float64(m*m) * r.Dt * r.Dt)
		num, den = num+a*e[k], den+a*a
	}
	return num / den / inertia
}

// The points are those of the torque between the samples, whenever the drive takes its commands; the samples as they are miss the inertia
// by up to a tenth. The timing is found, or what it may be is in doubt.
func TestPoints(t *testing.T) {
	motor := &plant.Motor{R: ohm, L: henry, K: kt}
	for _, s := range []shaft{
		{h: 5e-3, phase: -1, delay: 0.4e-3}, {h: 5e-3, phase: -1, delay: 3.2e-3}, {h: 5e-3, phase: 0}, {h: 5e-3, phase: 0.4},
		{h: 5e-3, phase: 0.8},
		{h: 2e-3, phase: 0}, {h: 20e-3, phase: -1, delay: 0.4e-3}, {h: 20e-3, phase: 0.5},
	} {
		r, c, want := s.play()
		find := &search{d: Drive{Winding: motor, Tick: 1e-3}, c: c, allRecords: []Record{r}}
		find.choose(find.allRecords)
		known := timing{delay: s.delay}
		if s.phase >= 0 {
			known = timing{mode: OnceASample, phase: s.phase, delay: -1e-6} // the command of that instant
		}
		at := find.try(known)
		minus := func(x []float64) []float64 {
			e := make([]float64, len(x))
			for k := 1; k < len(e)-1; k++ {
				e[k] = x[k] - want[k]
			}
			return e
		}
		before, after := inertiaOff(&r, minus(r.Force)), inertiaOff(&r, minus(find.points(find.correct(&at))[0]))
		t.Logf("%+v: inertia off by %.2f %%, with the commands by %.3f %%", s, 100*before, 100*after)
		limit := 0.003
		if s.h > 0.01 { // the speed turns too fast between the positions
			limit = 0.02
		}
		if math.Abs(after) > limit {
			t.Errorf("%+v: inertia off by %.2f %%, with the commands by %.3f %%", s, 100*before, 100*after)
		}
	}
}

// The samples tell which command acted, and the lag of the motion when it was taken. The lag of wrong points is that of their timing.
func TestFind(t *testing.T) {
	for _, s := range []shaft{{h: 5e-3, phase: -1, delay: 3.2e-3}, {h: 5e-3, phase: 0.1}, {h: 5e-3, phase: 0.6}} {
		s.noise = 0.02
		r, c, want := s.play()
		lag := func(points [][]float64) (float64, float64, bool) { // of the points against the truth, by least squares on its slope
			var up, down float64
			for k := 2; k < len(want)-2; k++ {
				slope := (want[k+1] - want[k-1]) / (2 * r.Dt)
				up, down = up+slope*(points[0][k]-want[k]), down+slope*slope
			}
			return -up / down, 0.2e-3, true
		}
		f := Find([]Record{r}, nil, c, Drive{Winding: &plant.Motor{R: ohm, L: henry, K: kt}, Tick: 1e-3, Noise: 0.02 * kt}, lag)
		if f == nil {
			t.Fatalf("%+v: nothing found", s)
		}
		t.Logf("%+v: %v, delay %.2f ms, phase %.2f, gain %.3f, doubt %.2f", s, f.Mode, 1e3*f.Delay, f.Phase, f.Gain, f.Doubt)
		e, noise := make([]float64, len(want)), 0.02*kt
		for k := 1; k < len(want)-1; k++ {
			e[k] = f.Points[0][k] - want[k]
		}
		off := inertiaOff(&r, e)
		t.Logf("inertia off by %.2f %%, points by %.3g N·m rms, noise %.3g", 100*off, numeric.RMS(e), noise)
		if math.Abs(off) > 0.01 || numeric.RMS(e) > 1.3*noise {
			t.Errorf("%+v: inertia off by %.2f %%, points by %.3g N·m rms where the noise is %.3g", s, 100*off, numeric.RMS(e), noise)
		}
		if s.phase >= 0 && (f.Mode != OnceASample || math.Abs(f.Phase-s.phase) > 0.1) {
			t.Errorf("%+v: %v, phase %.3g", s, f.Mode, f.Phase)
		}
		if math.Abs(f.Gain-1) > 0.05 {
			t.Errorf("%+v: gain %.3f", s, f.Gain)
		}
	}
}

// Behind a winding that settles long before the next sample, the samples tell which command acted and not when. What is left to the
// prior is the time of the line, 3 ms in the mean: a command that needs no time on it is found so. Where it needed two milliseconds, the
// doubt holds what that does to the inertia.
func TestPriorOfTheLine(t *testing.T) {
	for _, s := range []shaft{{h: 5e-3, phase: 0.1}, {h: 5e-3, phase: 0.3}, {h: 5e-3, phase: 0.5, delay: 2e-3}} {
		for s.seed = range uint64(4) {
			s.noise = 0.02
			r, c, want := s.play()
			f := Find([]Record{r}, nil, c, Drive{Winding: &plant.Motor{R: ohm, L: henry, K: kt}, Tick: 1e-3, Noise: 0.02 * kt}, nil)
			if f == nil {
				t.Fatalf("%+v: nothing found", s)
			}
			off, open := make([]float64, len(want)), make([]float64, len(want))
			for k := 1; k < len(want)-1; k++ {
				off[k], open[k] = f.Points[0][k]-want[k], f.Alternative[0][k]-f.Points[0][k]
			}
			j, may := inertiaOff(&r, off), math.Abs(inertiaOff(&r, open))
			t.Logf("%+v: %v, delay %.2f ms, phase %.2f; inertia off by %.2f %%, in doubt by %.2f %%", s, f.Mode, 1e3*f.Delay, f.Phase, 100*j,
				100*may)
			if s.delay == 0 && (f.Mode != OnceASample || f.Delay > 0.5e-3) {
				t.Errorf("%+v: %v, delay %.2f ms", s, f.Mode, 1e3*f.Delay)
			}
			if math.Abs(j) > may+0.005 {
				t.Errorf("%+v: inertia off by %.2f %%, in doubt by %.2f %%", s, 100*j, 100*may)
			}
		}
	}
}

// Commands that have nothing to do with the force tell nothing, and neither do none.
func TestFindNothing(t *testing.T) {
	r, c, _ := shaft{h: 5e-3, phase: -1, delay: 0.4e-3}.play()
	drive := Drive{Winding: &plant.Motor{R: ohm, L: henry, K: kt}, Tick: 1e-3}
	rng := rand.New(rand.NewPCG(9, 9))
	other := Steps{Time: c.Time}
	for range c.Value {
		other.Value = append(other.Value, rng.NormFloat64())
	}
	if f := Find([]Record{r}, nil, other, drive, nil); f != nil {
		t.Errorf("commands of somebody else: %v, doubt %g", f.Mode, f.Doubt)
	}
	if f := Find([]Record{r}, nil, Steps{}, drive, nil); f != nil {
		t.Error("no commands tell something")
	}
}

// The points of a sine are those of the sine, down to ten samples a turn: the mean under a hat is it times sinc², in closed form. The last
// but one sample has its neighbours only.
func TestPointsOfASine(t *testing.T) {
	const n = 60
	for _, turn := range []float64{40, 20, 10} { // samples
		w := 2 * math.Pi / turn
		sinc := math.Sin(w/2) / (w / 2)
		y := run{rise: make([]float64, n), fall: make([]float64, n)}
		for k := range n {
			y.fall[k] = sinc * sinc * math.Sin(w*float64(k)+0.3)
		}
		for k := 2; k < n-2; k++ {
			limit := 1e-4
			if k < 5 || k > n-6 {
				limit = 3e-3
			}
			if got, want := y.point(k, n), math.Sin(w*float64(k)+0.3); math.Abs(got-want) > limit {
				t.Errorf("%v samples a turn: point %d is %.6f, want %.6f", turn, k, got, want)
			}
		}
	}
}
