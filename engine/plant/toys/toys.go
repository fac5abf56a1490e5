// Package toys has small mechanical systems with contact whose motion is known in closed form or from the literature: a disc
// that bounces and rolls, a block on an incline, a mass on a spring that rubs, a falling rod, discs and chains of balls that
// collide, a slider on a rough wheel and the woodpecker toy. They are what an engine for contact is tried on.
//
// Every toy is a contact.System with a struct of parameters in SI units. The same parameters can be set by name, which is what
// files do: Registry lists the toys, Info.Make builds one.
//
// Frames: x along the ground, y along its normal, angles counter-clockwise. On an incline x points downhill.
package toys

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"hilrig/engine"
	"hilrig/engine/contact"
)

// Toy is a system that knows the names of its coordinates and where to start.
type Toy interface {
	contact.System
	Coordinates() []engine.Signal // q; u has the same per second
	Start(q, u []float64)
}

// Info is a toy as a file names it.
type Info struct {
	Name   string // as in a file
	Title  string // for people
	Source string // key of docs/reference/references.md, or empty
	newToy func() ([]field, func() (Toy, error))
}

// Registry lists the toys from the simplest on.
var Registry = []Info{
	entry("ball", "disc that bounces, slides and rolls on an incline", "", DefaultBall, NewBall),
	entry("block", "block on an incline", "", DefaultBlock, NewBlock),
	entry("oscillator", "mass on a spring that rubs on a belt", "", DefaultOscillator, NewOscillator),
	entry("rod", "rod that slides and falls", "PG96", DefaultRod, NewRod),
	entry("chain", "balls in a row", "G13", DefaultChain, NewChain),
	entry("discs", "discs that collide in the plane", "", DefaultDiscs, NewDiscs),
	entry("wheel", "slider that a spring presses on a rough wheel", "", DefaultWheel, NewWheel),
	entry("woodpecker", "woodpecker toy", "LGV03", DefaultWoodpecker, NewWoodpecker),
}

// Find is the toy of that name.
func Find(name string) (Info, error) {
	var names []string
	for _, i := range Registry {
		if i.Name == name {
			return i, nil
		}
		names = append(names, i.Name)
	}
	return Info{}, fmt.Errorf("toys: no %q; there are %s", name, strings.Join(names, ", "))
}

// Params are the parameters with their defaults.
func (i Info) Params() []engine.Param {
	fields, _ := i.newToy()
	out := make([]engine.Param, len(fields))
	for k, f := range fields {
		out[k] = f.Param
	}
	return out
}

// Make builds the toy with some parameters other than their defaults, and says all that is wrong with them.
func (i Info) Make(values map[string]float64) (Toy, error) {
	fields, build := i.newToy()
	var errs []error
	for name := range values {
		if !slices.ContainsFunc(fields, func(f field) bool { return f.Name == name }) {
			errs = append(errs, fmt.Errorf("%s: no parameter %q", i.Name, name))
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	for _, f := range fields {
		if v, ok := values[f.Name]; ok {
			*f.target = v
		}
	}
	toy, err := build()
	if err = errors.Join(append(errs, err)...); err != nil {
		return nil, err
	}
	return toy, nil
}

// field is a parameter and where it is kept.
type field struct {
	engine.Param
	target *float64
}

func entry[P any, T Toy](name, title, source string, def func() P, build func(P) (T, error)) Info {
	return Info{Name: name, Title: title, Source: source, newToy: func() ([]field, func() (Toy, error)) {
		p := def()
		return fieldsOf(&p), func() (Toy, error) {
			t, err := build(p)
			if err != nil {
				return nil, err
			}
			return t, nil
		}
	}}
}

// fieldsOf are the parameters of a toy, by the tags of their struct: name, unit, doc, and want for the range. Those of contact laws come
// last. Both numbers of a pair have a name, with a comma between them, and a doc of their own, with a bar.
func fieldsOf(params any) []field {
	var numbers, laws []field
	v := reflect.ValueOf(params).Elem()
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		switch at := v.Field(i).Addr().Interface().(type) {
		case *contact.Law:
			laws = append(laws, law(at, tag.Get("name"))...)
		case *float64:
			numbers = append(numbers, num(at, tag.Get("name"), tag.Get("doc"), tag))
		case *[2]float64:
			names, docs := strings.Split(tag.Get("name"), ","), strings.Split(tag.Get("doc"), "|")
			for k := range at {
				numbers = append(numbers, num(&at[k], names[k], docs[k], tag))
			}
		}
	}
	return append(numbers, laws...)
}

// num is a field with the unit and the range that the tag says.
func num(at *float64, name, doc string, tag reflect.StructTag) field {
	f := field{engine.Param{Name: name, Unit: tag.Get("unit"), Doc: doc, Value: *at, Lo: -inf, Hi: inf}, at}
	for word := range strings.FieldsSeq(tag.Get("want")) {
		number := func(sign string) float64 {
			x, err := strconv.ParseFloat(strings.TrimPrefix(word, sign), 64)
			if err != nil {
				panic("toys: " + err.Error())
			}
			return x
		}
		switch {
		case word == "±π":
			f.Lo, f.Hi = -math.Pi, math.Pi
		case word == "±π/2":
			f.Lo, f.Hi = -math.Pi/2, math.Pi/2
		case word == ">0":
			f.Lo = tiny
		case word[0] == '>':
			f.Lo = number(">=")
		default:
			f.Hi = number("<=")
		}
	}
	return f
}

// law has the fields of a contact law.
func law(l *contact.Law, of string) []field {
	share := func(at *float64, name, doc string) field {
		return field{engine.Param{Name: of + name, Doc: doc, Value: *at, Hi: 1}, at}
	}
	list := []field{share(&l.Mu, ".mu", "coefficient of friction"), share(&l.EpsN, ".eps_n", "restitution along the normal"),
		share(&l.EpsT, ".eps_t", "restitution along the tangent"), share(&l.Nu, ".nu", "share of eps_t kept by a contact that slides")}
	list[0].Hi = 10
	return list
}

var (
	inf = math.Inf(1)
	// tiny is the lower bound of what has to be positive.
	tiny = math.SmallestNonzeroFloat64
)

// check says which parameters of a toy are out of range.
func check(toy string, params any) error {
	var errs []error
	for _, f := range fieldsOf(params) {
		v := *f.target
		if v >= f.Lo && v <= f.Hi && v-v == 0 {
			continue
		}
		want := fmt.Sprintf("%g … %g", f.Lo, f.Hi)
		switch {
		case f.Lo == tiny:
			want = "> 0"
		case math.IsInf(f.Lo, -1):
			want = "a finite number"
		case math.IsInf(f.Hi, 1):
			want = fmt.Sprintf(">= %g", f.Lo)
		}
		errs = append(errs, fmt.Errorf("%s.%s: %g, want %s", toy, f.Name, v, want))
	}
	return errors.Join(errs...)
}

// plane are the coordinates of a body.
func plane() []engine.Signal {
	return []engine.Signal{{Name: "x", Unit: "m"}, {Name: "y", Unit: "m"}, {Name: "phi", Unit: "rad"}}
}

// planeBody is a toy of one body, whose coordinates are those of its centre; planePoint one of a point.
type (
	planeBody  struct{}
	planePoint struct{}
)

func (planeBody) DOF() int                     { return 3 }
func (planeBody) Coordinates() []engine.Signal { return plane() }

func (planePoint) DOF() int                     { return 2 }
func (planePoint) Coordinates() []engine.Signal { return plane()[:2] }

// ground fills rows of a contact between a body at coordinates 0…2 and the ground y = 0, whose point lies (rx, ry) from the
// centre of gravity: w_N = (0, 1, rx), w_T = (1, 0, −ry).
func ground(set *contact.Set, i int, x, y, rx, ry, omega float64) {
	n, t := set.RowN(i), set.RowT(i)
	n[1], n[2] = 1, rx
	t[0], t[2] = 1, -ry
	set.AN[i], set.AT[i] = -omega*omega*ry, -omega*omega*rx
	set.X[i], set.Y[i], set.NY[i] = x+rx, y+ry, 1
}

// Who touches whom, for contact.Namer.

func (b *Ball) Pair(uint32) (string, string)       { return "ball", "ground" }
func (b *Block) Pair(uint32) (string, string)      { return "block", "ground" }
func (o *Oscillator) Pair(uint32) (string, string) { return "mass", "belt" }
func (d *Discs) Pair(uint32) (string, string)      { return "disc 1", "disc 2" }
func (w *Wheel) Pair(uint32) (string, string)      { return "slider", "wheel" }

func (r *Rod) Pair(id uint32) (string, string) {
	return [...]string{"left end of the rod", "right end of the rod"}[id&1], "ground"
}

func (c *Chain) Pair(id uint32) (string, string) {
	return fmt.Sprintf("ball %d", id+1), fmt.Sprintf("ball %d", id+2)
}

func (w *Woodpecker) Pair(id uint32) (string, string) {
	return [...]string{"beak", "lower edge of the sleeve", "upper edge of the sleeve"}[id%3], "pole"
}
