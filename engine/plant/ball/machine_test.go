package ball_test

import (
	"math"
	"strings"
	"testing"

	"hilrig/engine"
	"hilrig/engine/plant/ball"
)

const frame = 5e-3 // s

// seenBall is the body of the source that leans and turns in front of a camera.
func seenBall(change func(*ball.MachineSpec)) ball.MachineSpec {
	s := ball.MachineSpec{Params: ball.Paper(), Seed: 3}
	s.Start = ball.Start{Orientation: [4]float64{math.Cos(0.4), math.Sin(0.4), 0, 0}, Velocity: [3]float64{1, 2, 2.5}}
	s.Camera = ball.Camera{Markers: ball.OnSurface(0.035)}
	if change != nil {
		change(&s)
	}
	return s
}

// film takes frames of a machine and calls do after each.
func film(t *testing.T, s ball.MachineSpec, frames int, do func(k int, y []float64)) {
	t.Helper()
	m, err := ball.NewMachine(s)
	if err != nil {
		t.Fatal(err)
	}
	x, y := m.NewState(), make([]float64, len(m.Layout().Outputs))
	for k := range frames {
		if st := m.Step(frame, x, nil, y); st != engine.OK {
			t.Fatalf("frame %d: %v", k, st)
		}
		do(k, y)
	}
}

// Without noise the camera sees what is true, and the markers are on the sphere about the centre.
func TestCameraSeesTheBall(t *testing.T) {
	film(t, seenBall(nil), 400, func(k int, y []float64) {
		worst := math.Hypot(y[ball.OutSeenX]-y[ball.OutX], y[ball.OutSeenY]-y[ball.OutY]) + math.Abs(y[ball.OutSeenZ]-0.035) + y[ball.OutSeenError]
		dot := 0.0
		for i := range 4 {
			dot += y[ball.OutQW+i] * y[ball.OutSeenQW+i]
		}
		worst += 1 - math.Abs(dot)
		if !(worst < 1e-12) || y[ball.OutSeenMissing] != 0 || y[ball.OutSeenQW] < 0 {
			t.Fatalf("frame %d: %g off", k, worst)
		}
		for at := ball.OutMarkers; at < len(y); at += 3 {
			if d := math.Hypot(math.Hypot(y[at]-y[ball.OutX], y[at+1]-y[ball.OutY]), y[at+2]-0.035); math.Abs(d-0.035) > 1e-12 {
				t.Fatalf("frame %d: a marker %g m from the centre", k, d)
			}
		}
	})
}

// Six of the 3·n coordinates go into the pose: E Σ|residual|² = σ²·(3n − 6), and the mean of the markers has σ²/n.
func TestCameraNoise(t *testing.T) {
	const sd, n, frames = 1e-4, 5, 4000
	sum, centre := 0.0, 0.0
	film(t, seenBall(func(s *ball.MachineSpec) { s.Camera.Noise = sd }), frames, func(_ int, y []float64) {
		sum += n * y[ball.OutSeenError] * y[ball.OutSeenError]
		mean := 0.0
		for k := range n {
			mean += y[ball.OutMarkers+3*k+1] / n
		}
		// markers at equal weight: their mean moves by its noise alone between a frame and the rigid body in it
		rigid := 0.0
		for _, b := range ball.OnSurface(0.035) {
			rigid += turned(y[ball.OutQW:ball.OutQZ+1], b)[1] / n
		}
		centre += sq(mean - rigid - y[ball.OutY])
	})
	dof := float64(frames * (3*n - 6))
	if got := sum / (sd * sd); math.Abs(got-dof) > 4*math.Sqrt(2*dof) {
		t.Errorf("residuals of %g σ², want %g", got, dof)
	}
	if got := centre * n / (sd * sd); math.Abs(got-frames) > 4*math.Sqrt(2*frames) {
		t.Errorf("the mean of the markers scatters by %g σ²/n, want %d", got, frames)
	}
}

func sq(x float64) float64 { return x * x }

// turned is q·b·q* by its matrix.
func turned(q []float64, b [3]float64) (p [3]float64) {
	w, x, y, z := q[0], q[1], q[2], q[3]
	for i, row := range [3][3]float64{{1 - 2*(y*y+z*z), 2 * (x*y - w*z), 2 * (x*z + w*y)},
		{2 * (x*y + w*z), 1 - 2*(x*x+z*z), 2 * (y*z - w*x)}, {2 * (x*z - w*y), 2 * (y*z + w*x), 1 - 2*(x*x+y*y)}} {
		p[i] = row[0]*b[0] + row[1]*b[1] + row[2]*b[2]
	}
	return p
}

// Shares are those of the frames, within four standard deviations of a binomial count.
func TestCameraShares(t *testing.T) {
	const frames = 4000
	count := func(change func(*ball.Camera), of func(y []float64) int) (n int) {
		film(t, seenBall(func(s *ball.MachineSpec) { change(&s.Camera) }), frames, func(_ int, y []float64) { n += of(y) })
		return n
	}
	near := func(what string, got int, tries, share float64) {
		t.Helper()
		if math.Abs(float64(got)-tries*share) > 4*math.Sqrt(tries*share*(1-share)) {
			t.Errorf("%s: %d of %g, want a share of %g", what, got, tries, share)
		}
	}
	missing := func(y []float64) int { return int(y[ball.OutSeenMissing]) }
	bad := func(y []float64) (n int) {
		if y[ball.OutSeenError] > 1e-3 {
			n++
		}
		return n
	}
	near("lost", count(func(c *ball.Camera) { c.Dropout = 0.1 }, missing), frames, 0.1)
	near("hidden", count(func(c *ball.Camera) { c.Hidden = 0.2 }, func(y []float64) (n int) {
		for at := ball.OutMarkers; at < len(y); at += 3 {
			if math.IsNaN(y[at]) != math.IsNaN(y[at+1]+y[at+2]) {
				t.Fatal("half a marker")
			}
			if math.IsNaN(y[at]) {
				n++
			}
		}
		return n
	}), 5*frames, 0.2)
	// fewer than three of five are seen with a probability of Σ_{k<3} C(5,k)·0.5⁵ = 16/32
	near("too few", count(func(c *ball.Camera) { c.Hidden = 0.5 }, missing), frames, 0.5)
	near("swapped", count(func(c *ball.Camera) { c.Swapped = 0.05 }, bad), frames, 0.05)
	near("swapped and refused", count(func(c *ball.Camera) { c.Swapped, c.MaxError = 0.05, 1e-3 }, missing), frames, 0.05)
	if n := count(func(c *ball.Camera) { c.Swapped, c.MaxError = 0.05, 1e-3 }, bad); n > 0 {
		t.Errorf("%d poses of exchanged labels are reported", n)
	}
	if n := count(func(c *ball.Camera) { c.Dropout = 1 }, missing); n != frames {
		t.Errorf("%d of %d frames without a pose", n, frames)
	}
}

// A trial begins every second, with nothing seen in the last 100 ms before: 19 of 200 frames, the 200th is the new start.
func TestTrialsRepeat(t *testing.T) {
	var first [ball.OutTrial]float64
	film(t, seenBall(func(s *ball.MachineSpec) { s.Start.RestartPeriod, s.Start.Unseen = 1, 0.1 }), 1000, func(k int, y []float64) {
		n := k + 1 // frames since the start
		if want := float64(1 + n/200); y[ball.OutTrial] != want {
			t.Fatalf("frame %d: trial %g, want %g", k, y[ball.OutTrial], want)
		}
		if want := n%200 > 180; (y[ball.OutSeenMissing] == 1) != want || math.IsNaN(y[ball.OutSeenX]) != want {
			t.Fatalf("frame %d: seen %v", k, !want)
		}
		if n%200 == 50 {
			if n == 50 {
				copy(first[:], y)
			}
			for i := range first {
				if math.Abs(y[i]-first[i]) > 1e-12*(1+math.Abs(first[i])) {
					t.Fatalf("frame %d: output %d is %g, in the first trial %g", k, i, y[i], first[i])
				}
			}
		}
	})
}

func TestMachineSameSeed(t *testing.T) {
	record := func(seed uint64) (all []float64) {
		film(t, seenBall(func(s *ball.MachineSpec) { s.Seed, s.Camera.Noise, s.Camera.Hidden = seed, 1e-4, 0.1 }), 50, func(_ int, y []float64) {
			all = append(all, y[ball.OutSeenX])
		})
		return all
	}
	same, one, two := 0, record(1), record(2)
	for k, x := range record(1) {
		if x != one[k] && x == x {
			t.Fatalf("frame %d differs with the same seed", k)
		}
		if x == two[k] {
			same++
		}
	}
	if same > 0 {
		t.Errorf("%d frames are equal with another seed", same)
	}
}

func TestMachineStepAllocs(t *testing.T) {
	m, err := ball.NewMachine(seenBall(func(s *ball.MachineSpec) { s.Camera.Noise, s.Camera.Hidden, s.Camera.Swapped = 1e-4, 0.1, 0.5 }))
	if err != nil {
		t.Fatal(err)
	}
	x, y := m.NewState(), make([]float64, len(m.Layout().Outputs))
	if n := testing.AllocsPerRun(200, func() { m.Step(frame, x, nil, y) }); n != 0 {
		t.Errorf("%g allocations per step", n)
	}
}

func TestMachineRefuses(t *testing.T) {
	for _, c := range []struct {
		change func(*ball.MachineSpec)
		want   string // "": it is taken
	}{
		{nil, ""},
		{func(s *ball.MachineSpec) { s.Params.Mass = -1 }, "body: mass: -1 kg, want > 0"},
		{func(s *ball.MachineSpec) { s.Start.Orientation = [4]float64{} }, "start: orientation: a quaternion of length 0, want 1"},
		{func(s *ball.MachineSpec) { s.Start.Orientation = [4]float64{0.998, 0, 0, 0} }, "length 0.998"},
		{func(s *ball.MachineSpec) { s.Start.Orientation = [4]float64{0.9995, 0, 0, 0} }, ""},
		{func(s *ball.MachineSpec) { s.Start.Velocity[1] = math.NaN() }, "start: NaN"},
		{func(s *ball.MachineSpec) { s.Start.RestartPeriod = -1 }, "start: every"},
		{func(s *ball.MachineSpec) { s.Start.RestartPeriod, s.Start.Unseen = 1, 1 }, "start: unseen: 1 s, want less than"},
		{func(s *ball.MachineSpec) { s.Start.RestartPeriod, s.Start.Unseen = 1, 0.99 }, ""},
		{func(s *ball.MachineSpec) { s.Camera.Markers = s.Camera.Markers[:2] }, "camera: markers: 2, want 3 to 16"},
		{func(s *ball.MachineSpec) { s.Camera.Markers = s.Camera.Markers[:3] }, ""},
		{func(s *ball.MachineSpec) { s.Camera.Markers = make([][3]float64, ball.MaxMarkers+1) }, "camera: markers: 17"},
		{func(s *ball.MachineSpec) { s.Camera.Markers = [][3]float64{{0.01}, {0.02}, {0.03}} }, "they lie on a line"},
		{func(s *ball.MachineSpec) { s.Camera.Markers[1][0] = 35 }, "camera: markers[1]: 35 m from the centre"},
		{func(s *ball.MachineSpec) { s.Camera.Noise = -1 }, "camera: noise"},
		{func(s *ball.MachineSpec) { s.Camera.Hidden = 1.01 }, "camera: hidden: 1.01, want 0 to 1"},
		{func(s *ball.MachineSpec) { s.Camera.Dropout = math.NaN() }, "camera: lost"},
	} {
		switch _, err := ball.NewMachine(seenBall(c.change)); {
		case c.want == "" && err != nil:
			t.Error(err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
