package axis

import (
	"math"
	"testing"
)

// Windows begin as far apart as they should, and not one is kept for too long; each takes one sample of so many in turn, and all of them
// once something slips. A window is judged as soon as three means of samples are in it. Behind a turn all begin anew. Of the time in which
// samples are missing, and until what was between them is out of the means, nothing is in a window but the way.
func TestSlippingTakesSamples(t *testing.T) {
	const gapFrom, gapTo = 0.7, 0.74 // s
	for _, every := range []float64{1e-3, 2e-3, 5e-3, 10e-3, 20e-3} {
		for _, side := range []float64{1, -1} {
			for _, slips := range []bool{false, true} {
				s := frozenSpec()
				s.SamplePeriod = every
				f := newFrozen(s, countNoise)
				f.axisModel.gives = 0
				p := newSlipping(f)
				for range 30 { // to the other side
					p.step(-side, 0, 0, every, 0, motionShare)
				}
				var ways, times []float64
				takes, waited, even, slipping, judged, bridged := [len(p.windows)]int{}, 0, 0, 0, false, false
				for k := 0; float64(k)*every < 1.1; k++ {
					t0, before := float64(k)*every, p.windows
					effort := 0.0
					if slips {
						effort = side * 20 * 24 * math.Sin(8*t0)
					}
					p.interpolated = t0 > gapFrom && t0 < gapTo+every/2 && 40e-3 > p.tau
					interpolated := p.interpolated
					p.step(side*(4+3*(1-math.Cos(8*t0))), effort, 0, every, 0, motionShare)
					if p.side != side {
						continue
					}
					if len(times) == 0 {
						ways, times = append(ways, 0), append(times, 0)
						continue
					}
					ways, times = append(ways, ways[len(ways)-1]+every*p.slowOmega), append(times, float64(len(times))*every)
					newest := len(times) - 1
					even++
					if waited++; p.settling > 0 || interpolated {
						waited, even, takes = 0, 0, [len(p.windows)]int{}
					}
					for i := range p.windows[:p.windowCount] {
						w := &p.windows[i]
						at, start := int(math.Round(w.clock/every)), int(math.Round((w.clock-w.duration)/every))
						if even > p.stride && newest-at >= p.stride {
							t.Errorf("every %g s, %g s: window %d took no sample since %g s", every, times[newest], i, times[at])
						}
						if w.duration == 0 || at > newest || start < 0 {
							if at > newest || start < 0 {
								t.Fatalf("every %g s: window %d from %d to %d of %d", every, i, start, at, newest)
							}
							continue
						}
						apart := math.Mod(float64(start)*every+2*every, p.windowSpacing) // the first sample of one is the last of its time
						if math.Abs(w.travel-(ways[at]-ways[start])) > 1e-9 || apart > 3.1*every {
							t.Errorf("every %g s, %g s: window %d from %g s went %g rad, want %g", every, times[newest], i, times[start],
								w.travel, ways[at]-ways[start])
						}
						if w.duration > float64(p.windowCount)*p.windowSpacing+every*1.1 {
							t.Errorf("every %g s, %g s: window %d is kept for %g s", every, times[newest], i, w.duration)
						}
						if w.time > 0 {
							slipping++
							judged = judged || w.sampledTime < 3*p.tau+1.5*float64(p.stride)*every
							if w.sampledTime < 3*p.tau*(1-1e-9) {
								t.Errorf("every %g s: judged by %g s of samples", every, w.sampledTime)
							}
						}
						if before[i].time > 0 && w.time > 0 && p.settling == 0 && !interpolated && at != newest {
							t.Errorf("every %g s, %g s: window %d slips and takes no sample", every, times[newest], i)
						}
						if left := w.duration - w.sampledTime; left > 1e-9 {
							bridged = true
							// a raster at its end is taken, and up to two samples more are left out until it is its turn
							least := gapTo - gapFrom + p.tau - float64(p.stride)*every
							if begun := float64(start)*every + t0 - times[newest]; begun < gapFrom &&
								(left < least-1e-9 || left > gapTo-gapFrom+p.tau+2.1*every) {
								t.Errorf("every %g s: %g s are left out of window %d, want %g and little more", every, left, i, least)
							}
						}
						if before[i].clock != w.clock {
							takes[i]++
						}
					}
					if waited == p.stride {
						for i, n := range takes[:p.windowCount] {
							if w := &p.windows[i]; n != 1 && w.time == 0 && w.duration > 3*float64(p.stride)*every && !slips {
								t.Errorf("every %g s, %g s: window %d took %d of %d samples", every, times[newest], i, n, p.stride)
							}
						}
						waited, takes = 0, [len(p.windows)]int{}
					}
				}
				if (slipping > 0) != slips || slips && every < 5e-3 && !judged || bridged != (40e-3 > p.tau) {
					t.Errorf("every %g s, %+g, slips %v: slipping %d, judged in time %v, samples missing %v", every, side, slips,
						slipping, judged, bridged)
				}
			}
		}
	}
}

// What is passed over is in the way of a window and not in its means.
func TestSlippingPassesOver(t *testing.T) {
	var w slipWindow
	w.add(2, [4]float64{0, 1, 0, 3}, 0.1)
	w.pass(4, 0.3)
	w.add(1, [4]float64{0, 1, 0, 7}, 0.1)
	if math.Abs(w.travel-1.5) > 1e-12 || math.Abs(w.duration-0.5) > 1e-12 || w.startSpeed != 2 || math.Abs(w.mean[3]-5) > 1e-12 ||
		math.Abs(w.cov[3][3]-4) > 1e-12 {
		t.Errorf("%+v", w)
	}
}

// Every window that begins before the contact has given way is one of a friction that turns its sign.
func TestSlippingBeginsEarly(t *testing.T) {
	for _, side := range []float64{1, -1} {
		f := newFrozen(frozenSpec(), countNoise)
		f.axisModel.gives = 0.3
		p := newSlipping(f)
		for k := range 600 {
			if p.step(side, 5, 0, 1e-3, 0, motionShare); p.side != 0 && math.Abs(p.ran) < 0.29 {
				for i := range p.windows {
					if !p.windows[i].early {
						t.Fatalf("%+g, %d ms, %g rad: window %d is none of a beginning", side, k, p.ran, i)
					}
				}
			}
		}
		for i, n := 0, 0; i < len(p.windows); i++ {
			if !p.windows[i].early {
				n++
			}
			if i == len(p.windows)-1 && n == 0 {
				t.Errorf("%+g: all windows are of a beginning", side)
			}
		}
	}
}

// What slips is a hint before it is a verdict: it is the cause if the axis leaves its limits sooner.
func TestSlippingIsAHintBefore(t *testing.T) {
	for _, c := range [][2]float64{{1, 0}, {-1, 0}, {1, 10}, {-1, 10}} { // side, and so old that there is no verdict
		side, age := c[0], c[1]
		p, hints := newSlipping(newFrozen(frozenSpec(), countNoise)), 0
		for k := range 1000 {
			t0 := 1e-3 * float64(k)
			bad, hint := p.step(side*4*(1.5-math.Cos(8*t0)), side*20*32*math.Sin(8*(t0-1.5e-3)), 0, 1e-3, age, motionShare)
			if bad.Fault != Fine {
				break
			}
			if hint.Fault != Fine {
				hints++
			} else if hints > 0 {
				t.Errorf("%+g, %g s: the hint is gone", side, t0)
			}
		}
		if hints < 20 || age == 0 && hints > 120 {
			t.Errorf("%+g: a hint for %d ms", side, hints)
		}
	}
}
