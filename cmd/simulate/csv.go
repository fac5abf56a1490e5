package simulate

import (
	"bufio"
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"hilrig/engine/experiment"
)

// column is a column of the CSV: the end of its header, and the numbers.
type column struct {
	name, unit string // the unit on a linear axis
	x          []float64
}

// columnsOf are the columns that a word of outputs.columns stands for.
func (s *simulation) columnsOf(word string, t *experiment.Trace) []column {
	if word == "states" {
		var states []column
		for i, z := range t.States {
			states = append(states, column{z.Name, z.Unit, t.Z[i]})
		}
		return states
	}
	c := map[string]column{
		"position": {"", "m", t.X}, "velocity": {"", "m/s", t.V}, "friction": {"", "N", t.F}, "load": {"", "N", t.Drive},
		"input":         {"", s.cfg.InputUnit(), t.Input},
		"mean_velocity": {"", "m/s", t.W}, "work": {"", "J", t.Work}, "current": {"", "A", t.Amps}, "temperature": {"", "degC", t.Temp},
	}[word]
	c.name = word
	return []column{c}
}

// of is a name with the label of the law in front, where there are several.
func (s *simulation) of(r *lawRun, name string) string {
	if len(s.runs) > 1 {
		return r.law.Label + "." + name
	}
	return name
}

// Header is a name with its unit in letters that every reader of CSV takes: velocity_m_s, friction_Nm.
func Header(name, unit string) string {
	unit = strings.NewReplacer("·", "", "/", "_", "²", "2", "³", "3", "√", "sqrt", " ", "_", "(", "", ")", "", "1/", "per_", "⁻¹",
		"").Replace(unit)
	name = strings.ReplaceAll(name, " ", "_")
	if unit == "" {
		return name
	}
	return name + "_" + unit
}

// writeCSV writes the traces: time_s, the end of the step, then time_mid_s, its middle, to which friction and mean velocity
// belong, then the columns of every law, with its label in front where there are several, as sensors show them where there
// are any. Numbers have all their digits.
func (s *simulation) writeCSV(w io.Writer) error {
	names := []string{"time_s", "time_mid_s"}
	first := s.runs[0].trace
	data := [][]float64{first.T, first.TMid}
	for i := range s.runs {
		r := &s.runs[i]
		for _, word := range s.cfg.Outputs.Columns {
			for _, c := range s.columnsOf(word, r.trace) {
				unit := c.unit
				if word != "input" {
					unit = s.cfg.Unit(unit)
				}
				name := Header(c.name, unit)
				if sensor, _ := s.cfg.Sensor(word); !sensor.IsIdeal() {
					name = measuredPrefix + name
				}
				names, data = append(names, s.of(r, name)), append(data, s.measured(word, i, c.x))
			}
		}
	}

	return writeTable(w, names, len(first.T), func(k, j int) float64 { return data[j][k] })
}

// writeTable writes rows of numbers with all their digits below their names.
func writeTable(w io.Writer, names []string, rows int, at func(row, column int) float64) error {
	if err := csv.NewWriter(w).WriteAll([][]string{names}); err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 1<<16)
	var line []byte
	for k := range rows {
		line = line[:0]
		for j := range names {
			if j > 0 {
				line = append(line, ',')
			}
			line = strconv.AppendFloat(line, at(k, j), 'g', -1, 64)
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return out.Flush()
}
