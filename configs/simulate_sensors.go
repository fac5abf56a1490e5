package configs

import (
	"reflect"
	"slices"
	"strings"

	"hilrig/configs/schema"
)

// SimSensors are what stands between the run and its CSV: with them the columns are those of a record, not of the truth.
// Everything else, events, work, figure, stays as it was.
type SimSensors struct {
	Seed     int       `yaml:"seed" want:">=0" doc:"of the noise; every column of every law has a sequence of its own"`
	Position SimSensor `yaml:"position" unit:"m" doc:"column position"`
	Velocity SimSensor `yaml:"velocity" unit:"m/s" doc:"columns velocity and mean_velocity"`
	Force    SimSensor `yaml:"force" unit:"N" doc:"columns load and friction"`
}

// SimSensor adds white noise, then rounds to whole steps: y = r·round((x + σ·n)/r). Numbers are in the unit of its columns.
type SimSensor struct {
	Noise      float64 `yaml:"noise" unit:"#" doc:"standard deviation of white Gaussian noise, from row to row"`
	Resolution float64 `yaml:"resolution" unit:"#" doc:"step to which the sum is rounded; 0: none"`
}

// DecodeNode gives the numbers the unit of the section.
func (s *SimSensor) DecodeNode(w *schema.Walker, path string, e schema.Entry, f schema.Field) {
	quantity := w.UnitIn(f.Unit)
	defer w.WithUnits(func(tag string) string {
		if tag == "#" {
			return quantity
		}
		return tag
	})()
	if m := w.Section(path, "{noise, resolution}", e); m != nil {
		w.Structure(path, m, reflect.ValueOf(s).Elem())
	}
}

// SetDefaults says what sensors start from.
func (s *SimSensors) SetDefaults() { s.Seed = 1 }

// IsIdeal tells that the sensor shows what is.
func (s SimSensor) IsIdeal() bool { return s == SimSensor{} }

// sensed are the columns of the CSV that a sensor stands before.
var sensed = []struct {
	key, unit string // the unit on a linear axis
	columns   []string
	sensor    func(s *SimSensors) SimSensor
}{
	{"position", "m", []string{"position"}, func(s *SimSensors) SimSensor { return s.Position }},
	{"velocity", "m/s", []string{"velocity", "mean_velocity"}, func(s *SimSensors) SimSensor { return s.Velocity }},
	{"force", "N", []string{"load", "friction"}, func(s *SimSensors) SimSensor { return s.Force }},
}

// Sensor is what stands before a column of outputs.columns, with the unit of its numbers.
func (c *Simulate) Sensor(column string) (of SimSensor, unit string) {
	for _, s := range sensed {
		if c.Sensors != nil && slices.Contains(s.columns, column) {
			return s.sensor(c.Sensors), c.Unit(s.unit)
		}
	}
	return SimSensor{}, ""
}

// checkSensors refuses negative numbers and warns about sensors that no column shows.
func (c *Simulate) checkSensors(r *schema.Report) {
	if c.Sensors == nil {
		return
	}
	for _, s := range sensed {
		of, unit := c.Sensor(s.columns[0])
		for key, x := range map[string]float64{"noise": of.Noise, "resolution": of.Resolution} {
			path := "sensors." + s.key + "." + key
			r.FirstErrorIf(x < 0, path, "%s %s, want ≥ 0", schema.Short(x), unit)
		}
		shown := slices.ContainsFunc(s.columns, func(col string) bool { return slices.Contains(c.Outputs.Columns, col) })
		path := "sensors." + s.key
		r.WarnIf(r.HasKey(path) && !shown, path, "outputs.columns has no %s to see with it", strings.Join(s.columns, " or "))
	}
}
