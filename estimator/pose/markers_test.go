package pose

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/rotation"
)

var unseen = r3.Vec{X: math.NaN(), Y: math.NaN(), Z: math.NaN()}

const markerNoise = 1e-4

func newTracker(t *testing.T, offsets []r3.Vec) *Tracker {
	t.Helper()
	tr, err := NewTracker(Body{Offsets: offsets, Noise: markerNoise, Acceleration: 300})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// damaged runs the paper's motion through damage, which changes the markers of a frame and says whether a pose can be expected. It
// returns the counts and the mean squared errors over their variances.
func damaged(t *testing.T, damage func(k int, w []r3.Vec, rng *rand.Rand) bool) (c Counts, turn, place float64) {
	t.Helper()
	m := load(t, "paper")
	rng := rand.New(rand.NewPCG(8, 8))
	tr := newTracker(t, five)
	w := make([]r3.Vec, len(five))
	last := quat.Number{}
	for k := range m.Rows {
		at, q, x, _, _ := m.at(k)
		expect := damage(k, markers(w, q, x, rng, markerNoise), rng)
		p := tr.Frame(at, w)
		if (p.Verdict == Good) != expect {
			t.Errorf("frame %d: %v, used %05b, χ² %.1f", k, p.Verdict, p.Used, p.Chi2)
		}
		if p.Verdict != Good {
			continue
		}
		d := rotation.Between(q, p.R)
		if rotation.Near(p.R, last) != p.R {
			t.Fatalf("frame %d: the sign of the quaternion turned over", k)
		}
		last = p.R
		turn += mahalanobis(d, p.Turn)
		place += mahalanobis(r3.Sub(p.P, x), p.Place)
	}
	n := 3 * float64(tr.Counts().Good)
	return tr.Counts(), turn / n, place / n
}

// mahalanobis is dᵀ·cov⁻¹·d.
func mahalanobis(d r3.Vec, cov rotation.Matrix) float64 {
	x, ok := cov.SolveSPD(d)
	if !ok {
		return math.Inf(1)
	}
	return r3.Dot(d, x)
}

// expected checks mean squares of errors over their variance: 1 ± 0.029 for 801 poses.
func expected(t *testing.T, turn, place float64) {
	t.Helper()
	if math.Abs(turn-1) > 0.12 || math.Abs(place-1) > 0.12 {
		t.Errorf("mean squared errors over variances: %.3f in turn and %.3f in place, want 1", turn, place)
	}
}

// Undamaged frames: every pose is good, its error what the covariance says.
func TestTrackerClean(t *testing.T) {
	c, turn, place := damaged(t, func(int, []r3.Vec, *rand.Rand) bool { return true })
	if want := (Counts{Frames: 801, Good: 801}); c != want {
		t.Errorf("counts %+v, want %+v", c, want)
	}
	expected(t, turn, place)
}

func TestTrackerDropouts(t *testing.T) {
	missing, few := 0, 0
	c, turn, place := damaged(t, func(k int, w []r3.Vec, rng *rand.Rand) bool {
		n := 0
		if k%4 == 1 {
			n = 1 + k/4%3 // one to three of five are not seen
		}
		for _, i := range rng.Perm(5)[:n] {
			w[i] = unseen
		}
		missing += n
		if n == 3 {
			few++
		}
		return n < 3
	})
	if c.Missing != missing || c.TooFew != few || c.Good != 801-few || c.Outliers+c.Swaps+c.Misfit != 0 {
		t.Errorf("counts %+v, want %d missing, %d too few", c, missing, few)
	}
	expected(t, turn, place)
}

func TestTrackerOutliers(t *testing.T) {
	outliers := 0
	c, turn, place := damaged(t, func(k int, w []r3.Vec, rng *rand.Rand) bool {
		if k%5 == 2 {
			n := 1 + k/5%2
			for _, i := range rng.Perm(5)[:n] {
				w[i] = r3.Add(w[i], r3.Scale(0.004+0.1*rng.Float64(), r3.Unit(r3.Vec{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()})))
			}
			outliers += n
		}
		return true
	})
	if c.Outliers != outliers || c.Good != 801 {
		t.Errorf("counts %+v, want %d outliers", c, outliers)
	}
	expected(t, turn, place)
}

func TestTrackerSwaps(t *testing.T) {
	swaps := 0
	c, turn, place := damaged(t, func(k int, w []r3.Vec, rng *rand.Rand) bool {
		if k%5 == 2 {
			p := rng.Perm(5)
			w[p[0]], w[p[1]] = w[p[1]], w[p[0]]
			swaps++
			if k%2 == 0 {
				w[p[2]] = unseen
			}
		}
		return true
	})
	if c.Swaps != swaps || c.Outliers != 0 || c.Good != 801 {
		t.Errorf("counts %+v, want %d swaps", c, swaps)
	}
	expected(t, turn, place)
}

// Two markers of an isosceles triangle may be exchanged without any residual: the turn of the last frames tells.
func TestTrackerSymmetricSwap(t *testing.T) {
	body := []r3.Vec{{X: 0.03}, {X: -0.015, Y: 0.02}, {X: -0.015, Y: -0.02}}
	tr := newTracker(t, body)
	rng := rand.New(rand.NewPCG(5, 5))
	w := make([]r3.Vec, 3)
	for k := range 400 {
		q := rotation.Exp(r3.Vec{X: 0.02 * float64(k), Z: 0.01 * float64(k)})
		for i, b := range body {
			w[i] = r3.Add(rotation.Rotate(q, b), r3.Vec{X: markerNoise * rng.NormFloat64(), Y: markerNoise * rng.NormFloat64(), Z: markerNoise * rng.NormFloat64()})
		}
		if k%7 == 6 {
			w[1], w[2] = w[2], w[1]
		}
		p := tr.Frame(0.005*float64(k), w)
		if d := r3.Norm(rotation.Between(q, p.R)); p.Verdict != Good || d > 0.05 || (p.Swapped != 0) != (k%7 == 6) {
			t.Fatalf("frame %d: %v, %.3f rad off, labels mended %03b", k, p.Verdict, d, p.Swapped)
		}
	}
}

// Frames that no labelling explains are refused, whatever the number of markers, and a body that really jumped is followed.
func TestTrackerMisfitAndJump(t *testing.T) {
	tr := newTracker(t, five)
	if p := tr.Frame(0, []r3.Vec{{X: 1}, {Y: 2}, {Z: 3}, {X: 4, Y: 1}, {Y: 5, Z: 2}}); p.Verdict != Misfit || p.Rms < 0.1 {
		t.Errorf("another body: %v, rms %g m", p.Verdict, p.Rms)
	}
	if p := tr.Frame(0.01, []r3.Vec{{X: 1}, {Y: 2}, {Z: 3}, unseen, unseen}); p.Verdict != Misfit {
		t.Errorf("three markers of another body: %v", p.Verdict)
	}
	w := make([]r3.Vec, 5)
	rng := rand.New(rand.NewPCG(1, 1))
	for k, angle := range []float64{0, 0, 0, 1, 1, 1} {
		want := Good
		if k == 3 {
			want = Jump
		}
		p := tr.Frame(1+0.005*float64(k), markers(w, rotation.Exp(r3.Vec{Z: angle}), r3.Vec{}, rng, markerNoise))
		if k == 4 { // it stands still again, after a turn of 1 rad in 5 ms
			want = Jump
		}
		if p.Verdict != want || math.Abs(rotation.Log(p.R).Z-angle) > 0.02 {
			t.Errorf("frame %d: %v at %.3f rad, want %v at %g", k, p.Verdict, rotation.Log(p.R).Z, want, angle)
		}
	}
	if c := tr.Counts(); c.Misfit != 2 || c.Jump != 2 {
		t.Errorf("counts %+v, want two misfits and two jumps", c)
	}
}

func TestBodyRefused(t *testing.T) {
	line := []r3.Vec{{X: 0.01}, {X: 0.02}, {X: 0.05}}
	bent := func(y float64) []r3.Vec { return []r3.Vec{{X: 0.01}, {X: 0.03, Y: y}, {X: 0.05}} }
	for _, c := range []struct {
		name    string
		body    Body
		message string // empty: accepted
	}{
		{"two markers", Body{five[:2], 1e-4, 100}, "want 3 to 32"},
		{"three markers", Body{five[:3], 1e-4, 100}, ""},
		{"33 markers", Body{make([]r3.Vec, 33), 1e-4, 100}, "want 3 to 32"},
		{"markers on a line", Body{line, 1e-4, 100}, "from one line"},
		{"0.6 mm off a line", Body{bent(6e-4), 1e-4, 100}, "from one line"},
		{"1.2 mm off a line", Body{bent(1.2e-3), 1e-4, 100}, ""},
		{"no noise", Body{five, 0, 100}, "noise"},
		{"no acceleration", Body{five, 1e-4, 0}, "acceleration"},
	} {
		_, err := NewTracker(c.body)
		if c.message == "" && err != nil || c.message != "" && (err == nil || !strings.Contains(err.Error(), c.message)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.message)
		}
	}
	// of a body that is well spread, only markers on a line are seen
	tr := newTracker(t, append([]r3.Vec{{Y: 0.03}, {Z: 0.03}}, line...))
	if p := tr.Frame(0, append([]r3.Vec{unseen, unseen}, line...)); p.Verdict != Collinear {
		t.Errorf("markers on a line: %v", p.Verdict)
	}
	if p := tr.Frame(0, nil); p.Verdict != TooFew {
		t.Errorf("no markers: %v", p.Verdict)
	}
}

func TestTrackerAllocates(t *testing.T) {
	tr := newTracker(t, five)
	rng := rand.New(rand.NewPCG(1, 1))
	w := markers(make([]r3.Vec, 5), rotation.Identity, r3.Vec{}, rng, markerNoise)
	bad := append([]r3.Vec{}, w...)
	bad[1], bad[3] = bad[3], bad[1]
	if n := testing.AllocsPerRun(100, func() {
		tr.Frame(0, w)
		tr.Frame(0, bad)
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// The bounds are those of scipy.stats.chi2.isf(6.334e-5, dof).
func TestChi2Bound(t *testing.T) {
	for dof, want := range map[int]float64{3: 22.0614, 6: 28.9075, 9: 34.8494, 15: 45.5211} {
		if got := chi2Bound(dof); got < want || got > 1.04*want {
			t.Errorf("%d degrees of freedom: %.3f, want %.3f to 4 %% more", dof, got, want)
		}
	}
}
