package simulate

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hilrig/configs"
	"hilrig/engine"
)

// lineOfBalls moves three balls of 0.02 m on a line from collision to collision with restitution one half, until end (s).
func lineOfBalls(x, v, m [3]float64, end float64) [3]float64 {
	for t, n := 0.0, 0; n < 1000; n++ {
		next, at := end-t, -1
		for i := range 2 {
			if closing := v[i] - v[i+1]; closing > 1e-9 {
				if d := max(x[i+1]-x[i]-0.02, 0) / closing; d < next {
					next, at = d, i
				}
			}
		}
		for i := range x {
			x[i] += v[i] * next
		}
		if t += next; at < 0 {
			break
		}
		p := 1.5 * (v[at] - v[at+1]) / (1/m[at] + 1/m[at+1])
		v[at], v[at+1] = v[at]-p/m[at], v[at+1]+p/m[at+1]
	}
	return x
}

// Three balls whose blows come from a hundredth of a step to ten steps apart, in either direction: a run that ends elsewhere than blow
// after blow has it says so, and of the runs that are right few do.
func TestBlowsCloseTogetherAreRightOrSaid(t *testing.T) {
	wrong, said, falsely, runs := 0, 0, 0, 0
	for _, middle := range []float64{0.01, 0.2, 5} {
		for k := range 8 {
			for _, side := range []float64{1, -1} {
				later := []float64{1e-6, 5e-6, 2e-5, 4e-5, 8e-5, 1.5e-4, 4e-4, 1e-3}[k] // s
				first := 0.01042
				x, v, m := [3]float64{}, [3]float64{3, 1, 0}, [3]float64{1, middle, 1}
				x[1] = 0.02 + 2*first
				x[2] = x[1] + 0.02 + first + later
				var bodies []string
				for i := range 3 {
					bodies = append(bodies, fmt.Sprintf(`{"name": "b%d", "shape": "disc", "radius": 0.01, "mass": %g,
						"position": [%.17g, 0], "velocity": [%g, 0]}`, i, m[i], side*x[i], side*v[i]))
				}
				path := filepath.Join(t.TempDir(), "balls.json")
				file := fmt.Sprintf(`{"version": 1, "name": "balls", "system": "scene",
					"scene": {"gravity": [0, 0], "bodies": [%s],
					"pairs": [{"a": "b0", "b": "b1", "eps_n": 0.5}, {"a": "b1", "b": "b2", "eps_n": 0.5}]},
					"duration": 0.02, "engine": {"kind": "fixed-step", "step": 1e-4}, "outputs": {"every": 1e-3}}`, strings.Join(bodies, ", "))
				if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
					t.Fatal(err)
				}
				cfg, _, err := configs.LoadContactRun(path)
				if err != nil {
					t.Fatal(err)
				}
				s, err := contactRunOf(context.Background(), path, cfg)
				if err != nil {
					t.Fatal(err)
				}
				want, off := lineOfBalls(x, v, m, 0.02), 0.0
				for i := range 3 {
					off = max(off, math.Abs(side*s.q[3*i]-want[i]))
				}
				says := strings.Join(s.notes(), "; ")
				runs++
				switch {
				case off > 5e-4 && says == "":
					t.Errorf("middle %g kg, %g s apart, side %g: %g m off without a word", middle, later, side, off)
				case off > 5e-4:
					wrong, said = wrong+1, said+1
				case says != "":
					falsely++
				}
			}
		}
	}
	t.Logf("%d runs, %d wrong, %d of them said, %d right and said", runs, wrong, said, falsely)
	if said == 0 || falsely > runs/8 {
		t.Errorf("%d runs: %d wrong and said, %d right and said", runs, said, falsely)
	}
}

// runOf runs a file of bodies in contact.
func runOf(t *testing.T, file string) *contactRun {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.json")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, _, err := configs.LoadContactRun(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := contactRunOf(context.Background(), path, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A run that is too long to be repeated says until when it was: two pairs of balls that meet in one step, far from each other.
func TestLongRunsAreRepeatedInPart(t *testing.T) {
	defer func(limit int64) { finerWork = limit }(finerWork)
	finerWork = 30_000 // 7.5 s of this run
	const file = `{"version": 1, "name": "pairs", "system": "scene", "scene": {"gravity": [0, 0], "bodies": [
		{"name": "a", "shape": "disc", "radius": 0.01, "mass": 1, "position": [0, 0], "velocity": [1, 0]},
		{"name": "b", "shape": "disc", "radius": 0.01, "mass": 1, "position": [0.03, 0]},
		{"name": "c", "shape": "disc", "radius": 0.01, "mass": 1, "position": [0, 9], "velocity": [1, 0]},
		{"name": "d", "shape": "disc", "radius": 0.01, "mass": 1, "position": [0.03, 9]}],
		"pairs": [{"a": "a", "b": "b", "eps_n": 0.5}, {"a": "c", "b": "d", "eps_n": 0.5}]},
		"duration": %g, "engine": {"kind": "fixed-step", "step": 1e-3, "positions": %t}, "outputs": {"every": 0.5}}`
	for _, c := range []struct {
		duration  float64
		positions bool
		want      string
	}{{7, false, ""}, {8, false, "is known until t = 7"}, {8, true, ""}} {
		says := runOf(t, fmt.Sprintf(file, c.duration, c.positions)).differs
		if c.want == "" && says != "" || !strings.Contains(says, c.want) {
			t.Errorf("%g s, positions %t: %q, want %q", c.duration, c.positions, says, c.want)
		}
	}
}

// A toy is repeated as a scene is: the woodpecker's two blows in one step of 1 ms depend on their order, and in steps of 0.1 ms none come
// together.
func TestToysAreRepeated(t *testing.T) {
	for step, want := range map[string]bool{"1e-3": true, "1e-4": false} {
		says := runOf(t, `{"version": 1, "name": "bird", "system": "toy", "toy": {"kind": "woodpecker"}, "duration": 1,
			"engine": {"kind": "fixed-step", "step": `+step+`}, "outputs": {"every": 1e-2}}`).differs
		if want != strings.Contains(says, "the motion depends on") {
			t.Errorf("steps of %s s: %q", step, says)
		}
	}
}

// A triangle strikes a box that pivots on a corner. In steps of 2 to 10 µs, and with events at any tolerance, the triangle ends at
// −0.616 to −0.618 rad; steps of 20 µs end at 0.417 rad, and nothing but a contact that was open for a step tells.
func TestSupportFoundOpenIsSaid(t *testing.T) {
	for step, want := range map[string]bool{"2e-5": true, "1e-5": false} {
		s := runOf(t, `{"version": 1, "name": "tip", "system": "scene", "scene": {"bodies": [
			{"name": "f", "fixed": true, "shape": "box", "size": [2, 0.04013495269319505], "position": [0, -0.020067476346597526]},
			{"name": "b", "mass": 1.3889071287671377, "shape": "box", "size": [0.11113272737243123, 0.11461786219600455],
				"position": [0.008152782479144985, 0.07940696754537413], "angle": 0.6676490285570539},
			{"name": "s", "mass": 0.17723209441685034, "shape": "polygon", "angle": 1.9558343584906401, "spin": -2.688180659339565,
				"points": [[0.017319663644519593, -0.0010060491992425916], [-0.00744813350290766, 0.016192535847859513],
				[-0.009871530141611932, -0.01518648664861692]], "position": [0.10402021023380571, 0.19018467776842485],
				"velocity": [-0.5271390274956474, -0.5493391840346858]}],
			"pairs": [{"a": "b", "b": "f", "mu": 0.35}, {"a": "s", "b": "f", "mu": 0.35, "eps_n": 0.25}, {"a": "s", "b": "b", "mu": 0.35}]},
			"duration": 0.226, "engine": {"impact": "poisson", "kind": "fixed-step", "step": `+step+`}, "outputs": {"every": 0.0113}}`)
		right := math.Abs(s.q[5]+0.617) < 5e-3
		if right == want || want != strings.Contains(s.differs, "event-driven") {
			t.Errorf("steps of %s s: %.4g rad, %q", step, s.q[5], s.differs)
		}
	}
}

// Piles of boxes that strike, stick and slip by turns are settled by events alone, and move as steps of 5 µs do.
func TestPilesAreSettledByEvents(t *testing.T) {
	for name, scene := range map[string]string{
		"corners that meet": `{"bodies": [
			{"name": "g", "shape": "half-plane", "fixed": true},
			{"name": "a0", "shape": "box", "size": [0.0585, 0.0435], "mass": 1.98, "position": [0.00106, 0.02175]},
			{"name": "a1", "shape": "box", "size": [0.0717, 0.053], "mass": 1.47, "position": [-0.0023, 0.07]},
			{"shape": "box", "size": [0.0241, 0.0241], "angle": 0.372, "name": "b", "mass": 1.7,
			"position": [-0.0988, 0.0604], "velocity": [0.937, -0.0755], "spin": 8.76}],
			"pairs": [{"a": "a0", "b": "g", "mu": 0.319, "eps_n": 0},
			{"a": "a1", "b": "a0", "mu": 0.319, "eps_n": 0},
			{"a": "b", "b": "all", "mu": 0.539, "eps_n": 0.709}]},
			"duration": 0.1, "outputs": {"every": 0.01}, "engine": {"impact": "newton", `,
		"corners that meet, tilted": `{"bodies": [
			{"name": "g", "shape": "half-plane", "fixed": true},
			{"name": "a0", "shape": "box", "size": [0.1, 0.0575], "mass": 0.546, "position": [-0.00292, 0.02875]},
			{"name": "a1", "shape": "box", "size": [0.102, 0.0516], "mass": 0.391, "position": [0.00215, 0.0833]},
			{"shape": "box", "size": [0.0261, 0.0261], "angle": -0.694, "name": "b", "mass": 0.484,
			"position": [-0.116, 0.169], "velocity": [1.43, -1.43], "spin": -4.26}],
			"pairs": [{"a": "a0", "b": "g", "mu": 0.249, "eps_n": 0},
			{"a": "a1", "b": "a0", "mu": 0.249, "eps_n": 0},
			{"a": "b", "b": "all", "mu": 0.539, "eps_n": 0.179}]},
			"duration": 0.18, "outputs": {"every": 0.018}, "engine": {"impact": "poisson", `,
		"no forces": `{"bodies": [
			{"name": "g", "shape": "half-plane", "fixed": true},
			{"name": "a0", "shape": "box", "size": [0.0516, 0.0408], "mass": 0.267, "position": [-0.00292, 0.0204]},
			{"name": "a1", "shape": "box", "size": [0.0578, 0.0286], "mass": 0.216, "position": [0.000754, 0.0551]},
			{"name": "a2", "shape": "box", "size": [0.0551, 0.0458], "mass": 1.6, "position": [-0.0029, 0.0923]},
			{"shape": "disc", "radius": 0.0127, "name": "b", "mass": 0.0921,
			"position": [-0.014, 0.172], "velocity": [0, -1.77], "spin": 1.2}],
			"pairs": [{"a": "a0", "b": "g", "mu": 0.507, "eps_n": 0},
			{"a": "a1", "b": "a0", "mu": 0.507, "eps_n": 0.3},
			{"a": "a2", "b": "a1", "mu": 0.507, "eps_n": 0},
			{"a": "b", "b": "all", "mu": 0.067, "eps_n": 0.153}]},
			"duration": 0.06, "outputs": {"every": 0.006}, "engine": {"impact": "poisson", `,
		"sticking and slipping by turns": `{"bodies": [
			{"name": "g", "shape": "half-plane", "fixed": true},
			{"name": "a0", "shape": "box", "size": [0.13, 0.022], "mass": 4.78, "position": [0.0146, 0.0123], "angle": -0.0171},
			{"name": "a1", "shape": "box", "size": [0.131, 0.0379], "mass": 4.33, "position": [0.0033, 0.0449], "angle": -0.00951},
			{"name": "a2", "shape": "box", "size": [0.128, 0.0508], "mass": 8.99, "position": [-0.014, 0.0918], "angle": -0.0123},
			{"name": "a3", "shape": "box", "size": [0.146, 0.0346], "mass": 1.05, "position": [0.0177, 0.137], "angle": 0.00777},
			{"name": "a4", "shape": "box", "size": [0.183, 0.0489], "mass": 2.56, "position": [-0.00377, 0.182], "angle": -0.00946},
			{"name": "a5", "shape": "box", "size": [0.144, 0.0307], "mass": 0.409, "position": [-0.00107, 0.225], "angle": 0.00209}],
			"pairs": [{"a": "all", "b": "all", "mu": 0.502, "eps_n": 0}]},
			"duration": 0.07, "outputs": {"every": 0.007}, "engine": {"impact": "newton", `,
	} {
		const head = `{"version": 1, "name": "pile", "system": "scene", "scene": `
		e := runOf(t, head+scene+`"kind": "event-driven"}}`)
		m := runOf(t, head+scene+`"kind": "fixed-step", "step": 5e-6}}`)
		if e.counts()["bridges"] > 0 || len(e.notes()) > 0 {
			t.Errorf("%s: %q, %g bridges", name, e.notes(), e.counts()["bridges"])
		}
		c := m.comparison(0.5, 0)
		for r := range m.rows {
			c.compare(r, e.rows[r].q, e.rows[r].u)
		}
		if c.differs {
			t.Errorf("%s: %s", name, &c.largest)
		}
	}
}

// Piles that are struck: two steps of the first are not verified, and the event engine has the same motion, which is no doubt. That of the
// second turns the other way after a blow; the event engine, with its own tolerance, lost the corner of a box there and said nothing.
func TestEventsConfirmOrDeny(t *testing.T) {
	for scene, differs := range map[string]bool{
		`"bodies": [
			{"name": "g", "shape": "half-plane", "fixed": true},
			{"name": "a0", "shape": "box", "size": [0.04037464279922322, 0.04780447226459417], "mass": 0.4518288193902567,
				"position": [0.0027160644892044034, 0.023902236132297083]},
			{"name": "a1", "shape": "box", "size": [0.042164684756002546, 0.05004953523005734], "mass": 2.8271412668241225,
				"position": [0.0006292226187819281, 0.07282923987962284]},
			{"name": "a2", "shape": "box", "size": [0.04379628436858481, 0.037963262312439745], "mass": 1.156964307920573,
				"position": [0.002810847894449811, 0.11683563865087138]},
			{"shape": "disc", "radius": 0.011402038883665132, "name": "b", "mass": 0.057537495791563316,
				"position": [-0.08501953387827696, 0.19581726980709124],
				"velocity": [1.537380192709085, -1.537380192709085], "spin": -8.522892565258553}],
			"pairs": [{"a": "a0", "b": "g", "mu": 0.5760499201253322, "eps_n": 0.3},
			{"a": "a1", "b": "a0", "mu": 0.5760499201253322, "eps_n": 0.3},
			{"a": "a2", "b": "a1", "mu": 0.5760499201253322, "eps_n": 0.3},
			{"a": "b", "b": "all", "mu": 0.4281886606823189, "eps_n": 0.7272714552801969}]},
			"duration": 0.29000000000000004, "engine": {"kind": "fixed-step", "step": 0.0001, "impact": "poisson"},
			"outputs": {"every": 0.0058000000000000005}}`: false,
		`"bodies": [
			{"name": "g", "shape": "half-plane", "fixed": true},
			{"name": "a0", "shape": "box", "size": [0.057208056302574375, 0.029061729183514698], "mass": 2.170375712860348,
				"position": [0.001467623413769859, 0.014530864591757349]},
			{"name": "a1", "shape": "box", "size": [0.05586611962275017, 0.05580609876186218], "mass": 2.57153492871069,
				"position": [0.001323698239826622, 0.05696477856444579]},
			{"name": "a2", "shape": "box", "size": [0.05898269654032766, 0.024942467491721926], "mass": 3.3083603203237373,
				"position": [0.0005203093325825887, 0.09733906169123785]},
			{"shape": "box", "size": [0.017303681129787522, 0.017303681129787522], "angle": 0.014854554682658838, "name": "b",
				"mass": 0.17187148128927582,
				"position": [-0.09478668877441662, 0.1698102954370988],
				"velocity": [1.8407090336696847, -1.8407090336696847], "spin": 3.7755852494803293}],
			"pairs": [{"a": "a0", "b": "g", "mu": 0.2005286753154373, "eps_n": 0.3},
			{"a": "a1", "b": "a0", "mu": 0.2005286753154373, "eps_n": 0},
			{"a": "a2", "b": "a1", "mu": 0.2005286753154373, "eps_n": 0},
			{"a": "b", "b": "all", "mu": 0.3224386548096937, "eps_n": 0.7657165328300957}]},
			"duration": 0.255, "engine": {"kind": "fixed-step", "step": 5e-05, "impact": "newton"}, "outputs": {"every": 0.0051}}`: true,
	} {
		s := runOf(t, `{"version": 1, "name": "pile", "system": "scene", "scene": {`+scene)
		notes := strings.Join(s.notes(), "; ")
		if says := s.doubts(); len(says) > 0 || differs != strings.Contains(notes, "event-driven") || s.confirmed == differs {
			t.Errorf("%q, %q", says, notes)
		}
		if !differs && s.counts()["unverified_steps"] == 0 {
			t.Error("every step is verified")
		}
	}
}

// A box turns on a corner that friction holds, as a pendulum: a′′ = −m·g·x/J, x the way of the centre beside the corner. Where a step is so
// long that the box is off by more than a hundredth of its way it says so, with a step that is short enough; where it is off by less than
// three thousandths it says nothing.
func TestLongStepIsSaid(t *testing.T) {
	far, near := 0, 0
	for k := range 12 {
		w, h, angle, spin := 0.05+0.005*float64(k%5), 0.03+0.02*float64(k%4), 0.3+0.05*float64(k), 2*float64(k%3)-1
		const end, parts = 0.06, 20000
		sin, cos := math.Sincos(angle)
		x, y := cos*w/2-sin*h/2, sin*w/2+cos*h/2
		want, speed := angle, spin
		slope := func(a float64) float64 {
			s, c := math.Sincos(a)
			return -9.81 * (c*w/2 - s*h/2) / ((w*w + h*h) / 3)
		}
		for range parts { // symplectic midpoint
			speed += end / parts / 2 * slope(want)
			want += end / parts * speed
			speed += end / parts / 2 * slope(want)
		}
		if want < 0.1 || want > 1.4 {
			continue // it falls on its side
		}
		run := func(step float64) (off float64, s *contactRun) {
			s = runOf(t, fmt.Sprintf(`{"version": 1, "name": "pivot", "system": "scene", "scene": {"bodies": [
				{"name": "floor", "shape": "half-plane", "fixed": true},
				{"name": "box", "shape": "box", "size": [%.17g, %.17g], "mass": 1, "position": [%.17g, %.17g], "angle": %.17g,
				"velocity": [%.17g, %.17g], "spin": %g}], "pairs": [{"a": "box", "b": "floor", "mu": 10}]},
				"duration": %g, "engine": {"kind": "fixed-step", "step": %g}, "outputs": {"every": 0.02}}`,
				w, h, x, y, angle, -spin*y, spin*x, spin, end, step))
			return math.Abs(s.q[2]-want) / math.Abs(want-angle), s
		}
		for _, step := range []float64{0.02, 0.01, 0.005, 0.001, 1e-4} {
			off, s := run(step)
			_, after, said := strings.Cut(s.coarseStepText, "engine.step: ")
			switch {
			case off > 0.01:
				far++
			case off < 0.003:
				near++
			}
			if off > 0.01 && !said || off < 0.003 && said || len(s.doubts()) > 0 {
				t.Errorf("%d, steps of %g s: off by %.3g of the way: %q %q", k, step, off, s.coarseStepText, s.doubts())
			}
			if !said {
				continue
			}
			var advised float64
			if _, err := fmt.Sscan(after, &advised); err != nil {
				t.Fatal(err)
			}
			if off, _ := run(0.02 / math.Ceil(0.02/advised)); off > 0.01 {
				t.Errorf("%d, steps of %g s as advised: off by %.3g of the way", k, advised, off)
			}
		}
	}
	if t.Logf("%d far off, %d near", far, near); far < 5 || near < 20 {
		t.Errorf("%d far off, %d near", far, near)
	}
}

// A speed that is off in the last two rows counts whichever others are off in one of them.
func TestSpeedsAreComparedOneByOne(t *testing.T) {
	for _, off := range [][2][2]float64{{{0.1, 0}, {0.1, 0}}, {{0.1, 0}, {0.1, 0.1}}, {{0, 0.1}, {0.1, 0.1}}, {{0.1, 0}, {0, 0.1}}} {
		s := &contactRun{cfg: configs.DefaultContactRun(), coords: []engine.Signal{{Name: "x", Unit: "m"}, {Name: "y", Unit: "m"}}}
		for k := range 3 {
			s.rows = append(s.rows, instant{t: float64(k), q: []float64{float64(k), float64(k)}, u: []float64{1, 1}})
		}
		c := s.comparison(1, 0)
		for r := 1; r < 3; r++ {
			c.compare(r, s.rows[r].q, []float64{1 + off[r-1][0], 1 + off[r-1][1]})
		}
		if twice := off[0][0]*off[1][0]+off[0][1]*off[1][1] > 0; c.differs != twice || c.largest.rate != twice {
			t.Errorf("speeds off by %v: differs %v, largest %+v", off, c.differs, c.largest)
		}
	}
}
