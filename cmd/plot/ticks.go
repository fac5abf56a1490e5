package plot

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// scale is an axis ready to be drawn: range in the unit of the data, marks, label.
type scale struct {
	min, max float64
	log      bool
	marks    []mark
	label    string
}

type mark struct {
	value float64 // in the unit of the data
	text  string
}

// newScale fits an axis to the data range [lo, hi] with about n marks.
func newScale(a Axis, lo, hi float64, n int) scale {
	switch {
	case a.Min != 0 || a.Max != 0:
		lo, hi = a.Min, a.Max
	case math.IsInf(lo, 0): // nothing to show
		lo, hi = 0, 1
		if a.Log {
			lo = 0.1
		}
	case a.Log:
		lo, hi = lo/1.1, hi*1.1
	default:
		if a.Zero {
			lo, hi = min(lo, 0), max(hi, 0)
		}
		lo, hi = margin(lo, hi)
	}
	if a.Log {
		return logScale(a, lo, hi)
	}
	if len(a.Names) > 0 {
		s := scale{min: lo, max: hi, label: labelOf(a.Name, a.Unit)}
		for i, name := range a.Names {
			s.marks = append(s.marks, mark{float64(i + 1), name})
		}
		return s
	}
	top := max(math.Abs(lo), math.Abs(hi))
	prefix, factor := prefixOf(a.Unit, top)
	// a power of ten in the label, as the prefix that is missing
	if top *= factor; top > 0 && (top < 1e-6 || top >= 1e7) && !math.IsInf(top, 0) {
		k := 3 * int(math.Floor(math.Log10(top)/3))
		prefix, factor = strings.Replace(strings.TrimRight(fmt.Sprintf("1e%d %s", k, prefix), " "), "-", "−", 1), factor/math.Pow(10, float64(k))
		if a.Unit != "" {
			prefix += " "
		}
	}
	s := scale{min: lo, max: hi, label: labelOf(a.Name, prefix+a.Unit)}

	// 1-2-5 steps in the unit shown, two marks at least
	for ; len(s.marks) < 2 && n < 100; n += 2 {
		s.marks = s.marks[:0]
		step := niceStep((hi - lo) * factor / float64(max(n, 2)))
		decimals := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
		for k := math.Ceil(lo*factor/step - 1e-9); k <= hi*factor/step+1e-9; k++ {
			v := k * step
			if len(s.marks) > 50 {
				break // a range that rounding has emptied
			}
			s.marks = append(s.marks, mark{v / factor, number(v, decimals)})
		}
	}
	return s
}

// margin widens a range by 5 % on either side; a curve that does not move gets a range of its own size.
func margin(lo, hi float64) (float64, float64) {
	d := hi - lo
	if top := max(math.Abs(lo), math.Abs(hi)); d <= 1e-9*top {
		d = 0.5 * top
		if top == 0 {
			d = 1
		}
		return lo - d, hi + d
	}
	return lo - 0.05*d, hi + 0.05*d
}

func niceStep(raw float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5} {
		if raw <= m*p*1.0001 {
			return m * p
		}
	}
	return 10 * p
}

// number prints a mark with a true minus sign.
func number(v float64, decimals int) string {
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Trim(s, "-0.") == "" {
		s = strings.TrimPrefix(s, "-") // no minus zero
	}
	return strings.Replace(s, "-", "−", 1)
}

// logScale marks the decades, every one as long as there are few; of two or less also their 2 and 5.
func logScale(a Axis, lo, hi float64) scale {
	s := scale{min: lo, max: hi, log: true, label: labelOf(a.Name, a.Unit)}
	first, last := int(math.Ceil(math.Log10(lo)-1e-9)), int(math.Floor(math.Log10(hi)+1e-9))
	every := max(1, (last-first+6)/7)
	for k := first; k <= last; k += every {
		text := "1e" + strconv.Itoa(k)
		if k >= -4 && k <= 4 {
			text = strconv.FormatFloat(math.Pow(10, float64(k)), 'g', -1, 64)
		}
		s.marks = append(s.marks, mark{math.Pow(10, float64(k)), strings.Replace(text, "-", "−", 1)})
	}
	if hi/lo <= 120 && lo >= 1e-4 && hi <= 1e5 {
		for k := first - 1; k <= last; k++ {
			for _, m := range []float64{2, 5} {
				if v := m * math.Pow(10, float64(k)); v >= lo && v <= hi {
					s.marks = append(s.marks, mark{v, strconv.FormatFloat(v, 'g', 4, 64)})
				}
			}
		}
	}
	if len(s.marks) < 2 && hi-lo > 1e-9*hi { // a part of a decade: even steps
		s.marks = s.marks[:0]
		step := niceStep((hi - lo) / 4)
		digits := int(math.Ceil(math.Log10(hi/step))) + 1
		for k := math.Ceil(lo / step); k*step <= hi; k++ {
			s.marks = append(s.marks, mark{k * step, strconv.FormatFloat(k*step, 'g', digits, 64)})
		}
	}
	return s
}

// place is where a value lies along the axis, 0 to 1 within the range.
func (s *scale) place(v float64) float64 {
	if s.log {
		return math.Log(v/s.min) / math.Log(s.max/s.min)
	}
	return (v - s.min) / (s.max - s.min)
}

func labelOf(name, unit string) string {
	switch {
	case unit == "":
		return name
	case name == "":
		return unit
	}
	return name + " / " + unit
}

// prefixOf is the SI prefix that brings top to a handy size, and the factor from the unit to the prefixed one. Only units
// whose first letter takes a prefix get one.
func prefixOf(unit string, top float64) (prefix string, factor float64) {
	first := unit
	if i := strings.IndexAny(unit, "·/"); i >= 0 {
		first = unit[:i]
	}
	switch first {
	case "m", "N", "J", "W", "V", "A", "rad", "s":
	default:
		return "", 1
	}
	for _, p := range []struct {
		name     string
		minValue float64
		f        float64
	}{{"M", 1e6, 1e-6}, {"k", 1e4, 1e-3}, {"", 0.05, 1}, {"m", 0.5e-4, 1e3}, {"µ", 0.5e-7, 1e6}, {"n", 0.5e-10, 1e9}} {
		if top >= p.minValue && !(first == "s" && p.f < 1) {
			return p.name, p.f
		}
	}
	return "", 1
}
