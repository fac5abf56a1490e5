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
	"slices"
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

// parameters is a pointer to a struct of them.
type parameters[P any] interface {
	*P
	fields() []field
}

func entry[P any, Q parameters[P], T Toy](name, title, source string, def func() P, build func(P) (T, error)) Info {
	return Info{Name: name, Title: title, Source: source, newToy: func() ([]field, func() (Toy, error)) {
		p := def()
		return Q(&p).fields(), func() (Toy, error) {
			t, err := build(p)
			if err != nil {
				return nil, err
			}
			return t, nil
		}
	}}
}

// num is a field with the range of its values.
func num(at *float64, name, unit, doc string, lo, hi float64) field {
	return field{engine.Param{Name: name, Unit: unit, Doc: doc, Value: *at, Lo: lo, Hi: hi}, at}
}

// law has the fields of a contact law.
func law(l *contact.Law, of string) []field {
	return []field{
		num(&l.Mu, of+".mu", "", "coefficient of friction", 0, 10),
		num(&l.EpsN, of+".eps_n", "", "restitution along the normal", 0, 1),
		num(&l.EpsT, of+".eps_t", "", "restitution along the tangent", 0, 1),
		num(&l.Nu, of+".nu", "", "share of eps_t kept by a contact that slides", 0, 1),
	}
}

var (
	inf = math.Inf(1)
	// tiny is the lower bound of what has to be positive.
	tiny = math.SmallestNonzeroFloat64
)

// check says which parameters of a toy are out of range.
func check(toy string, fields []field) error {
	var errs []error
	for _, f := range fields {
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
