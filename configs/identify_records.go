package configs

import (
	"path/filepath"
	"slices"
	"strings"

	"hilrig/configs/schema"
)

// Records are files with the same named columns: text, plain or gzip, MAT files, or recordings of this program.
type Records struct {
	File         string     `yaml:"file" doc:"relative to this file"`
	Source       string     `yaml:"source,omitempty" doc:"where the record is to be had, or the command that makes it; said where it is not there"`
	FurtherFiles []string   `yaml:"more,omitempty" doc:"further files with the same columns, fitted together"`
	Rate         float64    `yaml:"rate" unit:"Hz" want:">=0" doc:"sampling rate of a file without time column"`
	Span         [2]float64 `yaml:"span" unit:"s" doc:"only this time of the records to fit, [from, to]; to 0: their end"`
	Resample     float64    `yaml:"resample" unit:"Hz" want:">=0" doc:"interpolate uneven samples to this rate; 0: refuse them"`
	SplitGaps    bool       `yaml:"split_gaps" doc:"cut the record at gaps instead of refusing them"`
	Separator    string     `yaml:"separator" enum:"auto,comma,semicolon,tab" doc:"between columns; auto: found in the header row"`
	Decimal      string     `yaml:"decimal" enum:"point,comma" doc:"the decimal sign"`
}

// SetDefaults says what a data section starts from.
func (d *Records) SetDefaults() { d.Separator, d.Decimal = "auto", "point" }

func defaultRecords() (d Records) {
	d.SetDefaults()
	return d
}

// Files are the records to fit.
func (d *Records) Files() []string { return append([]string{d.File}, d.FurtherFiles...) }

// paths are those of Files.
func (d *Records) paths() []*string {
	list := []*string{&d.File}
	for i := range d.FurtherFiles {
		list = append(list, &d.FurtherFiles[i])
	}
	return list
}

// check looks at what a data section at a place says of its files.
func (d *Records) check(r *schema.Report, at string) {
	r.FirstErrorIf(d.File == "", at+".file", "is missing: the record, a CSV or MAT file, plain or gzip, or a recording")
	s := d.Span
	r.ErrorIf(s != [2]float64{} && !(s[0] >= 0 && (s[1] == 0 || s[1] > s[0])), at+".span", "from %g to %g s, want rising times", s[0], s[1])
}

// checkTime looks for what tells the time of samples: the column t, at a place of its own, or a rate.
func (d *Records) checkTime(r *schema.Report, at, timeAt string, t IdentifyColumn) {
	switch {
	case t.Name == "" && d.Rate == 0 && !recordingName(d.File):
		r.KeyErrorf(timeAt, "is missing: name the column of time, or give %s.rate if there is none", at)
	case t.Name != "" && d.Rate != 0:
		r.KeyErrorf(at+".rate", "the time column %q tells the rate already; leave one of them out", t.Name)
	}
}

// recordingName tells whether a file can be a recording of this program, a folder or an MCAP: it knows the time of its samples.
func recordingName(file string) bool {
	ext := strings.ToLower(filepath.Ext(strings.TrimSuffix(file, ".gz")))
	return ext == ".mcap" || !slices.Contains([]string{".csv", ".tsv", ".txt", ".dat", ".mat"}, ext)
}

// check looks at a column for a quantity with the unit si, at a place.
func (c IdentifyColumn) check(r *schema.Report, at, si string, needed bool) {
	if r.HasProblem(at) || c.Name == "" && !needed {
		return
	}
	if c.Name == "" {
		r.Errorf(at, "%s.name is missing: the column of the file that holds it", at)
	} else if _, _, err := c.Factors(si); err != nil {
		r.KeyErrorf(at, "%v", err)
	}
}

// MachineRecords are those of a machine, each of whose columns has a place of its own.
type MachineRecords struct {
	Records
	Time IdentifyColumn `yaml:"time" doc:"may be left out if rate is given"`
}

// ofMachine is a file to identify a machine.
type ofMachine interface {
	parts() (version int, machine *string, data *MachineRecords, validate []string)
	check(r *schema.Report)              // its own values
	checkMachine(r *schema.Report) error // the file of the machine, which it reads; the error is about that file
}

// loadOfMachine reads and checks a file to identify a machine into c, which has its defaults, and the file of its machine. Paths come back
// joined to the folder of the file.
func loadOfMachine[T any](name string, text []byte, c *T, of ofMachine) (*T, []schema.Problem, error) {
	var bad error
	c, warnings, err := load(name, text, c, func(r *schema.Report) {
		r.CheckBounds(c)
		version, machine, data, validate := of.parts()
		r.FirstErrorIf(version != 1, "version", "%d, this program reads version 1", version)
		if !r.HasProblem("data") {
			data.check(r, "data")
			data.checkTime(r, "data", "data.time", data.Time)
			data.Time.check(r, "data.time", "s", false)
		}
		of.check(r)
		joinPaths(filepath.Dir(name), append(data.paths(), machine)...)
		for i := range validate {
			joinPaths(filepath.Dir(name), &validate[i])
		}
		switch kind := KindOf(*machine); {
		case r.HasProblem("machine"):
		case *machine == "":
			r.KeyErrorf("machine", "is missing: the file of the machine, which hil simulate takes")
		case kind != MachineFile && kind != UnknownFile:
			r.KeyErrorf("machine", "%s describes no machine: it has no key machine with bodies", *machine)
		default:
			bad = of.checkMachine(r)
		}
	})
	if bad != nil {
		return nil, warnings, bad
	}
	return c, warnings, err
}
