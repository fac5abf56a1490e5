package brush

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"hilrig/engine/contact"
)

// Both engines on the smooth commutator, seed by seed from the same start. Under a rough face a seed draws that face; with both
// surfaces smooth it draws the tilt and height at the start. Either way it draws where the eccentricity and the bars are, and a
// little of the eccentricity and of the rounding of the bars.
type draw struct {
	p     Params
	turn  float64 // rad  commutator at the start
	begin func(q, u []float64)
}

func drawSmooth(l float64, seed int, rough bool) draw {
	p := DefaultParams()
	p.Commutator.SmoothOutline, p.Brush.Length, p.Face.Seed = true, l, float64(seed)
	r := rand.New(rand.NewPCG(uint64(seed), 0xc0))
	p.Commutator.Phase = math.Pi * (2*r.Float64() - 1)
	p.Commutator.Eccentricity *= 0.8 + 0.4*r.Float64()
	p.Commutator.EdgeLength *= 0.9 + 0.2*r.Float64()
	r = rand.New(rand.NewPCG(uint64(seed), 0xc1))
	d := draw{p: p, turn: 2 * math.Pi * r.Float64()}
	if !rough {
		// near where the tilt settles, which takes up to a second from the middle of the holder
		tilt := -2.83e-3
		if l < 0.02 {
			tilt = -3.9e-3
		}
		tilt += 0.2e-3 * (2*r.Float64() - 1)
		up := 10e-6 * r.Float64()
		d.p.Face.Roughness = 0
		d.begin = func(q, _ []float64) { q[1], q[2], q[colArm] = q[1]+up, q[2]+tilt, q[colArm]+2e-3 }
	}
	return d
}

func (d *draw) make(t *testing.T) *Brush {
	t.Helper()
	b, err := New(d.p)
	if err != nil {
		t.Fatal(err)
	}
	b.Drive(d.turn, d.p.Commutator.Speed, 0)
	return b
}

func (d *draw) events(t *testing.T, from, to float64) (Stats, contact.EventStats) {
	t.Helper()
	s, counts, err := d.make(t).RunEvents(context.Background(), EventRunOptions{Time: to, Discard: from, AdjustStart: d.begin})
	if err != nil {
		t.Fatal(err)
	}
	return s, counts
}

func (d *draw) steps(t *testing.T, opt RunOptions) Stats {
	t.Helper()
	opt.AdjustStart = d.begin
	s, err := d.make(t).Run(context.Background(), opt)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// crossCheck holds the fixed step against the events: seed means of the mean of |φ̇|, the face force, the friction torque, the tilt.
func crossCheck(t *testing.T, l float64, rough bool, n int, from, to float64, steps map[string]RunOptions, bars map[string]float64) {
	t.Helper()
	var event []Stats
	for k := range n {
		d := drawSmooth(l, k+1, rough)
		s, counts := d.events(t, from, to)
		t.Logf("seed %d: %.4g rad/s, %.5g N; %d impacts, %d events", k+1, s.MeanRate, s.FaceForce, counts.Impacts, counts.Events)
		event = append(event, s)
	}
	mean := func(all []Stats, of func(*Stats) float64) (m, se float64) {
		for i := range all {
			m += of(&all[i]) / float64(n)
		}
		for i := range all {
			se += (of(&all[i]) - m) * (of(&all[i]) - m)
		}
		return m, math.Sqrt(se / float64(n) / math.Max(1, float64(n-1)))
	}
	for name, opt := range steps {
		opt.Time, opt.Discard = to, from
		var fixed []Stats
		for k := range n {
			d := drawSmooth(l, k+1, rough)
			fixed = append(fixed, d.steps(t, opt))
		}
		for _, f := range []struct {
			name string
			bar  float64
			of   func(*Stats) float64
		}{
			{"mean |dphi/dt|", bars[name], func(s *Stats) float64 { return s.MeanRate }},
			{"face force", 0.02, func(s *Stats) float64 { return s.FaceForce }},
			{"friction torque", 0.02, func(s *Stats) float64 { return s.Friction }},
			{"tilt", 0.1, func(s *Stats) float64 { return s.Tilt }},
		} {
			e, se := mean(event, f.of)
			x, sx := mean(fixed, f.of)
			t.Logf("%s, %s: events %.5g ± %.2g, steps %.5g ± %.2g", name, f.name, e, se, x, sx)
			within(t, name+" over events: "+f.name, x/e-1, -f.bar, f.bar)
		}
	}
}

func stepped(h float64) (opt RunOptions) {
	opt.Step = h
	return opt
}

// A short look; at full length behind the tag soak.
func TestEnginesAgreeOnTheSmoothCommutator(t *testing.T) {
	for _, l := range []float64{0.032, 0.012} {
		crossCheck(t, l, true, 2, 0.01, 0.03, map[string]RunOptions{"20 µs": stepped(20e-6), "2 µs": stepped(2e-6)},
			map[string]float64{"20 µs": 0.4, "2 µs": 0.1})
	}
}

// Rows and statistics come from the same integrals.
func TestRowsOfEventsAddUp(t *testing.T) {
	d := drawSmooth(0.032, 1, true)
	var n int
	var face, torque, last float64
	s, counts, err := d.make(t).RunEvents(context.Background(),
		EventRunOptions{Time: 0.012, Discard: -1, TraceInterval: 1e-3, Trace: func(r *Snapshot) {
			n++
			face += r.Face
			torque += r.Torque
			if math.Abs(r.T-float64(n)*1e-3) > 1e-12 {
				t.Errorf("row %d at %g s", n, r.T)
			}
			last = r.Q[1]
		}})
	if err != nil {
		t.Fatal(err)
	}
	if n != 12 || math.Abs(face/12-s.FaceForce) > 1e-9*face || math.Abs(torque/12-s.Torque) > 1e-9*torque || math.Abs(s.Time-0.012) > 1e-12 {
		t.Errorf("%d rows, face %g and %g N, torque %g and %g N·m over %g s", n, face/12, s.FaceForce, torque/12, s.Torque, s.Time)
	}
	if counts.Impacts < 100 || !(last > 0.02) || s.Loss <= 0 || s.Loss >= 1 {
		t.Errorf("%+v, height %g m, loss %g", counts, last, s.Loss)
	}
	if _, _, err := d.make(t).RunEvents(context.Background(), EventRunOptions{Time: 0.1, Discard: 0.1}); err == nil {
		t.Error("nothing left after the discarded beginning, and no error")
	}
}

// M·Accelerate is f, and Project belongs to M, whatever step was factored before.
func TestAccelerateAgainstDense(t *testing.T) {
	maps(t, func(t *testing.T, b *Brush) {
		r := rand.New(rand.NewPCG(8, 1))
		set := contact.NewSet(24, dof)
		m, f, acc := make([]float64, dof*dof), make([]float64, dof), make([]float64, dof)
		x, d := make([]float64, 2*dof), make([]float64, 4)
		for k := range 20 {
			q, u := somewhere(b, r)
			switch k % 3 {
			case 1:
				b.Free(0, 20e-6, 0.55, q, u, acc)
			case 2:
				b.Heat(300+r.Float64(), 1e5)
			}
			if !b.Accelerate(0, q, u, acc) {
				t.Fatal("Accelerate refused")
			}
			b.Mass(0, q, m)
			b.Force(0, q, u, f)
			want := solveDense(append([]float64(nil), m...), f)
			for j := range dof {
				if math.Abs(acc[j]-want[j]) > 1e-10*norm(want) {
					t.Fatalf("du/dt[%d] = %g, dense %g", j, acc[j], want[j])
				}
			}
			b.Contacts(0, q, u, math.Inf(1), set)
			b.Project(set, []int32{int32(k % set.N)}, x, d)
			xn := solveDense(append([]float64(nil), m...), append([]float64(nil), set.RowN(k%set.N)...))
			for j := range dof {
				if math.Abs(x[j]-xn[j]) > 1e-10*norm(xn) {
					t.Fatalf("M⁻¹w_N[%d] = %g, dense %g", j, x[j], xn[j])
				}
			}
			u[2] = math.NaN()
			if b.Accelerate(0, q, u, acc) {
				t.Fatal("not finite, and not refused")
			}
		}
	})
}
