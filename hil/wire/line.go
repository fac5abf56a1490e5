package wire

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Format is the section of a text line; an empty word is the first of its list.
type Format struct {
	Separator string `yaml:"separator" enum:"comma,semicolon,tab,space" doc:"between columns; space also takes runs of blanks and tabs"`
	Decimal   string `yaml:"decimal" enum:"point,comma" doc:"how decimals are written; comma cannot be the separator then"`
	Checksum  string `yaml:"checksum" enum:"none,xor" doc:"xor: two hex digits after a * at the end of the line, over everything before it"`
	// a field of the table, or an extra first column
	Time     string  `yaml:"time,omitempty" doc:"name of the column that carries device time; empty: none"`
	TimeUnit float64 `yaml:"time_unit" unit:"s" want:">=1e-9 <=3600" doc:"one count of the time column"`
	TimeBits int     `yaml:"time_bits" want:">=0 <=52" doc:"the time column wraps after 2^bits counts; 0: never"`
	LineEnd  string  `yaml:"end" enum:"lf,crlf,cr" doc:"end of the lines that are sent"` // all of them are understood
}

// MaxLine is the longest line that is taken, in bytes without its end.
const MaxLine = 1024

// layout is a checked Format.
type layout struct {
	sep, decimal byte
	xor          bool
	lineEnd      string
	unit         float64 // ns per count of the time column; 0: there is none
	wrap         int64   // ns
	timeBits     int
	timeCol      int  // index of the column of time, -1 none
	extra        bool // that column is not a field
	dashes       bool // no column can be empty: a - stands for a field that is absent
}

// check turns words into bytes and returns every problem at once.
func (f Format) check(fields []Field) (l layout, err error) {
	errs := []error{checkFields(fields, true)}
	word := func(key, got string, table map[string]string) string {
		v, ok := table[got]
		if !ok {
			errs = append(errs, fmt.Errorf("%s %q is not known", key, got))
			return " "
		}
		return v
	}
	l.sep = word("separator", f.Separator, map[string]string{"": ",", "comma": ",", "semicolon": ";", "tab": "\t", "space": " "})[0]
	l.decimal = word("decimal", f.Decimal, map[string]string{"": ".", "point": ".", "comma": ","})[0]
	l.xor = word("checksum", f.Checksum, map[string]string{"": "n", "none": "n", "xor": "x"}) == "x"
	l.lineEnd = word("end", f.LineEnd, map[string]string{"": "\n", "lf": "\n", "crlf": "\r\n", "cr": "\r"})
	if l.sep == l.decimal {
		errs = append(errs, errors.New("comma cannot be both separator and decimal sign"))
	}
	l.timeCol = -1
	if f.Time != "" {
		l.timeCol = slices.IndexFunc(fields, func(fd Field) bool { return fd.Name == f.Time })
		if l.extra = l.timeCol < 0; l.extra {
			l.timeCol = 0
		}
		if !(f.TimeUnit >= 1e-9 && f.TimeUnit <= 3600) {
			errs = append(errs, fmt.Errorf("time_unit %v s, want 1 ns to 1 h", f.TimeUnit))
		}
		if f.TimeBits < 0 || f.TimeBits > 52 {
			errs = append(errs, fmt.Errorf("time_bits %d, want 0 (never wraps) to 52", f.TimeBits))
		}
		l.unit = f.TimeUnit * 1e9
		if w := math.Ldexp(l.unit, f.TimeBits); f.TimeBits > 0 && w < 1<<60 { // beyond 36 years it never wraps
			l.wrap, l.timeBits = int64(math.Round(w)), f.TimeBits
		}
	}
	l.dashes = l.sep == ' ' || l.columns(len(fields)) == 1
	if err = errors.Join(errs...); err != nil {
		return l, fmt.Errorf("line format: %w", err)
	}
	return l, nil
}

// columns is the number of columns of a line.
func (l *layout) columns(fields int) int {
	if l.extra {
		return fields + 1
	}
	return fields
}

// xorHex is the checksum of a line as two digits.
func xorHex(b []byte) (hi, lo byte) {
	var x byte
	for _, c := range b {
		x ^= c
	}
	const hex = "0123456789ABCDEF"
	return hex[x>>4], hex[x&15]
}
