package simulate

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hilrig/configs"
	"hilrig/engine"
	"hilrig/engine/contact"
)

// sceneDraw draws bodies that pivot on a corner, roll, lie or fly, on a floor or a table, and others that strike them.
type sceneDraw struct {
	*rand.Rand
	bodies []map[string]any
	places [][3]float64 // x, y and radius of a circle round each
}

func (d *sceneDraw) in(lo, hi float64) float64  { return lo + (hi-lo)*d.Float64() }
func (d *sceneDraw) log(lo, hi float64) float64 { return lo * math.Pow(hi/lo, d.Float64()) }
func (d *sceneDraw) of(list ...float64) float64 { return list[d.IntN(len(list))] }

// shape is a body with its corners; none for a disc, whose radius is given.
func (d *sceneDraw) shape(name string, lo, hi float64) (b map[string]any, corners [][2]float64, radius float64) {
	b = map[string]any{"name": name, "mass": d.log(0.1, 5)}
	switch d.IntN(3) {
	case 0:
		radius = d.in(lo, hi) / 2
		b["shape"], b["radius"] = "disc", radius
	case 1:
		w, h := d.in(lo, hi), d.in(lo, hi)
		b["shape"], b["size"] = "box", []float64{w, h}
		corners = [][2]float64{{-w / 2, -h / 2}, {w / 2, -h / 2}, {w / 2, h / 2}, {-w / 2, h / 2}}
	default:
		size, turn := d.in(lo, hi)/2, d.in(0, 6)
		var mean [2]float64
		for i := range 3 {
			s, c := math.Sincos(turn + 2*math.Pi/3*float64(i) + d.in(-0.5, 0.5))
			corners = append(corners, [2]float64{size * c, size * s})
			mean[0], mean[1] = mean[0]+size*c/3, mean[1]+size*s/3
		}
		for i := range corners {
			corners[i][0], corners[i][1] = corners[i][0]-mean[0], corners[i][1]-mean[1]
		}
		b["shape"], b["points"] = "polygon", corners
	}
	for _, c := range corners {
		radius = max(radius, math.Hypot(c[0], c[1]))
	}
	return b, corners, radius
}

// put places a body unless it may overlap another.
func (d *sceneDraw) put(b map[string]any, x, y, angle, radius float64, vx, vy, spin float64) bool {
	for _, p := range d.places {
		if math.Hypot(p[0]-x, p[1]-y) < 1.02*(p[2]+radius) {
			return false
		}
	}
	b["position"], b["angle"], b["velocity"], b["spin"] = []float64{x, y}, angle, []float64{vx, vy}, spin
	d.bodies, d.places = append(d.bodies, b), append(d.places, [3]float64{x, y, radius})
	return true
}

// lowest is how far the lowest corner is below the centre, and beside it.
func lowest(corners [][2]float64, angle float64) (below, beside float64) {
	s, c := math.Sincos(angle)
	for _, p := range corners {
		if y := -(s*p[0] + c*p[1]); y > below {
			below, beside = y, c*p[0]-s*p[1]
		}
	}
	return below, beside
}

// drawScene is the file of scene k, without its engine.
func drawScene(k uint64) (file map[string]any) {
	d := &sceneDraw{Rand: rand.New(rand.NewPCG(k, 3434))}
	var table map[string]any
	top := 0.0
	if d.IntN(3) == 0 {
		top = 0.1
		table = map[string]any{"name": "table", "shape": "box", "fixed": true, "size": []float64{0.5, 0.1}, "position": []float64{-0.25, 0.05}}
	}
	for i := range 1 + d.IntN(3) {
		b, corners, r := d.shape(fmt.Sprint("b", i), 0.03, 0.13)
		x, floor := d.in(-0.3, 0.3), 0.0
		if top > 0 && x < r {
			x, floor = min(x, -d.in(-0.3, 1)*r), top
		}
		switch {
		case corners == nil && d.IntN(4) == 0: // it flies
			d.put(b, x, floor+r+d.in(0, 0.05), 0, r, d.in(-0.5, 0.5), d.in(-0.5, 0.5), d.in(-5, 5))
		case corners == nil: // it rolls
			om := d.of(-1, 0, 1) * d.in(0, 20)
			d.put(b, x, floor+r, 0, r, -om*r, 0, om)
		default: // it turns on its lowest corner
			angle, om := d.in(-3, 3), d.of(-1, 0, 1)*d.in(0, 6)
			below, beside := lowest(corners, angle)
			if floor > 0 && x+beside > -0.001 {
				x -= x + beside + 0.002
			}
			d.put(b, x, floor+below, angle, r, -om*below, -om*beside, om)
		}
	}
	for i, n := 0, 1+d.IntN(2); i < n; i++ {
		target := d.places[d.IntN(len(d.places))]
		b, _, r := d.shape(fmt.Sprint("s", i), 0.015, 0.05)
		from, away, speed := math.Pi*d.in(0.08, 0.92), d.in(0.05, 0.2), d.log(0.3, 3)
		s, c := math.Sincos(from)
		x, y := target[0]+(target[2]+r+away)*c, max(target[1]+(target[2]+r+away)*s, r+0.005)
		angle, vx, vy, spin := d.in(-3, 3), -speed*c+d.in(-0.2, 0.2), -speed*s+d.in(-0.2, 0.2), d.in(-15, 15)
		if table == nil || x > r || y > top+r { // not in the table
			d.put(b, x, y, angle, r, vx, vy, spin)
		}
	}
	bodies := []map[string]any{{"name": "floor", "shape": "half-plane", "fixed": true}}
	if table != nil {
		bodies = append(bodies, table)
	}
	fixed := len(bodies)
	bodies = append(bodies, d.bodies...)
	var pairs []map[string]any
	for i := fixed; i < len(bodies); i++ {
		for j := range i {
			pairs = append(pairs, map[string]any{"a": bodies[i]["name"], "b": bodies[j]["name"],
				"mu": d.of(0, 0.2, 0.5, 1), "eps_n": d.of(0, 0.3, 0.6, 0.9)})
		}
	}
	const rows = 20
	step := d.of(2e-5, 1e-4, 1e-4, 5e-4)
	every := step * math.Round(d.in(0.08, 0.25)/rows/step)
	return map[string]any{"version": 1, "name": fmt.Sprint("scene-", k), "system": "scene",
		"scene":    map[string]any{"gravity": []float64{0, -9.81}, "bodies": bodies, "pairs": pairs},
		"duration": rows * every, "outputs": map[string]any{"every": every},
		"engine": map[string]any{"kind": "fixed-step", "step": step, "impact": []string{"newton", "poisson"}[d.IntN(2)]}}
}

// loadScene reads a scene with other keys of the engine.
func loadScene(t *testing.T, file map[string]any, engine map[string]any) *contactRun {
	t.Helper()
	own := map[string]any{}
	for _, from := range []map[string]any{file["engine"].(map[string]any), engine} {
		for key, x := range from {
			own[key] = x
		}
	}
	whole := map[string]any{}
	for key, x := range file {
		whole[key] = x
	}
	whole["engine"] = own
	text, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "scene.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, _, err := configs.LoadContactRun(path)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	s := &contactRun{path: path, cfg: cfg}
	if err := s.build(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return s
}

// wayOff is the largest difference of the places of two runs of the same rows, as a share of how far the body, or two fifths of how far
// the fastest of its unit, moves.
func wayOff(a, b *contactRun) (off float64, what string) {
	if len(a.rows) != len(b.rows) {
		return math.Inf(1), "rows"
	}
	way, unit := make([]float64, len(a.coords)), map[string]float64{}
	for i, c := range a.coords {
		for r := range a.rows {
			way[i] = max(way[i], math.Abs(b.rows[r].q[i]-b.rows[0].q[i]))
		}
		unit[c.Unit] = max(unit[c.Unit], way[i])
	}
	last := len(a.rows) - 1
	for i, c := range a.coords {
		speed, most := make([]float64, len(a.coords)), 0.0
		for j := range a.coords {
			sum := 0.0
			for r := range a.rows {
				sum += b.rows[r].u[j] * b.rows[r].u[j] / float64(len(a.rows))
			}
			if a.coords[j].Unit == c.Unit {
				most = max(most, math.Sqrt(sum))
			}
			speed[j] = math.Sqrt(sum)
		}
		end := func(r int) float64 {
			return math.Abs(a.rows[r].u[i]-b.rows[r].u[i]) / 2 / (max(speed[i], 0.4*most) + 1e-4)
		}
		if d := min(end(last), end(last-1)); d > off { // half of the error of a speed counts
			off, what = d, fmt.Sprintf("speed of %s", c.Name)
		}
		for r := range a.rows {
			if d := math.Abs(a.rows[r].q[i]-b.rows[r].q[i]) / (max(way[i], 0.4*unit[c.Unit]) + 1e-7); d > off {
				off, what = d, fmt.Sprintf("%s at %.4g s", c.Name, a.rows[r].t)
			}
		}
	}
	return off, what
}

// stepped runs a scene in fixed steps without looking at it twice.
func (s *contactRun) stepped(h float64) bool {
	opt := s.moreau()
	n := int(math.Round(s.cfg.Rows() / h))
	opt.Step = s.cfg.Rows() / float64(n)
	m, err := contact.NewMoreau(s.sys, opt)
	if err != nil {
		return false
	}
	s.addRow(0, nil)
	for r := range int(math.Round(s.cfg.Duration / s.cfg.Rows())) {
		for k := range n {
			if m.Step(float64(r*n+k)*opt.Step, s.q, s.u).Status == engine.NonFinite {
				return false
			}
		}
		s.addRow(float64((r+1)*n)*opt.Step, nil)
	}
	return true
}

// sceneOutcome is what a scene came to.
type sceneOutcome struct {
	Scene   uint64
	Step    float64 // s
	Settled float64 // difference of events and short steps
	Steps   float64 // what the fixed steps of the file are off, from what is nearer to them: events or short steps
	Events  float64 // the same of events, from short steps
	Share   float64 // what the fixed steps say themselves
	Where   string
	Advised float64 // what the fixed steps are off that they advise
	Says    string  // by fixed steps
	Ends    string  // by events
}

// judgeScene runs scene k as hil simulate does in both engines, and with steps that are much shorter.
func judgeScene(t *testing.T, k uint64) (o sceneOutcome) {
	file := drawScene(k)
	step := file["engine"].(map[string]any)["step"].(float64)
	o.Scene, o.Step = k, step
	s, e := loadScene(t, file, nil), loadScene(t, file, map[string]any{"kind": "event-driven", "tolerance": 1e-10,
		"restitution_speed": 1e-3})
	short := loadScene(t, file, nil)
	if err := s.run(context.Background()); err != nil {
		o.Says = "ended: " + err.Error()
		return o
	}
	o.Says = strings.Join(append(s.doubts(), s.notes()...), "; ")
	o.Share = s.maxDifference
	if err := e.run(context.Background()); err != nil {
		o.Ends = err.Error()
	} else {
		o.Ends = strings.Join(append(e.doubts(), e.notes()...), "; ")
	}
	if _, after, said := strings.Cut(s.coarseStepText, "engine.step: "); said {
		var h float64
		fmt.Sscan(after, &h)
		if better := loadScene(t, file, nil); better.stepped(h) {
			o.Advised, _ = wayOff(better, e)
		}
	}
	if !short.stepped(min(step/16, 2e-6)) {
		o.Ends += "short steps ended"
	}
	o.Steps, o.Where = wayOff(s, short)
	o.Settled, _ = wayOff(e, short)
	o.Events = o.Settled
	if near, where := wayOff(s, e); near < o.Steps {
		o.Steps, o.Where = near, where
	}
	return o
}

// Random scenes in fixed steps and by events: what is off by more than a hundredth of its way says so, and of those that are within three
// thousandths at most one in fifty says anything. Scenes on which events and short steps do not agree are not judged.
func TestScenesAreRightOrSaid(t *testing.T) { scenesAreRightOrSaid(t, 0, 8) }

func scenesAreRightOrSaid(t *testing.T, from, to uint64) {
	judged, right, wrong, falsely := 0, 0, 0, 0
	for k := from; k < to; k++ {
		o := judgeScene(t, k)
		text, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Log(string(text))
		if o.Settled > 3e-3 {
			continue
		}
		judged++
		switch {
		case o.Steps > 0.01:
			if wrong++; o.Says == "" {
				t.Errorf("%d: off by %.2g without a word: %s", k, o.Steps, o.Where)
			}
		case o.Steps < 3e-3:
			if right++; o.Says != "" {
				falsely++
			}
		}
	}
	t.Logf("%d judged, %d right, %d wrong, %d right and said", judged, right, wrong, falsely)
	if falsely*50 > right || 2*judged < int(to-from) {
		t.Errorf("%d judged, %d right, %d right and said", judged, right, falsely)
	}
}
