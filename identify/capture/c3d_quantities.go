package capture

import (
	"math"
	"slices"
	"strings"

	"hilrig/identify/record"
)

// c3dList is a list of points that are numbers of one kind.
type c3dList struct{ list, units, usual string }

// c3dQuantities are the lists of the group POINT that name points which are no places: a model computed them, and their three numbers are
// angles, forces, moments, powers or anything else. usual is the unit where the file names none.
var c3dQuantities = []c3dList{
	{"ANGLES", "ANGLE_UNITS", "deg"},
	{"FORCES", "FORCE_UNITS", "N"},
	{"MOMENTS", "MOMENT_UNITS", "Nmm"},
	{"POWERS", "POWER_UNITS", "W"},
	{"SCALARS", "SCALAR_UNITS", ""},
}

// quantities are the units of the points that are no markers, by the number of the point.
func (f *c3dFile) quantities(names []string) map[int]string {
	units := map[string]*string{} // by name in small letters
	lists := slices.Clone(c3dQuantities)
	pairs := f.texts("POINT", "TYPE_GROUPS") // of a list and the parameter with its unit
	for i := 0; i+1 < len(pairs); i += 2 {
		known := slices.ContainsFunc(lists, func(q c3dList) bool { return q.list == pairs[i] })
		if _, place := lengths[f.text("POINT", pairs[i+1])]; pairs[i] != "" && !known && !place {
			lists = append(lists, c3dList{pairs[i], pairs[i+1], ""})
		}
	}
	for _, q := range lists {
		unit := f.text("POINT", q.units)
		if unit == "" {
			unit = q.usual
		}
		for _, name := range f.texts("POINT", q.list) {
			if _, bare, subject := strings.Cut(strings.ToLower(name), ":"); subject && units[bare] == nil {
				units[bare] = &unit
			}
			units[strings.ToLower(name)] = &unit
		}
	}
	out := map[int]string{}
	for i, name := range names {
		_, bare, subject := strings.Cut(strings.ToLower(name), ":") // of several people, each with a name in front
		unit := units[strings.ToLower(name)]
		if unit == nil && subject {
			unit = units[bare]
		}
		if unit != nil && name != "" {
			out[i] = *unit
		}
	}
	return out
}

// readQuantities reads the points that are no markers as three channels each, sampled with the frames.
func (f *c3dFile) readQuantities(names []string, units map[int]string) {
	if len(units) == 0 {
		return
	}
	scale := f.scale
	if f.floats {
		scale = 1
	}
	step := f.frameSize()
	for i, name := range names {
		unit, is := units[i]
		if !is {
			continue
		}
		var samples [3][]float64
		for k := range f.frames {
			x, residual := f.point(f.data[f.start+k*step:], i)
			for j, v := range [3]float64{x.X, x.Y, x.Z} {
				if v *= scale; residual < 0 || !usable(v) {
					v = math.NaN()
				}
				samples[j] = append(samples[j], v)
			}
		}
		for j, letter := range []string{"x", "y", "z"} {
			f.Analog = append(f.Analog, Channel{Name: name + "." + letter, Unit: unit, Rate: f.Rate, Samples: samples[j]})
		}
	}
	f.addFinding("quantities", record.Note, "", float64(len(units)), "points", "",
		"%d points are angles, forces, moments, powers or other numbers of a model by the file; they are channels, not markers", len(units))
}
