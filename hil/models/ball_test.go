package models_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/plant/ball"
	"hilrig/engine/rotation"
	"hilrig/estimator/pose"
	"hilrig/hil"
	"hilrig/hil/models"
)

// rolled is a motion of estimator/pose/testdata/roll.py, integrated by SciPy: rows of t, q, x, y, ω, force.
type rolled struct {
	Mu, Spin float64
	Rows     [][]float64
}

func roll(t testing.TB, name string) (m rolled) {
	t.Helper()
	b, err := os.ReadFile("../../estimator/pose/testdata/roll_" + name + ".json")
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// tracked is a loop of 1 kHz with a tracker of 200 Hz, whose seven numbers stand behind another signal, with their age at the end.
type tracked struct {
	model *models.Ball
	in    hil.ModelInput
	y     []float64
	rng   *rand.Rand
	lever r3.Vec
	mount quat.Number
	aged  bool
}

func newTracked(t testing.TB, aged bool) *tracked {
	t.Helper()
	var s models.BallSpec
	s.SetDefaults()
	s.Body = ball.Paper()
	s.Lever, s.Mount = [3]float64{0.004, -0.002, 0.03}, [3]float64{0.2, 1, -0.4}
	s.Position, s.Orientation, s.Age = [3]int{1, 2, 3}, [4]int{4, 5, 6, 7}, -1
	if aged {
		s.Age = 8
	}
	m, err := models.NewBall(&s)
	if err != nil {
		t.Fatal(err)
	}
	return &tracked{model: m, in: hil.ModelInput{Dt: 1e-3, Meas: make([]float64, 9)}, y: make([]float64, len(models.BallSignals)),
		rng:   rand.New(rand.NewPCG(1, 17)),
		lever: r3.Vec{X: 0.004, Y: -0.002, Z: 0.03}, mount: rotation.Exp(r3.Vec{X: 0.2, Y: 1, Z: -0.4}), aged: aged}
}

// frame puts a row of the motion, with noise, where the tracker has it.
func (l *tracked) frame(row []float64, late float64) {
	noise := func(sd float64) r3.Vec {
		return r3.Vec{X: sd * l.rng.NormFloat64(), Y: sd * l.rng.NormFloat64(), Z: sd * l.rng.NormFloat64()}
	}
	q := quat.Number{Real: row[1], Imag: row[2], Jmag: row[3], Kmag: row[4]}
	p := r3.Add(r3.Add(r3.Vec{X: row[5], Y: row[6], Z: 0.035}, rotation.Rotate(q, l.lever)), noise(1e-4))
	q = quat.Mul(quat.Mul(q, rotation.Exp(noise(3e-3))), l.mount)
	if l.rng.IntN(2) == 0 {
		q = quat.Scale(-1, q)
	}
	copy(l.in.Meas[1:], []float64{p.X, p.Y, p.Z, q.Real, q.Imag, q.Jmag, q.Kmag, late})
	for i := 1; i <= 7; i++ {
		hil.SetFresh(&l.in.FreshSignals, i)
	}
}

// tick is one of 1 kHz; a frame comes late ms after its time in every fifth.
func (l *tracked) tick(m *rolled, k, late int) {
	l.in.T, l.in.FreshSignals = int64(k)*1e6, hil.Fresh{}
	if at := k - late; at >= 0 && at%5 == 0 && at/5 < len(m.Rows) {
		l.frame(m.Rows[at/5], 1e-3*float64(late))
	}
	l.model.Step(&l.in, l.y)
}

func (l *tracked) shown(t *testing.T, name string) float64 {
	t.Helper()
	for i, s := range models.BallSignals {
		if s.Name == name {
			return l.y[i]
		}
	}
	t.Fatalf("no signal %s", name)
	return 0
}

// With a lever, a mount, an age and signs of the quaternion that come as they like: the friction, the pose and the force of the motion.
func TestBallFollowsTheTracker(t *testing.T) {
	m := roll(t, "paper")
	for _, c := range []struct {
		aged bool
		late int // ms
	}{{false, 0}, {true, 3}} {
		l := newTracked(t, c.aged)
		for k := range 4000 {
			l.tick(&m, k, c.late)
			if k == 5 && !math.IsNaN(l.shown(t, "roll")) {
				t.Error("a coefficient after one frame")
			}
			if k == 2002 && !c.aged {
				row := m.Rows[400]
				if d := math.Abs(l.shown(t, "normal") - row[12]); d > 0.01 {
					t.Errorf("normal force %g N off", d)
				}
				if d := math.Hypot(l.shown(t, "x")-row[5], l.shown(t, "y")-row[6]); d > 1e-3 {
					t.Errorf("centre %g m off", d)
				}
			}
		}
		for name, want := range map[string]float64{"roll": m.Mu, "spin": m.Spin} {
			got, se := l.shown(t, name), l.shown(t, name+"_se")
			if !(math.Abs(got-want) < 4*se) || !(se < 0.02*want) {
				t.Errorf("late %d ms: %s %.4g ± %.2g, want %.4g", c.late, name, got, se, want)
			}
		}
		if r := pose.Soundness(l.shown(t, "reason")); r != pose.Sound || l.shown(t, "bad") != 0 {
			t.Errorf("%v, %g bad", r, l.shown(t, "bad"))
		}
		if !math.IsNaN(l.shown(t, "quadratic")) {
			t.Error("a quadratic part that was not asked for")
		}
	}
}

// While it slips there is no coefficient; halves of frames and orientations of zero are counted.
func TestBallWithholds(t *testing.T) {
	m := roll(t, "slip")
	l := newTracked(t, true)
	reasons := map[pose.Soundness]int{}
	for k := range 600 {
		l.tick(&m, k, 0)
		r := pose.Soundness(l.shown(t, "reason"))
		reasons[r]++
		if math.IsNaN(l.shown(t, "roll")) != (r != pose.Sound) || r == pose.Sound {
			t.Fatalf("tick %d: %v with %g", k, r, l.shown(t, "roll"))
		}
	}
	if reasons[pose.Slips]+reasons[pose.Contradicts] < 50 {
		t.Errorf("reasons %v", reasons)
	}
	l.in.T += 1e6
	l.in.FreshSignals = hil.Fresh{}
	hil.SetFresh(&l.in.FreshSignals, 1)
	bad := l.shown(t, "bad")
	l.model.Step(&l.in, l.y)
	l.in.T += 1e6
	l.frame([]float64{0, 0, 0, 0, 0, 0, 0}, 0)
	l.model.Step(&l.in, l.y)
	if got := l.shown(t, "bad") - bad; got != 2 {
		t.Errorf("half a frame and an orientation of zero: %g counted, want 2", got)
	}
}

func TestBallAllocates(t *testing.T) {
	m := roll(t, "paper")
	l := newTracked(t, true)
	k := 0
	if n := testing.AllocsPerRun(3000, func() { l.tick(&m, k, 2); k++ }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func TestBallRefuses(t *testing.T) {
	for name, change := range map[string]func(*models.BallSpec){
		"no noise of the position": func(s *models.BallSpec) { s.PositionNoise = 0 },
		"no noise of the turn":     func(s *models.BallSpec) { s.TurnNoise = math.Inf(1) },
		"no mass":                  func(s *models.BallSpec) { s.Body.Mass = 0 }, "no prior": func(s *models.BallSpec) { s.Prior = 0 },
	} {
		var s models.BallSpec
		s.SetDefaults()
		s.Body = ball.Paper()
		change(&s)
		if _, err := models.NewBall(&s); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := models.NewBall(nil); err == nil {
		t.Error("no description: accepted")
	}
}
