package configs

import (
	"fmt"
	"math"
	"path/filepath"
)

// Identify describes an identification: a measured axis, where its record stands, and what is fitted. Numbers follow the
// rules of Config. Columns of the record are numbers without unit; what they measure is said by unit, and by gain where
// the column is not the wanted quantity itself (a command in V that a drive turns into a force, encoder counts).
type Identify struct {
	Version     int            `yaml:"version" doc:"format of this file, 1"`
	Name        string         `yaml:"name" doc:"name of the axis"`
	Description string         `yaml:"description,omitempty" doc:"one line for people"`
	Axis        string         `yaml:"axis" enum:"linear,rotary" doc:"linear: position in m, force in N; rotary: position in rad, torque in N·m"`
	Data        IdentifyData   `yaml:"data" doc:"the record"`
	Validate    string         `yaml:"validate,omitempty" doc:"a second record with the same columns, explained by the parameters but not used to find them"`
	Terms       []string       `yaml:"terms" enum:"inertia,viscous,coulomb,offset,viscous+,viscous-,coulomb+,coulomb-,stiffness,gravity-sin,gravity-cos" doc:"what is fitted"`
	Filter      IdentifyFilter `yaml:"filter" doc:"the zero-phase Butterworth low-pass of the position"`
	Decimate    int            `yaml:"decimate" want:">=1 <=1000" doc:"every n-th sample is kept, after a zero-phase filter of both sides; 1: all"`
	Trim        float64        `yaml:"trim" unit:"s" want:">=0" doc:"left out at each end of the record"`
	MinVelocity float64        `yaml:"min_velocity" unit:"m/s|rad/s" want:">=0" doc:"slower samples are left out of the fit; 0: none"`
	RequireFit  float64        `yaml:"require_fit" unit:"%" want:">=0 <=100" doc:"a fit below this is a missed quality gate; 0: no gate"`
}

// IdentifyData is a text file, plain or gzip, with a header row that names the columns.
type IdentifyData struct {
	File      string          `yaml:"file" doc:"relative to this file"`
	Columns   IdentifyColumns `yaml:"columns" doc:"which column is what"`
	Rate      float64         `yaml:"rate" unit:"Hz" want:">=0" doc:"sampling rate of a file without time column"`
	Separator string          `yaml:"separator" enum:"auto,comma,semicolon,tab" doc:"between columns; auto: found in the header row"`
	Decimal   string          `yaml:"decimal" enum:"point,comma" doc:"the decimal sign"`
}

// IdentifyColumns are the signals that a fit needs.
type IdentifyColumns struct {
	Time     IdentifyColumn `yaml:"time" doc:"may be left out if rate is given"`
	Position IdentifyColumn `yaml:"position" doc:"of the axis"`
	Force    IdentifyColumn `yaml:"force" doc:"force or torque of the drive on the axis, positive in the direction of positive position"`
}

// IdentifyColumn is one column. SI value = number · gain.
type IdentifyColumn struct {
	Name string `yaml:"name" doc:"as in the header row"`
	Unit string `yaml:"unit" doc:"of the numbers in the file; empty: a pure number"`
	Gain string `yaml:"gain,omitempty" doc:"factor with unit, such as 35.15 N/V for a command in V; empty: 1"`
}

// IdentifyFilter is a low-pass.
type IdentifyFilter struct {
	Order  int     `yaml:"order" want:">=1 <=12"`
	Cutoff float64 `yaml:"cutoff" unit:"Hz" want:">0" doc:"−3 dB of one pass, −6 dB of both"`
}

// DefaultIdentify is what an identification file starts from: the procedure published with the EMPS record.
func DefaultIdentify() *Identify {
	return &Identify{
		Version:  1,
		Axis:     "linear",
		Data:     IdentifyData{Separator: "auto", Decimal: "point"},
		Terms:    []string{"inertia", "viscous", "coulomb", "offset"},
		Filter:   IdentifyFilter{Order: 4, Cutoff: 100},
		Decimate: 10,
		Trim:     0.1,
	}
}

// LoadIdentify reads and checks an identification file. The error is *Errors and holds every problem. Relative paths of
// records come back joined to the folder of the file.
func LoadIdentify(path string) (*Identify, error) {
	c := DefaultIdentify()
	if err := LoadInto(path, c); err != nil {
		return nil, err
	}
	for _, p := range []*string{&c.Data.File, &c.Validate} {
		if *p != "" && !filepath.IsAbs(*p) {
			*p = filepath.Join(filepath.Dir(path), *p)
		}
	}
	return c, nil
}

// Check reports what is wrong with the values. The terms are checked by the fit, which knows them.
func (c *Identify) Check(r *Report) {
	if c.Version != 1 && !r.Bad("version") {
		r.Errorf("version", "version: %d, this program reads version 1", c.Version)
	}
	r.CheckBounds(c)
	if c.Data.File == "" && !r.Bad("data.file") {
		r.Errorf("data.file", "data.file is missing: the record, a CSV file, plain or gzip")
	}
	if len(c.Terms) == 0 && !r.Bad("terms") {
		r.Errorf("terms", "terms: empty, want at least one")
	}

	cols := &c.Data.Columns
	switch {
	case cols.Time.Name == "" && c.Data.Rate == 0:
		r.Errorf("data.columns.time", "data.columns.time is missing: name the column of time, or give data.rate if there is none")
	case cols.Time.Name != "" && c.Data.Rate != 0:
		r.Errorf("data.rate", "data.rate: the time column %q tells the rate already; leave one of them out", cols.Time.Name)
	}
	position, force := "m", "N"
	if c.Axis == "rotary" {
		position, force = "rad", "N·m"
	}
	for _, col := range []struct {
		key  string
		c    IdentifyColumn
		want string
	}{{"time", cols.Time, "s"}, {"position", cols.Position, position}, {"force", cols.Force, force}} {
		path := "data.columns." + col.key
		switch {
		case col.c.Name == "" && col.key == "time":
			continue
		case col.c.Name == "" && !r.Bad(path):
			r.Errorf(path, "%s.name is missing: the column of the file that holds it", path)
			continue
		case r.Bad(path):
			continue
		}
		if _, err := col.c.Scale(col.want); err != nil {
			r.Errorf(path, "%s: %v", path, err)
		}
	}
}

// Scale is the factor from the numbers of the column to the unit want (SI), or why there is none.
func (c IdentifyColumn) Scale(want string) (float64, error) {
	w, err := ParseUnit(want)
	if err != nil {
		return 0, err
	}
	text, factor := c.Unit, "1"
	if c.Gain != "" {
		num, unit, err := splitNumber(c.Gain)
		if err != nil {
			return 0, fmt.Errorf("gain: %w", err)
		}
		if _, err := ParseUnit(unit); err != nil {
			return 0, fmt.Errorf("gain: %w", err)
		}
		switch factor = num; {
		case unit != "" && text != "":
			text = fmt.Sprintf("(%s)·(%s)", unit, text)
		case unit != "":
			text = unit
		}
	}
	if _, err := ParseUnit(c.Unit); err != nil {
		return 0, err
	}
	u, err := ParseUnit(text)
	switch {
	case err != nil:
		return 0, err
	case u.Offset != 0:
		return 0, fmt.Errorf("%s is no unit for this", c.Unit)
	case u.Dim != w.Dim && c.Gain == "":
		return 0, fmt.Errorf("the column is %s, want %s; if something else was recorded, give gain: how much of it one %s is", inDescribed(u), describe(w), nameOr(c.Unit, "count"))
	case u.Dim != w.Dim:
		return 0, fmt.Errorf("gain %s times a column in %s is %s, want %s", c.Gain, nameOr(c.Unit, "pure numbers"), inDescribed(u), describe(w))
	}
	scale := u.parse(factor, true)
	if scale == 0 || math.IsInf(scale, 0) {
		return 0, fmt.Errorf("gain: %s, want a number other than zero", c.Gain)
	}
	return scale, nil
}
