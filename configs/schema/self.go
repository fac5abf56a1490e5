package schema

import "reflect"

// What the type of a section may do itself.

// Defaulter has defaults of its own: a type that appears in lists, maps or behind pointers.
type Defaulter interface{ SetDefaults() }

// SelfReading reads its node itself, because its keys depend on what is said in it.
type SelfReading interface {
	DecodeNode(w *Walker, path string, e Entry, f Field)
}

// SelfWriting writes what SelfReading reads, behind the key.
type SelfWriting interface {
	EmitNode(e *Emitter, indent int)
}

// SelfDescribing makes its part of the JSON Schema.
type SelfDescribing interface{ Shape() *Object }

// Tabled is a section whose keys are a table of the engine. Its units are what they say, whatever stands around it.
type Tabled interface{ Keys() KeyTable }

// Worded is one of these words: a string, or an unsigned number that counts them from zero.
type Worded interface{ Words() []string }

// UnitSpeaking is the type of a file in which the meaning of unit tags depends on what the file says. word reads a word at the
// path of a key before everything else is read; "" if it is not there.
type UnitSpeaking interface {
	UnitTags(word func(path ...string) string) func(tag string) string
}

// UnitTurning is a section in which the meaning of unit tags depends on words of the section itself, such as the kind of an axis. Words
// are read before anything else.
type UnitTurning interface {
	Units() func(tag string) string // what a tag means, with other spellings after |
	AllUnits(tag string) []string   // all that a tag may mean, whatever the words say
}

// turningType gives the interface of sections of a type, with their defaults; nil: tags mean what they say.
func turningType(t reflect.Type) UnitTurning {
	if !reflect.PointerTo(t).Implements(reflect.TypeFor[UnitTurning]()) {
		return nil
	}
	return NewValue(t).Interface().(UnitTurning)
}

// asNode gives the interface T of a value whose type, or the pointer to it, has it.
func asNode[T any](v reflect.Value) (T, bool) {
	var none T
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return none, false
		}
		t, ok := v.Interface().(T)
		return t, ok
	}
	if v.CanAddr() {
		t, ok := v.Addr().Interface().(T)
		return t, ok
	}
	return none, false
}
