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

// Both schemes go to the same limit. At 20 µs the end of the step, with θ = ½, stays within an eighth of the middle.
func TestSoakEndOfStep(t *testing.T) {
	for _, l := range []float64{0.032, 0.012} {
		middle, _ := seeds(t, 1, 16, RunOptions{}, length(l))
		end := RunOptions{}
		end.EndOfStep = true
		coarse, _ := seeds(t, 1, 16, end, length(l))
		within(t, "end of step over middle: mean |dphi/dt|", coarse["mean_rate"].mean/middle["mean_rate"].mean-1, -0.12, 0.12)
		fine := RunOptions{Time: 1}
		fine.Step, fine.EndOfStep = 2e-6, true
		limit, _ := seeds(t, 1, 8, fine, length(l))
		end.Time = 1
		short, _ := seeds(t, 1, 8, end, length(l))
		within(t, "end of step, 20 µs over 2 µs: mean |dphi/dt|", short["mean_rate"].mean/limit["mean_rate"].mean-1, -0.08, 0.08)
		t.Logf("penetration %.3g and %.3g m, loss %.3f and %.3f", middle["face_penetration"].mean, coarse["face_penetration"].mean,
			middle["loss"].mean, coarse["loss"].mean)
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
