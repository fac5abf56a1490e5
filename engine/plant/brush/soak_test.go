//go:build soak

package brush

import (
	"testing"
)

// Full length: 2 s of brush time, as many seeds and runs as the source and the bars ask for.

func TestSoakNewAndWorn(t *testing.T) {
	for _, from := range []int{1, 101} {
		t.Logf("seeds from %d", from)
		newAndWorn(t, from, 16, RunOptions{})
	}
}

func TestSoakHalfTheStep(t *testing.T) {
	halfStep(t, 1, 16, 2, 20e-6, 0.05, 0.032, 0.012)
}

func TestSoakTwoMicroseconds(t *testing.T) {
	for _, l := range []float64{0.032, 0.012} {
		coarse, _ := seeds(t, 1, 8, RunOptions{Time: 1}, length(l))
		opt := RunOptions{Time: 1}
		opt.Step = 2e-6
		fine, _ := seeds(t, 1, 8, opt, length(l))
		within(t, "20 µs over 2 µs: mean |dphi/dt|", coarse["mean_rate"].mean/fine["mean_rate"].mean-1, -0.08, 0.08)
	}
}

// Both schemes go to the same limit, from either side: at 20 µs the middle of the step gives up to a twentieth too much motion, the end of it
// up to a twelfth too little. Each is held against 2 µs; the difference between them, 13 % new and 8 % worn, is shown.
func TestSoakEndOfStep(t *testing.T) {
	for _, l := range []float64{0.032, 0.012} {
		fine := RunOptions{Time: 1}
		fine.Step, fine.EndOfStep = 2e-6, true
		limit, _ := seeds(t, 1, 8, fine, length(l))
		end := RunOptions{Time: 1}
		end.EndOfStep = true
		middle, _ := seeds(t, 1, 8, RunOptions{Time: 1}, length(l))
		coarse, _ := seeds(t, 1, 8, end, length(l))
		within(t, "end of the step, 20 µs over 2 µs: mean |dphi/dt|", coarse["mean_rate"].mean/limit["mean_rate"].mean-1, -0.12, 0.12)
		within(t, "middle of the step at 20 µs over its end at 2 µs", middle["mean_rate"].mean/limit["mean_rate"].mean-1, -0.12, 0.12)
		t.Logf("end over middle at 20 µs %.3f; penetration %.3g and %.3g m, loss %.3f and %.3f", coarse["mean_rate"].mean/middle["mean_rate"].mean-1,
			middle["face_penetration"].mean, coarse["face_penetration"].mean, middle["loss"].mean, coarse["loss"].mean)
	}
}

func TestSoakLength(t *testing.T) {
	for _, seed := range []uint64{1, 2} {
		lengths(t, 240, seed, RunOptions{}, -0.6)
	}
}

func TestSoakStiffness(t *testing.T) {
	for _, seed := range []uint64{1, 2, 3, 4} {
		stiffness(t, 69, seed, RunOptions{}, [3]float64{0.3, 0.5, 0.8})
	}
}
