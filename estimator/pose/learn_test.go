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

// recorded are the markers of the paper's motion, with exchanged labels in every 20th frame and dropouts in every 15th.
func recorded(t *testing.T, m *motion, offset r3.Vec) [][]r3.Vec {
	t.Helper()
	rng := rand.New(rand.NewPCG(6, 6))
	var out [][]r3.Vec
	for k := range m.Rows {
		_, q, p, _, _ := m.at(k)
		w := markers(make([]r3.Vec, len(five)), q, r3.Add(p, offset), rng, markerNoise)
		switch {
		case k%20 == 7:
			w[1], w[4] = w[4], w[1]
		case k%15 == 3:
			w[2] = unseen
		}
		out = append(out, w)
	}
	return out
}

// The shape is that of the markers, the noise that of the coordinates, and the point whose height stays is the centre of the ball.
func TestLearnBody(t *testing.T) {
	m := load(t, "paper")
	frames := recorded(t, m, r3.Vec{X: 1, Z: 0.4})
	l, err := LearnBody(frames)
	if err != nil {
		t.Fatal(err)
	}
	f, err := rotation.Align(l.Offsets, five, nil)
	if err != nil || f.Rms > 2e-5 {
		t.Errorf("shape: rms %g m off, %v", f.Rms, err)
	}
	if math.Abs(l.Noise/markerNoise-1) > 0.03 {
		t.Errorf("noise %g m, want %g", l.Noise, markerNoise)
	}
	if l.Refused < 40 || l.Refused > 45 || l.Used+l.Refused+l.Partial != len(frames) {
		t.Errorf("%d used, %d refused, %d partial of %d; 40 or 41 have exchanged labels", l.Used, l.Refused, l.Partial, len(frames))
	}

	tr := newTracker(t, l.Offsets)
	var r []quat.Number
	var p []r3.Vec
	for k, w := range frames {
		if x := tr.Frame(0.005*float64(k), w); x.Verdict == Good {
			r, p = append(r, x.R), append(p, x.P)
		}
	}
	c, err := FindCentre(r, p)
	if err != nil {
		t.Fatal(err)
	}
	// f takes the learnt axes to those of the ball, whose centre is at zero
	off := r3.Add(rotation.Rotate(f.R, c.At), f.P)
	if r3.Norm(off) > 6*r3.Norm(c.Error) || r3.Norm(off) > 5e-5 || math.Abs(c.Height-radius-0.4) > 5e-5 {
		t.Errorf("centre %v ± %v off, height %g", off, c.Error, c.Height)
	}
}

func TestLearnBodyRefuses(t *testing.T) {
	m := load(t, "paper")
	frames := recorded(t, m, r3.Vec{})
	line := make([][]r3.Vec, 100)
	for k := range line {
		line[k] = []r3.Vec{{}, {X: 1}, {X: 2}}
	}
	ragged := append([][]r3.Vec{}, frames[:30]...)
	ragged[12] = ragged[12][:4]
	for name, c := range map[string]struct {
		frames [][]r3.Vec
		want   string
	}{
		"nothing": {nil, "at least three markers"}, "two markers": {[][]r3.Vec{five[:2]}, "at least three markers"},
		"19 frames": {frames[:19], "at least 20"}, "ragged": {ragged, "frame 12 has 4 markers"}, "on a line": {line, "line"},
	} {
		if _, err := LearnBody(c.frames); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	// whole frames without exchanged labels: 20 of the first 23
	if _, err := LearnBody(frames[:25]); err != nil {
		t.Errorf("25 frames: %v", err)
	}

	var r []quat.Number
	var p []r3.Vec
	for k := range 200 {
		r, p = append(r, rotation.Exp(r3.Vec{X: 0.01 * float64(k)})), append(p, r3.Vec{})
	}
	if _, err := FindCentre(r, p); err == nil || !strings.Contains(err.Error(), "more than one axis") {
		t.Errorf("a roll about one axis: %v", err)
	}
	if _, err := FindCentre(r[:7], p[:7]); err == nil {
		t.Error("7 poses: accepted")
	}
}

// Points in any order, two of them no markers, and markers that are not seen.
func TestTrackerUnlabelled(t *testing.T) {
	m := load(t, "paper")
	rng := rand.New(rand.NewPCG(3, 1))
	tr := newTracker(t, five)
	w := make([]r3.Vec, len(five))
	for k := range 200 {
		at, q, x, _, _ := m.at(k)
		pts := append([]r3.Vec{}, markers(w, q, x, rng, markerNoise)...)
		seen := 5 - k%3 // at least three
		pts = pts[:seen]
		for range 2 {
			pts = append(pts, r3.Add(x, r3.Vec{X: 0.05 * rng.NormFloat64(), Y: 0.05 * rng.NormFloat64(), Z: 0.05 * rng.NormFloat64()}))
		}
		rng.Shuffle(len(pts), func(i, j int) { pts[i], pts[j] = pts[j], pts[i] })
		p := tr.Unlabelled(at, pts)
		if d := r3.Norm(rotation.Between(q, p.R)); p.Verdict != Good || d > 0.03 || p.Count < seen {
			t.Errorf("frame %d with %d markers: %v, %d used, %.3f rad off", k, seen, p.Verdict, p.Count, d)
		}
	}
	if p := tr.Unlabelled(2, []r3.Vec{{X: 1}, {Y: 2}, {Z: 3}}); p.Verdict != Misfit {
		t.Errorf("points of no body: %v", p.Verdict)
	}
	if p := tr.Unlabelled(2, []r3.Vec{{X: 1}, {Y: 2}, unseen}); p.Verdict != TooFew {
		t.Errorf("two points: %v", p.Verdict)
	}
}
