package brush

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode"

	"hilrig/engine"
)

// Field is one parameter: what a config, a study or a table in the docs needs to know about it. Exactly one of Ptr and Flag is
// set; Ptr of an Integer field holds a whole number.
type Field struct {
	Key     string // as in a file: "commutator.radius"
	Symbol  string // as in the equations
	Unit    string // SI, "" for a bare number
	Doc     string
	Lo, Hi  float64 // range that Validate accepts, both ends included
	Integer bool
	Ptr     *float64
	Flag    *bool
}

// Table lists every parameter of p in the order of the fields; the pointers lead into p.
func (p *Params) Table() []Field { return tableOf(nil, reflect.ValueOf(p).Elem(), "", "") }

// tableOf appends the fields of a section, whose keys begin with lead and whose symbols end with index.
func tableOf(t []Field, section reflect.Value, lead, index string) []Field {
	for at, v := range section.Fields() {
		tag := func(key string) string { return at.Tag.Get(key) }
		f := Field{Key: lead + cmp.Or(tag("key"), fileName(at.Name)), Symbol: tag("symbol") + index, Unit: tag("unit"), Doc: tag("doc"),
			Lo: limit(tag("min")), Hi: limit(tag("max")), Integer: tag("whole") != ""}
		switch to := v.Addr().Interface().(type) {
		case *float64:
			f.Ptr = to
		case *bool:
			f.Flag, f.Hi = to, 1
		default:
			if v.Kind() == reflect.Struct {
				t = tableOf(t, v, f.Key+".", f.Symbol)
			}
			continue
		}
		t = append(t, f)
	}
	return t
}

// fileName is what a field is called in a file: slot_width for SlotWidth.
func fileName(field string) string {
	var b strings.Builder
	for i, r := range field {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// limit is an end of a range; without one it is 0.
func limit(text string) float64 {
	x, err := strconv.ParseFloat(cmp.Or(text, "0"), 64)
	if err != nil {
		panic("brush: range of a parameter: " + err.Error())
	}
	return x
}

// tiltMost is the largest tilt in the holder that still counts as being guided (rad): the segments are flat and turn with the
// main body, which is a model of small angles.
const tiltMost = 0.1

// Validate names every parameter that is out of range and every way in which the brush would not stay between holder,
// commutator and spring.
func (p *Params) Validate() error {
	var all []error
	bad := func(path, format string, a ...any) { all = append(all, engine.Problemf(path, format, a...)) }
	for _, f := range p.Table() {
		switch {
		case f.Ptr == nil:
		case !(*f.Ptr >= f.Lo && *f.Ptr <= f.Hi): // catches NaN
			bad(f.Key, "%s, want %s … %s", f.text(*f.Ptr), f.text(f.Lo), f.text(f.Hi))
		case f.Integer && *f.Ptr != math.Trunc(*f.Ptr):
			bad(f.Key, "%g, want a whole number", *f.Ptr)
		}
	}
	if len(all) == 0 {
		p.fits(bad)
	}
	return errors.Join(all...)
}

func (f *Field) text(v float64) string {
	if f.Unit == "" {
		return fmt.Sprintf("%g", v)
	}
	unit, _, _ := strings.Cut(f.Unit, "|")
	return fmt.Sprintf("%g %s", v, unit)
}

// fits checks the parameters against each other.
func (p *Params) fits(bad func(path, format string, a ...any)) {
	c, b, h := &p.Commutator, &p.Brush, &p.Holder
	guided := p.Engagement()
	if need := b.Width / 2; guided < need {
		bad("brush.length", "%g m leaves %.3g m of the brush in the holder, which starts %g m above the commutator: it falls out; want at "+
			"least %.3g m guided (half the width)",
			b.Length, guided, h.CommutatorGap, need)
	} else if tilt := h.Clearance / guided; tilt > tiltMost {
		bad("holder.clearance", "%g m over %.3g m of guided length lets the brush tip by %.2g rad and fall out, want at most %g rad",
			h.Clearance, guided, tilt, tiltMost)
	}
	if h.CommutatorGap <= p.Segment.Height {
		bad("holder.commutator_gap", "%g m, want more than segment.height %g m: the holder guides the main body", h.CommutatorGap,
			p.Segment.Height)
	}
	if p.Segment.Height >= b.Length/2 {
		bad("segment.height", "%g m, want less than half of brush.length %g m", p.Segment.Height, b.Length)
	}
	if b.Width > c.Radius {
		bad("brush.width", "%g m, want at most commutator.radius %g m", b.Width, c.Radius)
	}
	if l := c.Correlation; c.Profile == nil && c.Spacing > l/20*(1+1e-9) {
		bad("commutator.spacing", "%g m, want at most correlation/20 = %g m", c.Spacing, l/20)
	}
	p.measured(bad)
	if pitch := 2 * math.Pi * c.Radius / c.Bars; c.SlotWidth+2*c.EdgeLength > pitch {
		bad("commutator.slot_width", "slot and both edges take %g m, the pitch of %g bars is %.3g m", c.SlotWidth+2*c.EdgeLength, c.Bars, pitch)
	}
	if c.SmoothOutline && c.TrueSlots {
		bad("commutator.smooth", "a smooth outline has no true slots")
	}
}
