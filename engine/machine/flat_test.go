package machine

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
	"hilrig/engine/multibody"
	"hilrig/engine/rotation"
)

// linkage is a machine of one degree of freedom θ in a plane, for the equations below alone: its links are thin rods.
type ownLinkage struct {
	crankLoad
	rods []float64                        // kg
	long []float64                        // m
	pose func(theta float64) [][3]float64 // of the middle of each rod: x, y, angle
	g    float64
}

// shape is the inertia M(θ), its slope, and the slope of the potential, by differences of order 4.
func (l *ownLinkage) shape(theta float64) (m, dm, dv float64) {
	const e = 2e-3
	mass := func(at float64) (m float64) {
		a, b, c, d, mid := l.pose(at-2*e), l.pose(at-e), l.pose(at+e), l.pose(at+2*e), l.pose(at)
		for i := range mid { // angles without leaps
			a[i][2], b[i][2] = math.Remainder(a[i][2]-mid[i][2], 2*math.Pi), math.Remainder(b[i][2]-mid[i][2], 2*math.Pi)
			c[i][2], d[i][2] = math.Remainder(c[i][2]-mid[i][2], 2*math.Pi), math.Remainder(d[i][2]-mid[i][2], 2*math.Pi)
		}
		for i := range a {
			var x [3]float64
			for k := range x {
				x[k] = (a[i][k] - 8*b[i][k] + 8*c[i][k] - d[i][k]) / (12 * e)
			}
			m += l.rods[i] * (x[0]*x[0] + x[1]*x[1] + l.long[i]*l.long[i]/12*x[2]*x[2])
		}
		return m
	}
	high := func(at float64) (v float64) {
		for i, p := range l.pose(at) {
			v += l.rods[i] * l.g * p[1]
		}
		return v
	}
	slope := func(f func(float64) float64) float64 {
		return (f(theta-2*e) - 8*f(theta-e) + 8*f(theta+e) - f(theta+2*e)) / (12 * e)
	}
	return mass(theta), slope(mass), slope(high)
}

// follow is RK4 of M·θ″ + M′·θ′²/2 = −V′ − c·θ′.
func (l *ownLinkage) follow(x [2]float64, c, h float64, n int) [2]float64 {
	dir := 0.0
	f := func(x [2]float64) [2]float64 {
		m, dm, dv := l.shape(x[0])
		return [2]float64{x[1], -(dm*x[1]*x[1]/2 + dv + c*x[1] - l.torque(x[0], x[1], dir)) / m}
	}
	plus := func(x, k [2]float64, h float64) [2]float64 { return [2]float64{x[0] + h*k[0], x[1] + h*k[1]} }
	for end := h * float64(n); end > 1e-12; {
		step, before := min(h, end), x[1]
		if l.dry > 0 {
			if dir = l.dryDirection(before, func(d float64) float64 { dir = d; return f(x)[1] }); dir == 0 {
				return x
			}
			if math.Abs(before) < 0.5 {
				step = min(step, dryStep)
			}
		}
		k1 := f(x)
		k2 := f(plus(x, k1, step/2))
		k3 := f(plus(x, k2, step/2))
		k4 := f(plus(x, k3, step))
		for i := range x {
			x[i] += step / 6 * (k1[i] + 2*k2[i] + 2*k3[i] + k4[i])
		}
		if l.dry > 0 && x[1]*before < 0 {
			x[1] = 0
		}
		end -= step
	}
	return x
}

// rodOf is a thin rod along x.
func rodOf(mass, long float64) multibody.Inertia {
	i := mass * long * long / 12
	return multibody.Inertia{Mass: mass, Com: r3.Vec{X: long / 2}, I: rotation.Diag(r3.Vec{Y: i, Z: i})}
}

// fourBar is one with the crank a, coupler b, rocker c, base d (m), each of 1 kg a metre, and its angles at θ (absolute).
func fourBar(a, b, c, d, g float64) Spec {
	var s Spec
	s.Gravity = r3.Vec{Y: -g}
	turn := multibody.Joint{Kind: multibody.Revolute}
	s.Bodies = []multibody.Body{
		{Name: "crank", Joint: turn, Inertia: rodOf(a, a)},
		{Name: "coupler", Parent: "crank", Place: multibody.At(a, 0, 0), Joint: turn, Inertia: rodOf(b, b)},
		{Name: "rocker", Place: multibody.At(d, 0, 0), Joint: turn, Inertia: rodOf(c, c)},
	}
	s.Frames = []multibody.Frame{{Name: "p", Body: "coupler", Pose: multibody.At(b, 0, 0)},
		{Name: "q", Body: "rocker", Pose: multibody.At(c, 0, 0)}}
	s.Cuts = []multibody.Cut{{Name: "pin", Kind: multibody.CutPoint, A: "p", B: "q"}}
	return s
}

// changePoint are the angles of coupler and rocker of a four-bar with a + d = b + c. The four-bar is flat at θ = π; the diagonal s from
// the end of the crank to the foot of the rocker is then b + c, and √((b+c)² − s²) = 2·√(a·d)·cos(θ/2) tells the way through
// it.
func changePoint(a, b, c, d, theta float64) (coupler, rocker float64) {
	x, y := d-a*math.Cos(theta), -a*math.Sin(theta) // from the end of the crank to the foot of the rocker
	s := math.Hypot(x, y)
	up := 2 * math.Sqrt(a*d) * math.Cos(theta/2) * math.Sqrt(s*s-(b-c)*(b-c)) / 2 // twice the area of the triangle of s, b, c
	// the joint of coupler and rocker
	along := (s*s + b*b - c*c) / (2 * s)
	px, py := a*math.Cos(theta)+(along*x-up/s*y)/s, a*math.Sin(theta)+(along*y+up/s*x)/s
	return math.Atan2(py-a*math.Sin(theta), px-a*math.Cos(theta)), math.Atan2(py, px-d)
}

// flatCase is a machine that passes flat positions, with its own equations.
type flatCase struct {
	name  string
	spec  Spec
	own   ownLinkage
	start func(theta, rate float64) (q, v []float64) // of the joints
	theta float64                                    // rad
	rate  float64                                    // rad/s
}

func parallelograms(n int, long, mass float64) flatCase {
	var s Spec
	s.Gravity = r3.Vec{Y: -9.81}
	turn := multibody.Joint{Kind: multibody.Revolute}
	for i := range n + 1 {
		p := fmt.Sprint("post", i)
		s.Bodies = append(s.Bodies, multibody.Body{Name: p, Place: multibody.At(float64(i), 0, 0), Joint: turn, Inertia: rodOf(mass, long)})
		s.Frames = append(s.Frames, multibody.Frame{Name: fmt.Sprint("top", i), Body: p, Pose: multibody.At(long, 0, 0)})
	}
	for i := range n {
		b := fmt.Sprint("beam", i)
		s.Bodies = append(s.Bodies, multibody.Body{Name: b, Parent: fmt.Sprint("post", i), Place: multibody.At(long, 0, 0), Joint: turn,
			Inertia: rodOf(1, 1)})
		s.Frames = append(s.Frames, multibody.Frame{Name: fmt.Sprint("end", i), Body: b, Pose: multibody.At(1, 0, 0)})
		s.Cuts = append(s.Cuts, multibody.Cut{Name: fmt.Sprint("pin", i), Kind: multibody.CutPoint, A: fmt.Sprint("end", i),
			B: fmt.Sprint("top", i+1)})
	}
	c := flatCase{name: fmt.Sprint(n, " parallelograms"), spec: s, theta: math.Pi / 2, rate: -1}
	c.own.g = 9.81
	for range n + 1 {
		c.own.rods, c.own.long = append(c.own.rods, mass), append(c.own.long, long)
	}
	for range n {
		c.own.rods, c.own.long = append(c.own.rods, 1), append(c.own.long, 1)
	}
	c.own.pose = func(theta float64) (p [][3]float64) {
		for range n + 1 {
			p = append(p, [3]float64{long / 2 * math.Cos(theta), long / 2 * math.Sin(theta), theta})
		}
		for range n {
			p = append(p, [3]float64{long * math.Cos(theta), long * math.Sin(theta), 0})
		}
		return p
	}
	c.start = func(theta, rate float64) (q, v []float64) {
		for i := range 2*n + 1 {
			sign := 1.0
			if i > n {
				sign = -1
			}
			q, v = append(q, sign*theta), append(v, sign*rate)
		}
		return q, v
	}
	return c
}

func changePoints(a, b, c, d, theta, rate float64) flatCase {
	f := flatCase{name: fmt.Sprintf("four-bar %g %g %g %g", a, b, c, d), spec: fourBar(a, b, c, d, 9.81), theta: theta, rate: rate}
	f.own = ownLinkage{rods: []float64{a, b, c}, long: []float64{a, b, c}, g: 9.81}
	f.own.pose = func(theta float64) [][3]float64 {
		coupler, rocker := changePoint(a, b, c, d, theta)
		ax, ay := a*math.Cos(theta), a*math.Sin(theta)
		return [][3]float64{{ax / 2, ay / 2, theta}, {ax + b/2*math.Cos(coupler), ay + b/2*math.Sin(coupler), coupler},
			{d + c/2*math.Cos(rocker), c / 2 * math.Sin(rocker), rocker}}
	}
	f.start = func(theta, rate float64) (q, v []float64) {
		coupler, rocker := changePoint(a, b, c, d, theta)
		const e = 1e-6
		c1, r1 := changePoint(a, b, c, d, theta+e)
		c0, r0 := changePoint(a, b, c, d, theta-e)
		dc, dr := (c1-c0)/(2*e), (r1-r0)/(2*e)
		return []float64{theta, coupler - theta, rocker}, []float64{rate, (dc - 1) * rate, dr * rate}
	}
	return f
}

// foldingSlider is a slider-crank whose rod is as long as its crank: it folds onto itself.
func foldingSlider(rate float64) flatCase {
	var s Spec
	s.Gravity = r3.Vec{Y: -9.81}
	turn := multibody.Joint{Kind: multibody.Revolute}
	s.Bodies = []multibody.Body{
		{Name: "crank", Joint: turn, Inertia: rodOf(1, 1)},
		{Name: "rod", Parent: "crank", Place: multibody.At(1, 0, 0), Joint: turn, Inertia: rodOf(1, 1)},
		{Name: "slider", Joint: multibody.Joint{Kind: multibody.Prismatic, Axis: r3.Vec{X: 1}}, Inertia: multibody.Inertia{Mass: 1}},
	}
	s.Frames = []multibody.Frame{{Name: "end", Body: "rod", Pose: multibody.At(1, 0, 0)}}
	s.Cuts = []multibody.Cut{{Name: "pin", Kind: multibody.CutPoint, A: "end", B: "slider"}}
	f := flatCase{name: "folding slider-crank", spec: s, theta: 0.5, rate: rate}
	f.own = ownLinkage{rods: []float64{1, 1, 1}, long: []float64{1, 1, 0}, g: 9.81}
	f.own.pose = func(theta float64) [][3]float64 {
		c, s := math.Cos(theta), math.Sin(theta)
		return [][3]float64{{c / 2, s / 2, theta}, {1.5 * c, s / 2, -theta}, {2 * c, 0, 0}}
	}
	f.start = func(theta, rate float64) (q, v []float64) {
		return []float64{theta, -2 * theta, 2 * math.Cos(theta)}, []float64{rate, -2 * rate, -2 * math.Sin(theta) * rate}
	}
	return f
}

func (c *flatCase) stepper(t testing.TB, o StepOptions) (*Stepper, []float64) {
	s := newStepper(t, c.spec, o)
	x := s.NewState()
	q, v, _ := s.M.split(x)
	q0, v0 := c.start(c.theta, c.rate)
	copy(q, q0) // joints of one coordinate, in the order of the bodies
	copy(v, v0)
	if s.M.Model.Bodies() != len(c.spec.Bodies) {
		t.Fatal("bodies")
	}
	for i := range c.spec.Bodies {
		k, err := s.M.Axis(c.spec.Bodies[i].Name)
		if err != nil {
			t.Fatal(err)
		}
		q[s.M.axes[k].iq], v[s.M.axes[k].iv] = q0[i], v0[i]
	}
	a, err := s.Begin(0, x, multibody.Assembly{})
	if err != nil || a.PositionChange > 1e-6 {
		t.Fatal(c.name, a, err)
	}
	return s, x
}

// A linkage that is stepped passes its flat positions, where it could fold over, as its own equations say, with the error of order two
// that it has elsewhere, and keeps its energy.
func TestStepThroughFlatPositions(t *testing.T) {
	const end = 2.0
	for _, c := range []flatCase{
		parallelograms(1, 1, 1), parallelograms(2, 1, 1), parallelograms(4, 1, 1), parallelograms(1, 0.4, 2),
		changePoints(1.2, 2, 2.4, 3.2, 0.4, 4), changePoints(1.2, 2.8, 1.6, 3.2, -0.9, -4), changePoints(2.5, 4.5, 4, 6, 2, 3),
		foldingSlider(4), foldingSlider(-7),
	} {
		own, at := [2]float64{c.theta, c.rate}, 0
		var errs [2]float64
		for i, n := range []int{2000, 4000} {
			s, x := c.stepper(t, StepOptions{Audited: true})
			h := end / float64(n)
			own, at = [2]float64{c.theta, c.rate}, 0
			singular, top := 0, 0.0
			for k := range n {
				if st := s.Step(float64(k)*h, h, x); st != engine.OK {
					t.Fatalf("%s: step %d of %d, θ = %.4f: %v: %s", c.name, k, n, x[0], st, s.StatusText())
				}
				if s.LastStatus == multibody.Singular {
					singular++
				}
				if (k+1)%(n/40) == 0 {
					own = c.own.follow(own, 0, 5e-4, 100)
					at++
					top = math.Max(top, math.Abs(x[0]-own[0]))
				}
			}
			s.Forces(end, h, x)
			errs[i] = top
			t.Logf("%-24s %d steps: θ = %8.4f, off by %.2g rad, energy by %.2g J, over %d, singular %d", c.name, n, x[0], top, s.BalanceError(),
				s.crossing.Passages, singular)
			if s.crossing.Passages < 1 || singular == 0 || top > 4e-5 {
				t.Errorf("%s: %d steps: over %d flat positions, off by %.2g", c.name, n, s.crossing.Passages, top)
			}
		}
		if errs[1] > max(errs[0]/3, 1e-7) { // of less than that the way over the flat position has a share which does not depend on the step
			t.Errorf("%s: off by %.2g at 1 ms and %.2g at half of it: not of order two", c.name, errs[0], errs[1])
		}
	}
}

// A parallelogram that swings about its flat position under gravity along the ground, and is damped, turns round in it and comes to rest
// there.
func TestStepRestsInFlatPosition(t *testing.T) {
	for _, theta := range []float64{2, -0.5, 0.004} {
		c := parallelograms(1, 1, 1)
		c.spec.Gravity = r3.Vec{X: 9.81}
		for i := range c.spec.Bodies {
			if c.spec.Bodies[i].Name == "post0" {
				c.spec.Bodies[i].Joint.Damping = 3
			}
		}
		c.theta, c.rate = theta, 0
		pose := c.own.pose
		c.own.pose = func(theta float64) [][3]float64 {
			p := pose(theta)
			for i := range p {
				p[i][0], p[i][1] = p[i][1], -p[i][0]
			}
			return p
		}
		s, x := c.stepper(t, StepOptions{})
		own := [2]float64{c.theta, c.rate}
		for k := range 4000 {
			if st := s.Step(float64(k)*1e-3, 1e-3, x); st != engine.OK {
				t.Fatalf("from %g: %v: %s", theta, st, s.StatusText())
			}
			if (k+1)%100 == 0 {
				if own = c.own.follow(own, 3, 2e-3, 50); math.Abs(x[0]-own[0]) > 1e-5 || math.Abs(x[3]-own[1]) > 1e-5 {
					t.Fatalf("from %g: %.7f rad after %d ms, want %.7f", theta, x[0], k+1, own[0])
				}
			}
		}
		if s.crossing.Passages == 0 {
			t.Errorf("from %g: no flat position", theta)
		}
	}
}

// A parallelogram may begin in its flat position.
func TestStepFromFlatPosition(t *testing.T) {
	for _, rate := range []float64{-1, 0, 2} {
		c := parallelograms(1, 1, 1)
		c.theta, c.rate = 0, rate
		s, x := c.stepper(t, StepOptions{})
		for k := range 600 {
			if st := s.Step(float64(k)*1e-3, 1e-3, x); st != engine.OK {
				t.Fatalf("%g rad/s: %v: %s", rate, st, s.StatusText())
			}
		}
		if own := c.own.follow([2]float64{0, rate}, 0, 1e-3, 600); math.Abs(x[0]-own[0]) > 1e-5 {
			t.Errorf("%g rad/s: %.7f rad, want %.7f", rate, x[0], own[0])
		}
	}
}

// Four-bars whose coupler is 10 nm to 10 µm too long or too short turn round near the flat position, within a part of a step where it is
// little. Where the step cannot follow, it says so and goes on saying it, the state stays; a new beginning ends that. Until then it moves
// as the equations on the curve of its positions say.
func TestStepLostNearFlatPosition(t *testing.T) {
	for _, off := range []float64{1e-8, -1e-8, 1e-7, -1e-7, 1e-6, -1e-6, 1e-5, -1e-5} {
		c := parallelograms(1, 1, 1)
		for i := range c.spec.Frames {
			if c.spec.Frames[i].Name == "end0" {
				c.spec.Frames[i].Pose = multibody.At(1+off, 0, 0)
			}
		}
		s, x := c.nearly(t)
		bar := ownFourBar{long: [4]float64{1, 1 + off, 1, 1}, rod: [3]float64{1, 1, 1}, g: [2]float64{0, -9.81}}
		own, ok := bar.at(x[0], x[3], true)
		if !ok || math.Abs(math.Remainder(own.phi[2]-x[1], 2*math.Pi))+math.Abs(own.t[2]*own.u-x[4]) > 1e-6 {
			t.Fatal(own, x)
		}
		start, lost := append([]float64(nil), x...), -1
		kept := make([]float64, len(x))
		for k := range 2000 {
			st := s.Step(float64(k)*1e-3, 1e-3, x)
			if lost < 0 && st == engine.OK {
				if own = bar.follow(own, 1e-3); math.Abs(x[0]-own.phi[0]) > 2e-4 {
					t.Fatalf("%g m: step %d: %.7f rad, want %.7f", off, k, x[0], own.phi[0])
				}
			}
			switch {
			case lost < 0 && st != engine.OK:
				lost = k
				copy(kept, x)
			case lost >= 0 && (st != engine.Lost || s.LastStatus != multibody.NotConverged || !slices.Equal(x, kept)):
				t.Fatalf("%g m: lost in step %d, in step %d %v", off, lost, k, st)
			}
		}
		t.Logf("%g m: lost in step %d", off, lost)
		if math.Abs(off) < 2e-7 && (lost < 650 || lost > 750) || lost > 0 && !strings.Contains(s.StatusText(), "singular position") {
			t.Errorf("%g m: lost in step %d: %s", off, lost, s.StatusText())
		}
		s.Resume(0, start)
		if st := s.Step(0, 1e-3, start); st != engine.OK {
			t.Errorf("%g m: begun anew: %v", off, st)
		}
	}
}

// nearly begins where the loop is only nearly closed.
func (c *flatCase) nearly(t testing.TB) (*Stepper, []float64) {
	s := newStepper(t, c.spec, StepOptions{})
	x := s.NewState()
	copy(x, []float64{math.Pi / 2, math.Pi / 2, -math.Pi / 2, -1, -1, 1})
	if _, err := s.Begin(0, x, multibody.Assembly{}); err != nil {
		t.Fatal(err)
	}
	return s, x
}

// Steps over flat positions allocate nothing.
func TestFlatAllocations(t *testing.T) {
	c := parallelograms(2, 1, 1)
	s, x := c.stepper(t, StepOptions{Audited: true})
	k := 0
	if n := testing.AllocsPerRun(3, func() {
		for range 900 {
			if st := s.Step(float64(k)*1e-3, 1e-3, x); st != engine.OK {
				t.Fatal(st, s.StatusText())
			}
			k++
		}
	}); n != 0 || s.crossing.Passages < 1 {
		t.Errorf("%g allocations in 900 steps over %d flat positions", n, s.crossing.Passages)
	}
}
