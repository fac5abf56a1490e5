package capture

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/numeric"
	"hilrig/engine/rotation"
	"hilrig/engine/spelling"
	"hilrig/identify/record"
)

// Known is what is known of the body besides the recording. The zero value says nothing.
type Known struct {
	Radius float64 // m, of a ball that the markers are on
	Set    []Place // markers of a rigid body
}

// Place is where a marker sits on a body.
type Place struct {
	Name     string
	Position r3.Vec // m, in right-handed axes of the body
}

// SetOf is the body that a recording shows: its markers in the frame in which most of them are seen, in the axes of the recording.
func SetOf(c *Capture) (set []Place) {
	best, most := 0, 0
	for k := range c.Time {
		n := 0
		for i := range c.Markers {
			if c.Markers[i].Visible[k] {
				n++
			}
		}
		if n > most {
			best, most = k, n
		}
	}
	for i := range c.Markers {
		if m := &c.Markers[i]; most > 0 && m.Visible[best] {
			set = append(set, Place{m.Name, m.Path[best]})
		}
	}
	return set
}

// Check looks for what a reader cannot see: a unit that makes bodies absurd, mirrored axes, markers that are missing, frames that are.
// The findings of reading are not among them. A finding about units has the factor that would make them right as its value.
func Check(c *Capture, known Known) []record.Finding {
	k := checker{Capture: &Capture{File: c.File}, c: c}
	k.time()
	k.checkVisibility()
	groups := Groups(c)
	if known.Radius > 0 {
		k.ball(known.Radius, groups)
	} else if len(known.Set) == 0 {
		k.absurd(groups)
	}
	if len(known.Set) > 0 {
		k.set(known.Set)
	}
	return k.Findings
}

// checker collects findings in a capture of its own, and looks at c.
type checker struct {
	*Capture
	c *Capture
}

// time looks at frames and their rate.
func (k *checker) time() {
	missing := Capture{Frame: k.c.Frame, Time: k.c.Time}
	missing.gapsInTime()
	k.Findings = append(k.Findings, missing.Findings...)
	if r := k.c.Rate; r < 1 || r > 20_000 {
		k.addFinding("rate", record.Warning, "", r, "Hz", "Say the right one with --rate.",
			"%.4g frames/s are no usual rate: is the time in another unit?", r)
	}
}

// rarely is the share of the frames below which a marker is named.
const rarely = 0.5

// namedAlone is how many markers are named each for itself; more are one finding.
const namedAlone = 3

// checkVisibility looks for markers and bodies that are missing.
func (k *checker) checkVisibility() {
	n := len(k.c.Time)
	var never, seldom []string
	look := func(name string, visible []bool) {
		switch seen := VisibleCount(visible); {
		case seen == 0:
			never = append(never, name)
		case float64(seen) < rarely*float64(n):
			seldom = append(seldom, fmt.Sprintf("%s (%d of %d)", name, seen, n))
		}
	}
	for _, m := range k.c.Markers {
		look(m.Name, m.Visible)
	}
	for _, b := range k.c.Bodies {
		look(b.Name, b.Visible)
	}
	tell := func(kind, what string, names []string) {
		if len(names) <= namedAlone {
			for _, name := range names {
				k.addFinding(kind, record.Warning, name, 1, "", "", "%s is %s", name, what)
			}
			return
		}
		shown, more := names[:min(len(names), 8)], ""
		if len(shown) < len(names) {
			more = " …"
		}
		k.addFinding(kind, record.Warning, "", float64(len(names)), "", "", "%d are %s: %s%s", len(names), what, strings.Join(shown, ", "), more)
	}
	tell("never-seen", "in no frame", never)
	tell("rarely-seen", "in less than half of the frames", seldom)
}

// factors are the mistakes that are made with units, by what the true length is of the one that was read.
var factors = []struct {
	factor float64
	is     string
}{
	{1e-3, "mm"}, {1e-2, "cm"}, {1e-6, "µm"}, {0.0254, "inches"}, {1e3, "m read as mm"}, {1e2, "m read as cm"}, {10, "cm read as mm"},
	{0.1, "mm read as cm"},
}

// What a laboratory moves and measures: bodies of more than 5 m or less than 1 mm, and paths over more than 200 m, are mistakes.
const (
	largestBody  = 5.0   // m
	smallestBody = 1e-3  // m
	largestField = 200.0 // m
)

// absurd says that lengths make no sense in the unit that was read.
func (k *checker) absurd(groups []Group) {
	body := 0.0
	for _, g := range groups {
		body = max(body, g.Size)
	}
	lo, hi, ok := Extent(k.c.Markers)
	for _, b := range k.c.Bodies {
		if l, h, any := Extent([]Marker{{Path: b.Position, Visible: b.Visible[:len(b.Position)]}}); any {
			lo, hi = r3.Vec{X: min(lo.X, l.X), Y: min(lo.Y, l.Y), Z: min(lo.Z, l.Z)}, r3.Vec{X: max(hi.X, h.X), Y: max(hi.Y, h.Y), Z: max(hi.Z, h.Z)}
			ok = true
		}
	}
	field := r3.Norm(r3.Sub(hi, lo))
	switch {
	case !ok:
	case body > largestBody:
		k.units(record.Warning, body, "the markers of a body are up to %.4g m apart",
			func(f float64) bool { return body*f <= 0.5 && body*f >= smallestBody })
	case field > largestField:
		k.units(record.Warning, field, "the recording is %.4g m across", func(f float64) bool { return field*f <= 20 && field*f >= 0.01 })
	case body > 0 && body < smallestBody:
		k.units(record.Warning, body, "the markers of a body are at most %.4g m apart",
			func(f float64) bool { return body*f >= 5e-3 && body*f < largestBody })
	}
}

// units says which factor would make a length right.
func (k *checker) units(s record.Severity, length float64, what string, fits func(factor float64) bool) {
	text := fmt.Sprintf(what, length)
	for _, f := range factors {
		if fits(f.factor) {
			k.addFinding("units", s, "", f.factor, "1", fmt.Sprintf("Read it with --unit %s.", k.unitFor(f.factor)),
				"%s: the unit of length is wrong; times %g they would be right (%s)", text, f.factor, f.is)
			return
		}
	}
	k.addFinding("units", s, "", math.NaN(), "1", "Look at the unit with which the file was written.",
		"%s: the unit of length is wrong, and no usual factor makes it right", text)
}

// unitFor names the unit in which the numbers of the file would be right by the factor.
func (k *checker) unitFor(factor float64) string {
	used := 1.0
	if u, ok := lengths[k.c.Unit]; ok {
		used = u
	} else if k.c.Format != Table && k.c.Format != Motive {
		used = 1e-3
	}
	for _, name := range lengthNames {
		if math.Abs(used*factor/lengths[name]-1) < 1e-9 {
			return name
		}
	}
	return "mm, m, …"
}

// ball compares the groups with a ball of known radius: no two of its markers are farther apart than its diameter.
func (k *checker) ball(radius float64, groups []Group) {
	body := 0.0 // of what moves; what rests is the room
	for _, g := range groups {
		if g.Travel > 0 && (body == 0 || math.Abs(math.Log(g.Size/radius)) < math.Abs(math.Log(body/radius))) {
			body = g.Size
		}
	}
	switch {
	case body == 0:
		k.addFinding("no-body", record.Warning, "", 0, "", "A ball needs three markers that are seen together.",
			"no group of markers moves as one body: the radius of %.4g m cannot be compared", radius)
	case body > 2.2*radius || body < 0.1*radius:
		what := fmt.Sprintf("the markers of the body are up to %%.4g m apart, on a ball of radius %.4g m", radius)
		k.units(record.Fatal, body, what, func(f float64) bool { return body*f <= 2.2*radius && body*f >= 0.4*radius })
	}
}

// set compares the markers with a known rigid body: which are missing, the scale of their distances, and the sense of their axes.
func (k *checker) set(set []Place) {
	names := make([]string, len(k.c.Markers))
	for i, m := range k.c.Markers {
		names[i] = m.Name
	}
	var at []int
	var of []Place
	for _, p := range set {
		if i := slices.Index(names, p.Name); i >= 0 {
			at, of = append(at, i), append(of, p)
			continue
		}
		k.addFinding("missing-marker", record.Fatal, p.Name, 0, "",
			spelling.Hint(p.Name, names, "Markers here: "+strings.Join(names[:min(len(names), 20)], ", ")+"."),
			"the body has a marker %s, the recording has not", p.Name)
	}
	if len(at) < 2 {
		return
	}
	if ratio := k.scaleOf(at, of); math.Abs(ratio-1) > 0.5 {
		k.units(record.Fatal, ratio, "distances on the body are %.4g times those that are known",
			func(f float64) bool { return math.Abs(ratio*f-1) < 0.1 })
	} else if math.Abs(ratio-1) > 0.02 {
		k.addFinding("scale", record.Warning, "", ratio, "1", "Measure a wand of known length: the calibration may be off.",
			"distances on the body are %.4g times those that are known", ratio)
	}
	switch proper, mirrored, flat := k.senseOf(at, of); {
	case flat:
		k.addFinding("flat-set", record.Note, "", float64(len(at)), "markers", "Put a marker out of the plane of the others.",
			"the %d known markers lie in a plane: mirrored axes cannot be told", len(at))
	case mirrored > proper:
		k.addFinding("left-handed", record.Fatal, "", float64(mirrored), "frames",
			"Change the sign of one axis where the recording is exported, or swap two of them.",
			"the axes are left-handed: in %d of %d frames the markers are the mirror image of the body", mirrored, proper+mirrored)
	}
}

// scaleOf is the median ratio of the distances that were seen and are known.
func (k *checker) scaleOf(at []int, of []Place) float64 {
	var ratio []float64
	for i := range at {
		for j := i + 1; j < len(at); j++ {
			a, b := &k.c.Markers[at[i]], &k.c.Markers[at[j]]
			var d []float64
			for f := range a.Path {
				if a.Visible[f] && b.Visible[f] {
					d = append(d, r3.Norm(r3.Sub(a.Path[f], b.Path[f])))
				}
			}
			if known := r3.Norm(r3.Sub(of[i].Position, of[j].Position)); len(d) > 0 && known > 0 {
				ratio = append(ratio, numeric.Median(d)/known)
			}
		}
	}
	if len(ratio) == 0 {
		return 1
	}
	return numeric.Median(ratio)
}

// senseOf counts frames in which the markers are a turned body, and a turned mirror image of it: by the sign of the determinant of the
// covariance Σ (p − p̄)(b − b̄)ᵀ, which is that of the best orthogonal matrix between them [Ume91]. In a plane it has none.
func (k *checker) senseOf(at []int, of []Place) (proper, mirrored int, flat bool) {
	flat = true
	seen := make([]r3.Vec, 0, len(at))
	body := make([]r3.Vec, 0, len(at))
	for f := range k.c.Time {
		seen, body = seen[:0], body[:0]
		for i, m := range at {
			if k.c.Markers[m].Visible[f] {
				seen, body = append(seen, k.c.Markers[m].Path[f]), append(body, of[i].Position)
			}
		}
		if len(seen) < 4 {
			continue
		}
		own, size := covariance(body, body)
		if own < 1e-6*size*size*size { // thinner than about a thousandth of its width
			continue
		}
		flat = false
		if det, _ := covariance(seen, body); det > 0 {
			proper++
		} else if det < 0 {
			mirrored++
		}
	}
	return proper, mirrored, flat
}

// covariance is the determinant of Σ (a − ā)(b − b̄)ᵀ, and Σ |a − ā|².
func covariance(a, b []r3.Vec) (det, size float64) {
	var meanA, meanB r3.Vec
	for i := range a {
		meanA, meanB = r3.Add(meanA, a[i]), r3.Add(meanB, b[i])
	}
	n := 1 / float64(len(a))
	var m rotation.Matrix
	for i := range a {
		p, q := r3.Sub(a[i], r3.Scale(n, meanA)), r3.Sub(b[i], r3.Scale(n, meanB))
		size += r3.Norm2(p)
		m = m.Add(1, rotation.OuterProduct(p, q))
	}
	return m.Det(), size
}
