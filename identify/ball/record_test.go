package ball

import (
	"encoding/csv"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/plant/ball"
	"hilrig/engine/rotation"
)

// fiveMarkers lie inside the shell, 25 to 30 mm from the centre.
var fiveMarkers = []r3.Vec{
	{X: 0.025, Y: 0.005, Z: 0.008}, {X: -0.012, Y: 0.024, Z: -0.002}, {X: -0.014, Y: -0.022, Z: 0.006}, {X: 0.004, Y: -0.006, Z: -0.027},
	{X: 0.008, Y: 0.01, Z: 0.025},
}

const testHeight = 0.012 // m  of the plane in the frame of the cameras

// track is a motion without noise: pose by frame.
type track struct {
	t []float64
	p []pose
}

// scipy reads a motion of testdata/motions.py, as far as until (s).
func scipy(t testing.TB, name string, until float64) (m track) {
	t.Helper()
	file, err := os.Open("testdata/" + name + ".csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines[1:] {
		var v [7]float64
		for k := range v {
			if v[k], err = strconv.ParseFloat(line[k], 64); err != nil {
				t.Fatal(err)
			}
		}
		if v[0] <= until {
			m.t = append(m.t, v[0])
			m.p = append(m.p, pose{quat.Number{Real: v[1], Imag: v[2], Jmag: v[3], Kmag: v[4]}, v[5], v[6]})
		}
	}
	return m
}

// simulated is a motion of the plant at 200 Hz: for runs that slip.
func simulated(t testing.TB, p ball.Params, s ball.State, until float64) (m track) {
	t.Helper()
	model, err := ball.New(p)
	if err != nil {
		t.Fatal(err)
	}
	model.Place(&s)
	for k := 0; float64(k)*0.005 <= until; k++ {
		m.t, m.p = append(m.t, float64(k)*0.005), append(m.p, pose{s.Q, s.X, s.Y})
		model.Step(0.005, &s)
	}
	return m
}

// recorded are the markers as cameras with noise (m) see them.
func recorded(m track, noise float64, seed uint64) *Recording {
	rng := rand.New(rand.NewPCG(seed, 17))
	r := &Recording{Times: m.t}
	for _, p := range m.p {
		points, visible := make([]r3.Vec, len(fiveMarkers)), make([]bool, len(fiveMarkers))
		for j, b := range fiveMarkers {
			at := r3.Add(r3.Vec{X: p.x, Y: p.y, Z: 0.035 + testHeight}, rotation.Rotate(p.q, b))
			points[j] = r3.Add(at, r3.Scale(noise, r3.Vec{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}))
			visible[j] = true
		}
		r.Points, r.Visible = append(r.Points, points), append(r.Visible, visible)
	}
	return r
}

// guess is the paper's body with friction unknown.
func guess() ball.Params {
	p := ball.Paper()
	p.Roll, p.Spin = ball.Friction{}, ball.Friction{}
	return p
}
