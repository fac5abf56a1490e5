//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// boardRig is a table: a plant, its drive, its sensors and its line.
type boardRig struct {
	name      string
	drive     string
	wire      string                  // link, text, modbus
	channels  []int                   // that are sent, in this order
	limits    bool                    // the file declares limits
	rate      float64                 // Hz, of the board
	loop      float64                 // Hz
	heavy     bool                    // the stage
	still     bool                    // the reference is zero, and stays it
	plays     func(f *boardCase) bool // the faults of the long table that are played on it; nil: all
	odd       func(*boardPlant)       // what is not as the file says
	always    []string                // faults that the ordinary tests play on it
	reference string                  // left out: a sine
	extra     map[string]string       // texts of the file, replaced
	count     float64                 // rad or m
	noise     [len(boardChannels)]float64
	limit     float64 // of the command
	slew      float64
	reach     float64 // rad or m, amplitude of the reference
	pace      float64 // rad/s or m/s, its highest speed
}

func (r boardRig) plant() boardPlant {
	p := r.modelled()
	if r.odd != nil {
		r.odd(&p)
	}
	return p
}

// modelled is the plant as the file describes it.
func (r boardRig) modelled() boardPlant {
	switch {
	case r.heavy:
		return heavyStage(r.drive)
	case r.wire == "modbus":
		return gearedMotor(r.drive)
	}
	return smallMotor(r.drive)
}

// has tells whether all channels are measured.
func (r boardRig) has(channels ...int) bool {
	for _, c := range channels {
		found := false
		for _, x := range r.channels {
			found = found || x == c
		}
		if !found {
			return false
		}
	}
	return true
}

// slow tells a line of 50 samples a second, which leads the geared motor.
func (r boardRig) slow() bool { return r.wire == "modbus" }

func newBoardRig(name, drive, wire string, limits bool, channels ...int) boardRig {
	r := boardRig{name: name, drive: drive, wire: wire, limits: limits, channels: append([]int{chPosition}, append(channels, chStatus)...),
		rate: 500, loop: 500, count: 1e-4, noise: [...]float64{0, 0.02, 0.05, 1e-3, 0, 0}, reach: 3, pace: 9.4}
	switch drive {
	case "voltage":
		r.limit, r.slew = 24, 20000
	case "current":
		r.limit, r.slew = 10, 5000
	case "effort":
		r.limit, r.slew = 0.4, 200
	case "velocity":
		r.limit, r.slew = 40, 2000
	}
	if wire == "modbus" {
		r.rate, r.loop, r.limit, r.slew, r.reach, r.pace = 1000, 50, 12, 500, 1.57, 2
	}
	return r
}

func stageRig(name, wire string, channels ...int) boardRig {
	r := newBoardRig(name, "current", wire, true, channels...)
	r.heavy, r.count, r.reach, r.pace = true, 1e-6, 0.04, 0.126
	r.noise = [...]float64{0, 0.02, 1e-3, 0.5, 0, 0}
	return r
}

// slug makes a name of what a rig is called: what one daemon keeps is no other's.
var slug = strings.NewReplacer(", ", "-", " ", "-", "−", "minus-", "'", "", ".", "")

// file writes the configuration.
func (r boardRig) file(t *testing.T, port string) string {
	t.Helper()
	turn, push, kind := "rad", "N·m", "rotary"
	if r.heavy {
		turn, push, kind = "m", "N", "linear"
	}
	units := map[int]string{chPosition: turn, chCurrent: "A", chSpeed: turn + "/s", chTorque: push,
		chApplied: map[string]string{"voltage": "V", "current": "A", "effort": push, "velocity": turn + "/s"}[r.drive]}
	number := map[string]string{"link": "f64", "text": "text", "modbus": "f32"}[r.wire]
	var measure, axis strings.Builder
	for _, c := range r.channels {
		var more string
		if c == chCurrent && r.limits {
			more = ", range: ±20 A"
		}
		if r.wire == "modbus" {
			more += fmt.Sprintf(", at: {slave: 1, register: %d}", 2*c)
		}
		if c == chPosition && r.wire != "modbus" {
			more += fmt.Sprintf(", scale: %g", 1.0)
		}
		kind := number
		if c == chStatus && r.wire != "text" {
			kind = map[string]string{"link": "u8", "modbus": "u16"}[r.wire]
		}
		unit := ""
		if units[c] != "" {
			unit = ", unit: " + units[c]
		}
		fmt.Fprintf(&measure, "      - {name: %s%s, type: %s%s}\n", boardChannels[c], unit, kind, more)
	}
	line := map[string]string{"text": "    protocol: line\n    line: {time: t, time_unit: 1 us, time_bits: 32}\n",
		"modbus": "    protocol: modbus\n    modbus: {parity: even, delay: 1 ms, silence: 0.4 ms, timeout: 20 ms, late: 20 ms, " +
			"retry: 1}\n"}[r.wire]
	at := func(n int) string {
		if r.wire != "modbus" {
			return ""
		}
		return fmt.Sprintf(", at: {slave: 1, register: %d}", n)
	}
	enable := map[string]string{"link": "u8", "text": "text", "modbus": "u16"}[r.wire]
	for c, key := range map[int]string{chCurrent: "current", chSpeed: "velocity", chTorque: "effort"} {
		if r.has(c) {
			fmt.Fprintf(&axis, "    %s: drive.%s\n", key, boardChannels[c])
		}
	}
	p := r.modelled()
	drive := "kind: " + r.drive + ", command: drive.command, enable: drive.enable"
	if r.has(chApplied) {
		drive += ", applied: drive.applied"
	}
	if r.drive != "voltage" && (r.drive == "current" || r.has(chCurrent)) {
		drive += fmt.Sprintf(", K: %g", p.constant)
	}
	fmt.Fprintf(&axis, "    drive: {%s}\n", drive)
	switch {
	case r.drive == "voltage":
		drop := ""
		if p.drop > 0 {
			drop = fmt.Sprintf("brush_drop: %g, drop_current: 0.05, ", p.drop)
		}
		fmt.Fprintf(&axis, "    motor: {R: %g, L: %g, K: %g, %sJ: %g}\n", p.resistance, p.inductance, p.constant, drop, p.mass)
	case r.drive != "velocity":
		fmt.Fprintf(&axis, "    inertia: %g\n", p.mass)
	}
	estimator := []string{fmt.Sprintf("position_noise: %g", r.count)}
	if r.drive != "velocity" {
		fmt.Fprintf(&axis, "    friction: {law: lugre, sigma0: %g, sigma1: %g, sigma2: %g, Fc: %g, Fs: %g, vs: %g, vd: %g}\n", p.sigma0,
			p.sigma1, p.sigma2, p.coulomb, p.static, p.stribeck, p.stribeck)
		estimator = append(estimator, fmt.Sprintf("effort_walk: %g", p.static*5))
	} else {
		estimator = append(estimator, "acceleration_walk: 3000")
	}
	if r.has(chCurrent) || r.drive == "voltage" {
		estimator = append(estimator, "current_noise: 0.02")
	}
	if r.has(chSpeed) {
		estimator = append(estimator, fmt.Sprintf("velocity_noise: %g, velocity_share: 0.01", r.noise[chSpeed]))
	}
	if r.has(chTorque) && r.drive != "voltage" {
		estimator = append(estimator, fmt.Sprintf("effort_noise: %g", r.noise[chTorque]))
	}
	control := "{kind: pd, kp: 0.1, kd: 0.004, limit: 0.4}"
	guard := "{max_speed: 100, max_error: 10"
	switch {
	case r.heavy:
		control, guard = "{kind: pd, kp: 100e3, kd: 5e3, limit: 300}", "{max_speed: 1, max_error: 0.15, travel: [-0.06, 0.06]"
	case r.drive == "velocity":
		control = "{gain: 20}"
	case r.wire == "modbus":
		control = "{kind: pd, kp: 0.03, kd: 0.02, limit: 0.06}"
	}
	if r.has(chCurrent) {
		guard += ", max_current: 15, rated_current: 5, thermal_time: 2"
	}
	if r.drive != "velocity" && !r.has(chSpeed) { // as a user would; the rigs with all sensors, and those without limits, leave it out
		guard += fmt.Sprintf(", max_inertia: %g", 2*p.mass)
	}
	if guard += "}"; !r.limits {
		guard = "{}"
	}
	reference := r.reference
	if reference == "" {
		reference = fmt.Sprintf("{kind: sine, amplitude: %g, frequency: %g, fade: 0.3 s}", r.reach,
			map[bool]float64{true: 0.2, false: 0.5}[r.wire == "modbus"])
	}
	text := fmt.Sprintf(`version: 2
rig: {name: %s, description: "%s"}
loop: {rate: %g Hz, beat: 5 s, overrun: {limit: 5 s}}
devices:
  drive:
    port: %s
    baud: %d
    rate: %g Hz
    status: status
%s    measure:
%s    command:
      - {name: command, unit: %s, type: %s, scale: %g, limit: ±%g, slew: %g, safe: 0%s}
      - {name: enable, type: %s%s}
axes:
  shaft:
    kind: %s
    position: drive.angle
%s    estimator: {%s}
    reference: %s
    control: %s
    guard: %s
guard: {selftest_time: 100 ms}
record: {dir: "%s"}
web: {commands: true}
`, slug.Replace(r.name), r.name, r.loop, port, map[bool]int{true: 115200, false: 921600}[r.wire == "modbus"], map[bool]float64{true: r.loop, false: r.rate}[r.wire == "modbus"], line, measure.String(),
		units[chApplied], number, r.commandScale(), r.limit, r.slew, at(20), enable, at(22), kind, axis.String(), strings.Join(estimator, ", "),
		reference, control, guard, t.TempDir())
	for from, to := range r.extra {
		if !strings.Contains(text, from) {
			t.Fatalf("the file has no %q:\n%s", from, text)
		}
		text = strings.ReplaceAll(text, from, to)
	}
	path := filepath.Join(t.TempDir(), "board.yaml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// commandScale is what a command of 1 on the line means; a binary float is a count times this.
func (r boardRig) commandScale() float64 { return 1e-6 }
