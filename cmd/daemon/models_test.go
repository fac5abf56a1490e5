package daemon

import (
	"slices"
	"testing"

	"hilrig/configs"
	"hilrig/hil"
)

// ballRig has a drive and a tracker; the ball's signals stand in another order than the tracker's measurements.
const ballRig = `version: 2
rig: {name: bench}
loop: {rate: 1 kHz}
devices:
  drive:
    port: virtual
    measure: [{name: angle, unit: rad, type: i32, scale: 1e-4}]
    command: [{name: voltage, unit: V, type: i16, scale: 1 mV, limit: ±24 V, slew: 20000 V/s, safe: 0 V}]
  tracker:
    port: virtual
    measure:
      - {name: frame, type: u8}
      - {name: qx, type: f32}
      - {name: qy, type: f32}
      - {name: qz, type: f32}
      - {name: qw, type: f32}
      - {name: z, unit: m, type: f32}
      - {name: x, unit: m, type: f32}
      - {name: y, unit: m, type: f32}
axes:
  shaft:
    position: drive.angle
    drive: {kind: voltage, command: drive.voltage}
    motor: {R: 1.2 Ω, L: 0.6 mH, K: 0.042 N·m/A, J: 7e-5 kg·m²}
    friction: {law: coulomb, Fc: 10 mN·m}
    estimator: {effort_walk: 0.1 N·m/√s, current_noise: 20 mA}
    control: {kind: pd, kp: 0.25 N·m/rad, kd: 6 mN·m·s/rad, limit: 0.4 N·m}
models:
  ball:
    kind: ball
    ball:
      body: {radius: 35 mm, mass: 54 g, inertia: [36535.4e-9, 36535.4e-9, 22355.6e-9], center_of_mass: [0, 0, 10.9 mm]}
      position: [tracker.x, tracker.y, tracker.z]
      orientation: [tracker.qw, tracker.qx, tracker.qy, tracker.qz]
`

// A ball finds its seven signals and their age in a row, and its coefficients are parameters with standard errors.
func TestBallFindsItsSignals(t *testing.T) {
	cfg, err := configs.LoadBytes("ball.yaml", []byte(ballRig))
	if err != nil {
		t.Fatal(err)
	}
	spec, err := ControllerSpec(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s := ballSpec(cfg.Models[0].Ball, spec.Meas)
	var names []string
	for _, at := range append(append(s.Position[:], s.Orientation[:]...), s.Age) {
		names = append(names, spec.Meas[at].Name)
	}
	want := []string{"tracker.x", "tracker.y", "tracker.z", "tracker.qw", "tracker.qx", "tracker.qy", "tracker.qz"}
	if !slices.Equal(names[:7], want) || spec.Meas[s.Age].Role != hil.RoleAge || spec.Meas[s.Age].Owner != "tracker" {
		t.Errorf("signals %v, want %v and the age of the tracker", names, want)
	}
	c, err := hil.NewController(spec)
	if err != nil {
		t.Fatal(err)
	}
	schema := c.Schema()
	_, values := schema.FindAll(hil.Modelled, hil.RoleParameter)
	_, errors := schema.FindAll(hil.Modelled, hil.RoleStdErr)
	if len(values) != 3 || len(errors) != 3 || values[0].Name != "ball.roll" || errors[0].Name != "ball.roll_se" || values[0].Unit != "N·m·s" {
		t.Errorf("parameters %v with errors %v", values, errors)
	}
	if again, err := cfg.Marshal(); err != nil {
		t.Error(err)
	} else if back, err := configs.LoadBytes("again.yaml", again); err != nil || *back.Models[0].Ball != *cfg.Models[0].Ball {
		t.Errorf("the ball does not come back from its file: %v", err)
	}
}
