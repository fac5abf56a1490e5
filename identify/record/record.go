package record

import (
	"fmt"
	"math"
	"slices"
)

// Record is a recording of an axis on a uniform grid of time, in SI: metres and newtons, or radians and newton metres.
// A file may hold several pieces, each a Record of its own. Channels that were not recorded are nil.
type Record struct {
	File      string    // where it came from, "" for memory
	SHA256    string    // of the file as it lies on disk, hex
	Piece     string    // which part of the file, "" for the whole
	Dt        float64   // s, sampling interval
	Start     float64   // s, time of the first sample as recorded
	Position  []float64 // m or rad
	Velocity  []float64 // m/s or rad/s, as measured
	Force     []float64 // N or N·m, of the drive on the axis, positive in the direction of positive position
	Reference []float64 // m or rad, what the controller was told, or the far end of the spring that draws the mass
	Load      []float64 // N, normal load of the contact
	Current   []float64 // A
	Warnings  []string  // what was odd but could be used
}

// Len is the number of samples.
func (d *Record) Len() int {
	return max(len(d.Position), len(d.Velocity), len(d.Force), len(d.Reference))
}

// Duration is the time from the first to the last sample, s.
func (d *Record) Duration() float64 { return float64(d.Len()-1) * d.Dt }

// New wraps a record that is in memory already: dt in s, position and force of equal length, all finite.
func New(dt float64, position, force []float64) (*Record, error) {
	d := &Record{Dt: dt, Position: position, Force: force}
	if !(dt > 0) || math.IsInf(dt, 0) {
		return nil, &Error{Msg: fmt.Sprintf("sampling interval %g s, want > 0", dt)}
	}
	if len(position) != len(force) {
		return nil, &Error{Msg: fmt.Sprintf("%d positions but %d forces", len(position), len(force))}
	}
	for k := range position {
		if !finite(position[k]) || !finite(force[k]) {
			return nil, &Error{Msg: fmt.Sprintf("sample %d: position %g, force %g: want finite numbers", k, position[k], force[k])}
		}
	}
	d.saturation()
	return d, nil
}

// saturation warns about a force that rests on its extreme value: the drive then gave something else than was asked for.
func (d *Record) saturation() {
	if d.Len() == 0 {
		return
	}
	lo, hi := slices.Min(d.Force), slices.Max(d.Force)
	stuck := 0
	for k := 1; k < d.Len(); k++ {
		if f := d.Force[k]; f == d.Force[k-1] && (f == lo || f == hi) {
			stuck++
		}
	}
	if share := float64(stuck) / float64(d.Len()); hi > lo && share > 0.005 {
		d.Warnings = append(d.Warnings, fmt.Sprintf("%.1f %% of the force samples rest at an extreme value (%.4g or %.4g): saturation? There the true force is not the recorded one", 100*share, lo, hi))
	}
}

// Info identifies a record.
type Info struct {
	File     string  `json:"file"`
	SHA256   string  `json:"sha256,omitempty"`
	Samples  int     `json:"samples"`
	Interval float64 `json:"interval_s"`
	Duration float64 `json:"duration_s"`
}

// Info tells which record this is.
func (d *Record) Info() Info {
	return Info{File: d.File, SHA256: d.SHA256, Samples: d.Len(), Interval: d.Dt, Duration: d.Duration()}
}

// Limits of what counts as evenly sampled, relative to the sampling interval.
const (
	jitterWarn = 0.005 // rms, above: worth a remark
	jitterBad  = 0.05  // rms, above: derivatives by differences would be wrong by as much
	gapFactor  = 1.5   // an interval longer than this has lost at least a sample
)

// uniform checks that the times t (s) of the samples, which stand in the given lines, lie on a uniform grid, and sets Dt.
func (d *Record) uniform(t []float64, lines []int32) error {
	n := len(t)
	step := make([]float64, n-1)
	for k := range step {
		step[k] = t[k+1] - t[k]
		switch {
		case step[k] < 0:
			return d.Fail(int(lines[k+1]), "Two recordings in one file? Cut it there; if rows were reordered, sort them by time.",
				"time goes back by %.4g s, from %.9g s in line %d to %.9g s", -step[k], t[k], lines[k], t[k+1])
		case step[k] == 0:
			return d.Fail(int(lines[k+1]), "A row written twice, or a time column with too few digits: export more digits, or leave out data.columns.time and give data.rate.",
				"time stands still at %.9g s since line %d", t[k], lines[k])
		}
	}
	sorted := slices.Clone(step)
	slices.Sort(sorted)
	median := sorted[len(sorted)/2]
	d.Dt = (t[n-1] - t[0]) / float64(n-1)

	rms := 0.0
	for k, s := range step {
		if s > gapFactor*median {
			return d.Fail(int(lines[k+1]), "Cut the file there and use the longer part: a filter cannot run across a gap.",
				"gap of %.4g s after line %d, samples are %.4g s apart: about %.0f are missing", s, lines[k], median, math.Round(s/median)-1)
		}
		rms += (s - d.Dt) * (s - d.Dt)
	}
	rms = math.Sqrt(rms/float64(n-1)) / d.Dt
	if rms > jitterBad {
		return d.Fail(0, "Record with the clock of the device instead of the host's, or resample the file to even steps first.",
			"uneven sampling: intervals from %.4g to %.4g s scatter by %.1f %% rms around %.4g s, at most %.0f %% is accepted", sorted[0], sorted[n-2], 100*rms, d.Dt, 100*jitterBad)
	}
	if rms > jitterWarn {
		d.Warnings = append(d.Warnings, fmt.Sprintf("sampling intervals scatter by %.1f %% rms; they are taken as even, %.6g s", 100*rms, d.Dt))
	}
	return nil
}

// Fail makes an *Error about this record.
func (d *Record) Fail(line int, hint, format string, args ...any) error {
	return &Error{File: d.File, Line: line, Msg: fmt.Sprintf(format, args...), Hint: hint}
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
