package daemon

import (
	"math"
	"testing"

	"hilrig/configs"
	"hilrig/estimator"
	"hilrig/hil/axis"
	"hilrig/hil/wire"
)

// Every kind of the configuration becomes a controller, and what the file leaves at zero follows from sensor and friction.
func TestCompensationOfTheConfiguration(t *testing.T) {
	for i := range axis.Compensations {
		kind := axis.CompKind(i)
		cfg := configs.Demo()
		cfg.Axes[0].Compensation.Kind, cfg.Axes[0].Compensation.Bandwidth = kind, 20
		cfg.Axes[0].Compensation.Dither = estimator.DitherSpec{Kind: estimator.DitherPulse, Amplitude: 0.06, Frequency: 5}
		a, err := Assemble(cfg, Handover{})
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		a.NewRole()
		s := compSpec(cfg, &cfg.Axes[0], 1e-4)
		if s.Kind != kind || s.Dither.Kind != estimator.DitherPulse {
			t.Errorf("%s: %+v", kind, s)
		}
		// 2.4·21 mN·m in five ticks of 1 ms
		if s.Resolution != 1e-4 || math.Abs(s.Slew-10.08) > 1e-12 || s.Limit != 0 {
			t.Errorf("%s: resolution %g rad, slew %g N·m/s, limit %g N·m", kind, s.Resolution, s.Slew, s.Limit)
		}
	}
	cfg := configs.Demo()
	cfg.Axes[0].Compensation.Resolution, cfg.Axes[0].Compensation.Limit, cfg.Axes[0].Compensation.Slew = 1e-3, 0.01, 3
	if s := compSpec(cfg, &cfg.Axes[0], 1e-4); s.Resolution != 1e-3 || s.Limit != 0.01 || s.Slew != 3 || s.Kind != axis.CompObserver {
		t.Errorf("%+v", s)
	}
}

// A scale of 1 is no count of an angle in radians that comes as a float.
func TestPositionCount(t *testing.T) {
	for _, c := range []struct {
		kind               wire.Type
		scale, noise, want float64
	}{
		{wire.F64, 1, 1e-4, 1e-4 * math.Sqrt(12)}, {wire.F32, -1, 1e-4, 1e-4 * math.Sqrt(12)}, {wire.Text, 1e-6, 1e-4, 1e-6},
		{wire.F32, 1, 0, 1}, {wire.I32, 1e-2, 1e-4, 1e-2}, {wire.I32, -1e-5, 1e-4, 1e-5},
	} {
		m := configs.Demo().Devices[0].Measure[0]
		m.Type, m.Scale = c.kind, c.scale
		if got := positionCount(&m, c.noise); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("%+v: %g", c, got)
		}
	}
}
