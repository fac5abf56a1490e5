package friction

import (
	"math"
	"testing"

	"hilrig/engine"
)

// The literal scenario of the chapter, 1 kg on 0.1 N/m pulled at 0.02 m/s, 1600 s in steps of 1 ms: break-away after minutes
// and slips of metres. Estimates in closed form: the mass starts when the spring reaches FS and then swings on it under FC
// and σ2 alone until it stops; all of the Stribeck curve between FS and FC is left out, which for vs = 0.05 m/s against
// 0.8 to 1.6 m/s costs about a percent.
func TestLiteralScenario(t *testing.T) {
	if testing.Short() {
		t.Skip("millions of steps")
	}
	const k, speed, span = 0.1, 0.02, 1600.0
	for _, sigma2 := range []float64{0, 0.4} {
		p := costLaw()
		p.Sigma2, p.Vd = sigma2, 0.02
		est := estimateSlip(p, 1, k, speed)
		if sigma2 == 0 { // the figures of theory §8.1
			for _, c := range []struct {
				name           string
				got, want, tol float64
			}{{"half period π√(M/k)", est.time, 9.9, 0.15}, {"length 2dF/k", est.length, 10, 0.25}, {"peak dF/√(kM)", est.peak, 1.6, 0.05},
				{"stick", est.stick, 500, 1}} {
				if math.Abs(c.got-c.want) > c.tol {
					t.Errorf("estimate of %s: %g, want %g", c.name, c.got, c.want)
				}
			}
		}
		var whole [2][]float64 // times of the events (s), at 1 ms and at 0.5 ms
		var end [2]float64
		steps := []float64{1e-3, 0.5e-3}
		if sigma2 == 0 {
			steps = steps[:1]
		}
		for i, h := range steps {
			b := newBench(t, &p, 1, Midpoint, &pulled{k: k, speed: speed, h: h})
			peak, from := 0.0, 0.0
			var length []float64
			for j := range int(math.Round(span / h)) {
				b.s.t = float64(j) * h
				v, x := b.x[1], b.x[0]
				r := b.Step(h, b.x, b.s)
				if r.Status != engine.OK {
					t.Fatalf("t = %g: %v", b.s.t, r.Status)
				}
				peak = max(peak, r.W)
				if (v-slipMark)*(b.x[1]-slipMark) < 0 {
					whole[i] = append(whole[i], b.s.t+h*(slipMark-v)/(b.x[1]-v))
					if v > slipMark {
						length = append(length, x-from)
					}
					from = x
				}
			}
			end[i] = b.x[0]
			e := whole[i]
			if len(e) < 4 {
				t.Fatalf("σ2 = %g: events %v", sigma2, e)
			}
			t.Logf("σ2 = %g, h = %g: break-away %.2f s, slip %.2f s and %.3f m, stick %.1f s, peak %.4f m/s", sigma2, h, e[0], e[1]-e[0], length[0],
				e[2]-e[1], peak)
			// the bristles yield by some FS/σ0 before they let go, and the mass creeps up to 0.01 m/s: a second or two
			for _, c := range []struct {
				name           string
				got, want, tol float64
			}{
				{"first break-away, s", e[0], p.Fs / (k * speed), 5},
				{"slip, m", length[0], est.length, 0.01 * est.length},
				{"slip, s", e[1] - e[0], est.time, 1.2},
				{"stick, s", e[2] - e[1], est.stick, 5},
				{"peak, m/s", peak, est.peak, 0.01 * est.peak},
			} {
				if math.Abs(c.got-c.want) > c.tol {
					t.Errorf("σ2 = %g, h = %g: %s: %g, closed form %g ± %g", sigma2, h, c.name, c.got, c.want, c.tol)
				}
			}
		}
		if len(steps) == 1 {
			continue
		}
		// and the step does not matter: a millisecond in 1600 s, 10 µm in 20 m
		if len(whole[0]) != len(whole[1]) || math.Abs(end[0]-end[1]) > 1e-5 {
			t.Fatalf("σ2 = %g: events %v and %v, ends %.7f and %.7f m", sigma2, whole[0], whole[1], end[0], end[1])
		}
		for i := range whole[0] {
			if math.Abs(whole[0][i]-whole[1][i]) > 1e-3 {
				t.Errorf("σ2 = %g: event %d at %.5f s, with half the step %.5f s", sigma2, i, whole[0][i], whole[1][i])
			}
		}
	}
}

type slipEstimate struct{ time, length, peak, stick float64 }

// estimateSlip solves m·ÿ + σ2·ẏ + k·y = −FC − σ2·V for y = x − V·t (the spring is stretched by −y), from y = −FS/k at rest,
// ẏ = −V, to the next rest ẏ = −V.
func estimateSlip(p LuGre, m, k, V float64) (e slipEstimate) {
	w := math.Sqrt(k / m)
	d := p.Sigma2 / (2 * m * w)
	wd := w * math.Sqrt(1-d*d)
	still := -(p.Fc + p.Sigma2*V) / k
	a := -p.Fs/k - still
	c := (-V + d*w*a) / wd
	y := func(t float64) float64 { return still + math.Exp(-d*w*t)*(a*math.Cos(wd*t)+c*math.Sin(wd*t)) }
	dy := func(t float64) float64 {
		return math.Exp(-d*w*t) * ((c*wd-d*w*a)*math.Cos(wd*t) - (a*wd+d*w*c)*math.Sin(wd*t))
	}
	for t := 1e-3; ; t += 1e-3 {
		v := dy(t) + V
		e.peak = max(e.peak, v)
		if v <= 0 && t > 1 {
			e.time, e.length = t, y(t)+V*t+p.Fs/k
			e.stick = (p.Fs/k + y(t)) / V
			return e
		}
	}
}

// BenchmarkLiteral is the whole of it, 1.6 million steps: 0.5 s are allowed.
func BenchmarkLiteral(b *testing.B) {
	p := costLaw()
	p.Vd = 0.02
	const h, n = 1e-3, 1_600_000
	for b.Loop() {
		m := newBench(b, &p, 1, Midpoint, &pulled{k: 0.1, speed: 0.02, h: h})
		for range n {
			m.step()
		}
		costSink = m.x[0]
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/step")
}
