package ring

import (
	"errors"
	"fmt"
	"hash/fnv"
	"reflect"
	"unsafe"
)

// layoutHash checks that T is made of numbers, bools, arrays and structs only, and returns a hash of its layout (kind and
// offset of every field). The error names the field that cannot travel.
func layoutHash[T any]() (uint64, error) {
	t := reflect.TypeFor[T]()
	if t.Size() == 0 {
		return 0, fmt.Errorf("ring: %v has no size", t)
	}
	h := fnv.New64a()
	var walk func(t reflect.Type, path string, at uintptr) error
	walk = func(t reflect.Type, path string, at uintptr) error {
		switch t.Kind() {
		case reflect.Struct:
			for i := range t.NumField() {
				f := t.Field(i)
				if err := walk(f.Type, path+"."+f.Name, at+f.Offset); err != nil {
					return err
				}
			}
		case reflect.Array:
			fmt.Fprintf(h, "[%d]", t.Len())
			if t.Len() > 0 {
				return walk(t.Elem(), path+"[]", at)
			}
		case reflect.Pointer, reflect.UnsafePointer, reflect.Slice, reflect.String, reflect.Map, reflect.Chan, reflect.Func, reflect.Interface:
			return fmt.Errorf("ring: %s is a %v (%v) and holds a pointer, which means nothing in another process", path, t, t.Kind())
		default:
			fmt.Fprintf(h, "%v@%d;", t.Kind(), at)
		}
		return nil
	}
	if err := walk(t, t.String(), 0); err != nil {
		return 0, err
	}
	return h.Sum64(), nil
}

// shape is what a header must say.
type shape struct{ magic, layout, size, room uint64 }

func (h *header) write(s shape) {
	h.layout, h.size, h.room = s.layout, s.size, s.room
	h.magic.Store(s.magic)
}

func (h *header) check(s shape) error {
	switch {
	case h.magic.Load() != s.magic:
		return fmt.Errorf("ring: no such channel here (magic %x, want %x): memory not created, cut differently, or from another version",
			h.magic.Load(), s.magic)
	case h.size != s.size || h.layout != s.layout:
		return fmt.Errorf("ring: values of %d B (layout %x), want %d B (layout %x): the two programs are not the same version", h.size, h.layout,
			s.size, s.layout)
	case h.room != s.room:
		return fmt.Errorf("ring: capacity %d, want %d: the two sides disagree about the rate", h.room, s.room)
	}
	return nil
}

func checkBlock(mem []byte, want int) error {
	if len(mem) < want {
		return fmt.Errorf("ring: %d B of memory, want %d", len(mem), want)
	}
	if uintptr(unsafe.Pointer(&mem[0]))%8 != 0 {
		return errors.New("ring: memory does not begin on a multiple of 8 bytes")
	}
	return nil
}

// heapBlock is zeroed memory on the heap that begins on a line of its own.
func heapBlock(n int) []byte {
	words := make([]uint64, (n+line)/8) // words: aligned for atomics on 32-bit machines, and without pointers
	mem := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), len(words)*8)
	skip := int(-uintptr(unsafe.Pointer(&mem[0])) % line)
	return mem[skip : skip+n : skip+n]
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }
