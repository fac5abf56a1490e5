package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"hilrig/configs"
)

// The CSV of a run with sensors is a record: what was true is seen through noise and steps, and its columns say so by name,
// measured_position_m. The sequence of a column depends on the seed, the law's place in the file and the column alone, so
// that further columns or laws leave it as it is.

// sensedColumns are the words of outputs.columns in the order of their sequences.
var sensedColumns = []string{"position", "velocity", "friction", "load", "mean_velocity"}

// measured is a column as the sensor before it shows it: a copy, or the column itself behind an exact one.
func (s *simulation) measured(word string, law int, x []float64) []float64 {
	sensor, _ := s.cfg.Sensor(word)
	if sensor.IsIdeal() {
		return x
	}
	i := slices.Index(sensedColumns, word)
	rng := rand.New(rand.NewPCG(uint64(s.cfg.Sensors.Seed), uint64(law*len(sensedColumns)+i)))
	y := make([]float64, len(x))
	for k, v := range x {
		if sensor.Noise > 0 {
			v += sensor.Noise * rng.NormFloat64()
		}
		if r := sensor.Resolution; r > 0 {
			v = r*math.Round(v/r) + 0 // no minus zero
		}
		y[k] = v
	}
	return y
}

// sensorTexts say what stands before the columns, for people.
func (s *simulation) sensorTexts() []string {
	var out []string
	for _, word := range s.cfg.Outputs.Columns {
		sensor, unit := s.cfg.Sensor(word)
		if sensor.IsIdeal() {
			continue
		}
		var parts []string
		if sensor.Noise > 0 {
			parts = append(parts, "noise of "+prefixed(sensor.Noise, unit))
		}
		if sensor.Resolution > 0 {
			parts = append(parts, "steps of "+prefixed(sensor.Resolution, unit))
		}
		out = append(out, fmt.Sprintf("%s with %s", word, strings.Join(parts, " and ")))
	}
	return out
}

// sensorResult is the part of the JSON about sensors; nil without them.
type sensorResult struct {
	Seed    int                    `json:"seed"`
	Prefix  string                 `json:"prefix"`  // of the columns that are measured
	Columns map[string]sensorShare `json:"columns"` // by word of outputs.columns
}

// sensorShare is what one column went through, in the unit of the column.
type sensorShare struct {
	Noise      float64 `json:"noise"`
	Resolution float64 `json:"resolution"`
}

func sensorsOf(c *configs.Simulate) *sensorResult {
	if c.Sensors == nil {
		return nil
	}
	out := &sensorResult{Seed: c.Sensors.Seed, Prefix: measuredPrefix, Columns: map[string]sensorShare{}}
	for _, word := range c.Outputs.Columns {
		if s, _ := c.Sensor(word); !s.IsIdeal() {
			out.Columns[word] = sensorShare{s.Noise, s.Resolution}
		}
	}
	return out
}

// measuredPrefix begins the name of a column that a sensor shows.
const measuredPrefix = "measured_"
