package hil

import (
	"math"
	"slices"
	"testing"

	"hilrig/engine/control"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
)

// Commands that act 30 to 80 ms late: a loop that swings for it is found within 0.25 s of the moment at which its effort is 2.2·Fs away
// from that of the same axis without the fault (0.3 s beside a voltage drive), whatever the inertia in the file. Commands that are 10 ms
// late trip nothing. Every kind of drive, both sides, three moments. The stage goes 70 mm at most, less than a period of its reference.
func TestSwingingLoop(t *testing.T) {
	for _, kind := range shopKinds {
		if kind.p().drive == plant.VelocityDrive {
			continue
		}
		for _, late := range []int{10, 30, 40, 60, 80} { // ms
			worst, far, causes := 0, 0.0, map[Cause]int{}
			for _, side := range []float64{1, -1} {
				for k, moment := range []int{150, 300, 560} { // ticks
					rig := func() *shopRig {
						p := kind.p()
						o := shopOptions{measured: kind.measured, tick: 2, fade: 0.3, limits: AxisLimits{MaxSpeed: 100, MaxError: 10, MaxInertia: 2 * p.j},
							pid: &control.PID{Kp: 0.1, Kd: 4e-3, Limit: 0.4}, ref: reference.Spec{Kind: "sine", Amplitude: 3 * side, Frequency: 0.5}}
						if p.linear {
							o.pid, o.ref.Amplitude = &control.PID{Kp: 100e3, Kd: 5e3, Limit: 300}, 0.04*side
							o.limits = AxisLimits{MaxSpeed: 1, MaxError: 0.15, Travel: [2]float64{-0.06, 0.06}, MaxInertia: 2 * p.j}
						}
						if k == 1 {
							o.motor = func(m *plant.Motor) { m.J *= 1.5 }
						}
						s := newShop(t, p, o)
						s.start(t)
						for range moment {
							s.step()
						}
						return s
					}
					s, twin := rig(), rig()
					s.lateCommands = slices.Repeat([]float64{s.u[0]}, late/2)
					n, way, shows := 0, 0.0, -1
					for ; s.row.Mode.Energised() && n < 1500; n += 2 {
						x := s.p.x
						s.step()
						twin.step()
						way += math.Abs(s.p.x - x)
						if shows < 0 && math.Abs(s.p.effort-twin.p.effort) > 2.2*s.p.fs {
							shows = n
						}
					}
					if causes[s.row.Cause]++; late == 10 && n < 1500 {
						t.Errorf("%s, 10 ms late, %+g: %s", kind.name, side, s.row.CauseText(&s.ctl.schema))
					}
					if shows >= 0 && late > 10 {
						worst = max(worst, n-shows)
					}
					far = max(far, way)
				}
			}
			t.Logf("%-18s %d ms late: %4d ms since it shows, way %.3g %v", kind.name, late, worst, far, causes)
			if ran := causes[CauseCommand]; late > 10 && (causes[CauseDelay]+ran < 2 || late < 60 && causes[CauseDelay]+ran < 6) {
				t.Errorf("%s, %d ms late: the delay is named %d times of 6", kind.name, late, causes[CauseDelay])
			}
			within := 250
			if kind.p().drive == plant.VoltageDrive {
				within = 300
			}
			if worst > within || late > 10 && kind.p().linear && far > 0.07 {
				t.Errorf("%s, %d ms late: %d ms, %g", kind.name, late, worst, far)
			}
		}
	}
}
