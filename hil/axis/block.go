package axis

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"hilrig/engine/friction"
	"hilrig/engine/plant"
)

// Block is a Set as plain numbers: it can lie in shared memory, be compared, and be made a model of without garbage. The zero block is the
// model of the file.
type Block struct {
	law            uint32 // place in friction.Laws, plus 1; 0: that of the file
	sided          uint32 // bit i: parameter i has a number of its own for v < 0
	motor          uint32 // bit i: number i of the motor is given
	_              uint32
	params         [maxParams]float64 // in the order of the law
	backwardParams [maxParams]float64 // … for v < 0
	values         [len(motorNumbers)]float64
}

// maxParams is the room for the parameters of a law; a test compares it with the registry.
const maxParams = 24

// motorNumber is a number of a motor that a Set may name.
type motorNumber struct {
	name    string
	voltage bool // known of a voltage drive only
	drop    bool // of the brush drop: may be 0
	field   func(*plant.Motor) *float64
}

// motorNumbers are those of a motor that a Set may name.
var motorNumbers = [...]motorNumber{
	{"J", false, false, func(m *plant.Motor) *float64 { return &m.J }},
	{"K", false, false, func(m *plant.Motor) *float64 { return &m.K }},
	{"R", true, false, func(m *plant.Motor) *float64 { return &m.R }},
	{"L", true, false, func(m *plant.Motor) *float64 { return &m.L }},
	{"brush_drop", true, true, func(m *plant.Motor) *float64 { return &m.BrushDrop }},
	{"drop_current", true, true, func(m *plant.Motor) *float64 { return &m.DropScale }},
}

// lawEntry is a law of the registry with the names of its parameters.
type lawEntry struct {
	friction.Info
	params []string
}

// laws are those of the registry, in its order.
var laws = func() (all []lawEntry) {
	for _, info := range friction.Laws() {
		var names []string
		for _, p := range info.NewLaw().Params() {
			names = append(names, p.Name)
		}
		all = append(all, lawEntry{info, names})
	}
	return all
}()

// HasModel tells whether the block has a model of its own.
func (b *Block) HasModel() bool { return b.law > 0 }

// Encode takes a set; nil: that of the file. A set that makes no law is refused, and the block stays as it is.
func (b *Block) Encode(s *Set) error {
	if s == nil {
		*b = Block{}
		return nil
	}
	if _, err := friction.Build(s.Law, s.Params); err != nil {
		return err
	}
	at := slices.IndexFunc(laws, func(l lawEntry) bool { return l.Name == s.Law })
	next := Block{law: uint32(at + 1)}
	for i, name := range laws[at].params {
		next.params[i] = s.Params[name]
		if v, own := s.Params[name+friction.Backward]; own {
			next.sided |= 1 << i
			next.backwardParams[i] = v
		}
	}
	for name, v := range s.Motor {
		i := slices.IndexFunc(motorNumbers[:], func(m motorNumber) bool { return m.name == name })
		if i < 0 {
			return fmt.Errorf("motor: no number %s; there are %s", name, strings.Join(motorNames(true), ", "))
		}
		next.motor |= 1 << i
		next.values[i] = v
	}
	*b = next
	return nil
}

// Set is what was put; nil: the model of the file.
func (b *Block) Set() *Set {
	if b.law == 0 || int(b.law) > len(laws) {
		return nil
	}
	l := &laws[b.law-1]
	s := &Set{Law: l.Name, Params: map[string]float64{}}
	for i, name := range l.params {
		s.Params[name] = b.params[i]
		if b.sided>>i&1 != 0 {
			s.Params[name+friction.Backward] = b.backwardParams[i]
		}
	}
	for i := range motorNumbers {
		if b.motor>>i&1 != 0 {
			if s.Motor == nil {
				s.Motor = map[string]float64{}
			}
			s.Motor[motorNumbers[i].name] = b.values[i]
		}
	}
	return s
}

// edit puts the numbers of the block into a motor.
func (b *Block) edit(m *plant.Motor) {
	for i := range motorNumbers {
		if b.motor>>i&1 != 0 {
			*motorNumbers[i].field(m) = b.values[i]
		}
	}
}

// motorNames are the numbers of a motor that a set may name.
func motorNames(voltage bool) (names []string) {
	for _, n := range motorNumbers {
		if voltage || !n.voltage {
			names = append(names, n.name)
		}
	}
	slices.Sort(names)
	return names
}

// Edited is a motor with other numbers, of an axis with this kind of drive.
func Edited(m plant.Motor, drive plant.DriveKind, values map[string]float64) (plant.Motor, error) {
	voltage := drive == plant.VoltageDrive
	for _, name := range slices.Sorted(maps.Keys(values)) {
		v := values[name]
		i := slices.Index(motorNames(voltage), name)
		if i < 0 {
			return m, fmt.Errorf("no number %s; there are %s", name, strings.Join(motorNames(voltage), ", "))
		}
		for k := range motorNumbers {
			n := &motorNumbers[k]
			if n.name != name {
				continue
			}
			known := n.field(&m)
			switch {
			case !(v > 0) && !(n.drop && v == 0) || math.IsInf(v, 0):
				return m, fmt.Errorf("%s: %g, want a positive number", name, v)
			case *known == 0 && !voltage:
				return m, fmt.Errorf("%s is not known in the file, and nothing uses it", name)
			}
			*known = v
		}
	}
	return m, nil
}

// key is what tells laws apart that are made in place of one another.
func (b *Block) key() uint64 { return uint64(b.law)<<32 | uint64(b.sided) }

// fill puts the numbers of the block into a law that was made for one with the same key; at and back are those of its sides.
func (b *Block) fill(at, back []*float64) {
	for i := range at {
		*at[i] = b.params[i]
	}
	for i := range back {
		if *back[i] = b.params[i]; b.sided>>i&1 != 0 {
			*back[i] = b.backwardParams[i]
		}
	}
}
