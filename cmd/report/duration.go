package report

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"hilrig/configs/schema"
)

// ParseSeconds reads a time as every flag takes it: 10s, 1m30s, 0.1 ms, 5 min, or a bare number of seconds. It gives s.
func ParseSeconds(text string) (float64, error) {
	x, err := schema.ParseValue(text, "s")
	if err != nil {
		d, wrong := time.ParseDuration(text)
		if wrong != nil {
			return 0, fmt.Errorf("%q is no time: want one such as 10s, 1m30s, 0.1 ms, or a number of seconds", text)
		}
		x = d.Seconds()
	}
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, fmt.Errorf("%q is no time", text)
	}
	return x, nil
}

// secondsFlag is a flag that takes a time and gives it in s.
type secondsFlag struct {
	to       *float64
	positive bool
}

// Seconds makes such a flag.
func Seconds(to *float64) *secondsFlag { return &secondsFlag{to: to} }

// PositiveSeconds makes such a flag, which takes no time of zero and less.
func PositiveSeconds(to *float64) *secondsFlag { return &secondsFlag{to, true} }

func (f *secondsFlag) Set(text string) error {
	x, err := ParseSeconds(text)
	if err == nil && f.positive && !(x > 0) {
		err = fmt.Errorf("%g s, want > 0", x)
	}
	if err == nil {
		*f.to = x
	}
	return err
}
func (f *secondsFlag) Type() string { return "duration" }
func (f *secondsFlag) String() string {
	if f.to == nil || *f.to == 0 {
		return ""
	}
	return strconv.FormatFloat(*f.to, 'g', -1, 64) + "s"
}

// durationFlag is a flag that takes a time.
type durationFlag struct{ to *time.Duration }

// Duration makes a flag that takes a time.
func Duration(to *time.Duration, otherwise time.Duration) *durationFlag {
	*to = otherwise
	return &durationFlag{to}
}

func (f *durationFlag) Type() string { return "duration" }
func (f *durationFlag) Set(text string) error {
	x, err := ParseSeconds(text)
	if err == nil && math.Abs(x) > 9e9 {
		err = fmt.Errorf("%q is longer than 285 years", text)
	}
	if err == nil {
		*f.to = time.Duration(math.Round(x * 1e9))
	}
	return err
}
func (f *durationFlag) String() string {
	if f.to == nil || *f.to == 0 {
		return ""
	}
	return f.to.String()
}
