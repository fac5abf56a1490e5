package hil

import (
	"testing"

	"hilrig/engine/control"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
	"hilrig/estimator"
)

// gearedShop is a slow motor with a gear.
func gearedShop() *shop {
	return &shop{drive: plant.VoltageDrive, j: 3.2e-3, fc: 9e-3, fs: 12e-3, vs: 0.3, fv: 2e-4, stiffness: 4, r: 3.4, l: 2.1e-3, k: 0.025,
		count: 1e-4, noise: [estimator.Quantities]float64{estimator.Current: 0.02}, turned: 1}
}

// A bus that is asked 50 times a second, and whose answers are up to three ticks old: nothing trips where the motion turns.
func TestSlowBusDoesNotTrip(t *testing.T) {
	for _, measured := range [][]estimator.Quantity{nil, {estimator.Current}} {
		for _, late := range []int{0, 1, 2, 3} {
			for _, amplitude := range []float64{0.3, 1.57, -1.57} {
				s := newShop(t, gearedShop(), shopOptions{tick: 20, late: late, measured: measured, top: 12, pid: &control.PID{Kp: 0.03, Kd: 0.02, Limit: 0.06},
					ref: reference.Spec{Kind: "sine", Amplitude: amplitude, Frequency: 0.2}})
				s.start(t)
				for k := range 50 * 20 {
					if s.step(); !s.row.Mode.Energised() {
						t.Errorf("%d ticks late, %g rad, measured %v: after %.2f s %v: %s", late, amplitude, measured, 0.02*float64(k), s.row.Mode, s.row.Why(&s.ctl.schema))
						break
					}
				}
			}
		}
	}
}

// Behind a time in which the loop was away, or the board, or both, and in which the watchdog of the drive took the energy away, nothing trips.
func TestGapsDoNotTrip(t *testing.T) {
	for _, c := range []struct {
		name             string
		loop, board, off int // ms  that the loop is away, the board stands still, the drive is off from 20 ms before the end
	}{
		{"the loop", 200, 0, 0},
		{"the loop, and the drive goes off", 200, 0, 60},
		{"both", 200, 200, 0},
		{"both, and the drive goes off", 200, 200, 60},
		{"the board", 0, 200, 0},
		{"the board, and the drive goes off", 0, 200, 60},
		{"the loop for a short time, and the drive goes off", 60, 0, 60},
	} {
		for _, kind := range shopKinds {
			for _, at := range []float64{0.31, 0.77, 1.32} {
				for _, side := range []float64{1, -1} {
					p, size := kind.p(), side*3
					if p.linear {
						size = side * 60e-3
					}
					s := newShop(t, p, shopOptions{measured: kind.measured, ref: multisine(size)})
					for i := range s.ctl.guard.s.Meas {
						s.ctl.guard.s.Meas[i].Stale = 1
					}
					s.start(t)
					s.seconds(t, at)
					s.stand = c.board
					for k := range c.loop {
						s.clock.N = 1
						s.clock.Wait()
						if s.stand > 0 {
							s.stand--
							continue
						}
						u := s.u[0]
						if c.off > 0 && k > c.loop-20 {
							u = 0
						}
						p.move(u, 1e-3)
					}
					from := max(0, c.board-c.loop) - 20
					for n := 0; n < 900 && s.row.Mode.Energised(); n++ {
						if c.off > 0 && n >= from && n < from+c.off {
							s.u = [2]float64{}
						}
						if s.step(); !s.row.Mode.Energised() {
							t.Errorf("%s, %s, at %g s, %+g: after %d ms: %s", c.name, kind.name, at, side, n, s.row.Why(&s.ctl.schema))
						}
					}
				}
			}
		}
	}
}
