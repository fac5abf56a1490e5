package check

import (
	"fmt"
	"math"
	"runtime"
	"strconv"

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/configs/schema"
	"hilrig/engine/plant"
)

// rigNumbers says what follows from the numbers of a rig: time constants, noises, walks, the processor. What contradicts itself is a warning.
func (a *Answer) rigNumbers(cfg *configs.Config) (warnings []schema.Problem) {
	warn := func(path, format string, args ...any) {
		warnings = append(warnings, schema.Problem{File: a.File, Path: path, Msg: path + ": " + fmt.Sprintf(format, args...)})
	}
	if n := runtime.NumCPU(); cfg.Loop.CPU >= n {
		warn("loop.cpu", "%d: this computer has the processors 0 to %d", cfg.Loop.CPU, n-1)
	} else if cfg.Loop.CPU >= 0 {
		a.fact("processor", "%d of 0 to %d", cfg.Loop.CPU, n-1)
	}
	for i := range cfg.Devices {
		d := &cfg.Devices[i]
		for k := range d.Measure {
			m := &d.Measure[k]
			if given, meant, counts := mixedUnits(m.Scale); m.Unit == "rad" && given != "" {
				warn(fmt.Sprintf("devices.%s.measure[%d].scale", d.Name, k), "one count of %s is %.6g rad, and a turn %.6g counts; with the scale "+
					"in %s in place of %s a turn is %.0f counts: do its unit and its scale belong together?", m.Name, m.Scale,
					2*math.Pi/math.Abs(m.Scale), meant, given, counts)
			}
		}
	}
	tick := 1 / cfg.Loop.Rate
	for i := range cfg.Axes {
		x := &cfg.Axes[i]
		e, path := &x.Estimator, "axes."+x.Name+".estimator"
		if m := x.Motor; x.Drive.Kind == plant.VoltageDrive && m != nil {
			a.fact("motor", "%s: L/R %s, R·J/K² %s; a tick is %s", x.Name, milliseconds(m.L/m.R), milliseconds(m.R*m.J/(m.K*m.K)), milliseconds(tick))
		}
		count := 0.0
		if dev, at := cfg.Find(x.Position, false); dev >= 0 {
			m := &cfg.Devices[dev].Measure[at]
			if _, _, counts := m.Field.Range(); counts {
				count = math.Abs(m.Scale)
			}
		}
		rounding := count / math.Sqrt(12)
		if noise := e.PositionNoise; noise > 0 || rounding > 0 {
			text := ""
			if count > 0 {
				text = ", a count is " + report.WithUnit(count, x.Unit("rad"))
			}
			if noise == 0 {
				noise, text = rounding, text+", the noise that of rounding to counts"
			}
			a.fact("noise", "%s: position %s%s", x.Name, report.WithUnit(noise, x.Unit("rad")), text)
			if noise < rounding/2 {
				warn(path+".position_noise", "%s is less than half of what rounding to counts makes, %s", report.WithUnit(noise, x.Unit("rad")),
					report.WithUnit(rounding, x.Unit("rad")))
			}
		}
		if x.Friction.Model == nil || e.EffortWalk == 0 {
			continue
		}
		a.fact("walk", "%s: friction and load are believed to change by %s in a tick and %s in a second; break-away is %s", x.Name,
			report.WithUnit(e.EffortWalk*math.Sqrt(tick), x.Unit("N·m")), report.WithUnit(e.EffortWalk, x.Unit("N·m")),
			report.WithUnit(x.Friction.Model.Levels().Rest.Max(), x.Unit("N·m")))
	}
	return warnings
}

func milliseconds(s float64) string { return fmt.Sprintf("%.3g ms", 1e3*s) }

// angles are the units in which an angle is given: a turn in them, and one of them in rad.
var angles = []struct {
	unit      string
	turn, rad float64
}{{"rad", 2 * math.Pi, 1}, {"deg", 360, math.Pi / 180}, {"turn", 1, 2 * math.Pi}}

// mixedUnits finds an encoder of which one count (rad) makes a turn no usual number of counts, but would if its scale had been given in
// another unit than the one that stands beside it; "": there is none. A count of a round number of rad is no encoder's.
func mixedUnits(count float64) (given, meant string, counts float64) {
	count = math.Abs(count)
	if round, _ := strconv.ParseFloat(strconv.FormatFloat(count, 'e', 1, 64), 64); usualCounts(2*math.Pi/count) || round == count {
		return "", "", 0
	}
	for _, is := range angles {
		for _, should := range angles {
			if n := should.turn * is.rad / count; is != should && usualCounts(n) {
				return is.unit, should.unit, n
			}
		}
	}
	return "", "", 0
}

// usualCounts tells whether encoders have so many counts a turn: powers of two, or hundreds.
func usualCounts(n float64) bool {
	k := math.Round(math.Log2(n))
	power := k >= 6 && k <= 32 && math.Abs(n/math.Exp2(k)-1) < 1e-4
	return power || n >= 200 && n <= 1e5 && math.Abs(n/100-math.Round(n/100)) < 1e-4*n/100
}
