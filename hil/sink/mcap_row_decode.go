package sink

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"hilrig/hil"
)

var (
	errSyntax = errors.New("not a JSON object")
	errNested = errors.New("nested too deeply")
)

// Decode reads one JSON row into r. Fields may stand in any order; unknown ones are passed over, missing ones are errors.
func (c *RowCodec) Decode(data []byte, r *hil.Row) error {
	*r = hil.Row{}
	var seen [(nFixed + hil.MaxSignals + 63) / 64]uint64 // bit per field
	s := scanner{b: data}
	s.space()
	if !s.eat('{') {
		return errSyntax
	}
	for expect, first := 0, true; ; first = false {
		s.space()
		if s.eat('}') {
			break
		}
		if !first && !s.eat(',') {
			return fmt.Errorf("row: %w after field %d", errSyntax, expect)
		}

		// rows written by this program have their fields in order, which saves the search
		var i int
		if expect < len(c.keys) && s.prefix(c.keys[expect][1:]) {
			i = expect
		} else {
			s.space()
			key, ok := s.str()
			s.space()
			if !ok || !s.eat(':') {
				return fmt.Errorf("row: %w after field %d", errSyntax, expect)
			}
			if i, ok = c.slot[string(key)]; !ok {
				i = -2
			}
		}
		s.space()
		var err error
		switch {
		case i == -2:
			err = s.skip(0)
		case i == -1:
			err = c.nonfinite(&s, r)
		default:
			if err = c.field(&s, i, r); err == nil {
				seen[i>>6] |= 1 << (i & 63)
				expect = i + 1
			}
		}
		if err != nil {
			return err
		}
	}
	if s.space(); len(s.b) > 0 {
		return fmt.Errorf("row: %d bytes behind the object", len(s.b))
	}
	for i, k := range c.keys {
		if seen[i>>6]>>(i&63)&1 == 0 && i > 0 { // all but the timestamp
			return fmt.Errorf("row: field %s is missing", k[1:len(k)-1])
		}
	}
	return nil
}

// field reads the value of field i.
func (c *RowCodec) field(s *scanner, i int, r *hil.Row) error {
	var ok bool
	if i < nFixed {
		*s, ok = rowFields[i].decode(*s, r)
	} else {
		x := &r.X[i-nFixed]
		if s.prefix("null") {
			if *x-*x == 0 {
				*x = math.NaN() // until "nonfinite" says more
			}
			return nil
		}
		*x, ok = s.float()
	}
	if !ok {
		return fmt.Errorf("row: field %s has no usable value", c.keys[i][1:len(c.keys[i])-1])
	}
	return nil
}

// nonfinite reads the object that says what null stands for.
func (c *RowCodec) nonfinite(s *scanner, r *hil.Row) error {
	if !s.eat('{') {
		return fmt.Errorf("row: field %q: %w", keyNonfinite, errSyntax)
	}
	for first := true; ; first = false {
		s.space()
		if s.eat('}') {
			return nil
		}
		if !first {
			s.eat(',')
			s.space()
		}
		key, ok := s.str()
		s.space()
		if !ok || !s.eat(':') {
			return fmt.Errorf("row: field %q: %w", keyNonfinite, errSyntax)
		}
		s.space()
		kind, ok := s.str()
		x, known := parseKind(kind)
		i, signal := c.slot[string(key)]
		if !ok || !known || !signal || i < nFixed {
			return fmt.Errorf("row: field %q: unknown entry %q: %q", keyNonfinite, key, kind)
		}
		r.X[i-nFixed] = x
	}
}

// scanner walks over JSON text.
type scanner struct{ b []byte }

func (s *scanner) space() {
	for len(s.b) > 0 && (s.b[0] == ' ' || s.b[0] == '\n' || s.b[0] == '\t' || s.b[0] == '\r') {
		s.b = s.b[1:]
	}
}

func (s *scanner) eat(ch byte) bool {
	if len(s.b) == 0 || s.b[0] != ch {
		return false
	}
	s.b = s.b[1:]
	return true
}

func (s *scanner) prefix(p string) bool {
	if len(s.b) < len(p) || string(s.b[:len(p)]) != p {
		return false
	}
	s.b = s.b[len(p):]
	return true
}

// str gives what stands between two quotes, escapes as they are.
func (s *scanner) str() ([]byte, bool) {
	if len(s.b) == 0 || s.b[0] != '"' {
		return nil, false
	}
	for i := 1; i < len(s.b); i++ {
		switch s.b[i] {
		case '\\':
			i++
		case '"':
			p := s.b[1:i]
			s.b = s.b[i+1:]
			return p, true
		}
	}
	return nil, false
}

// token gives a number or a word, up to the next delimiter.
func (s *scanner) token() []byte {
	i := 0
	for i < len(s.b) {
		switch s.b[i] {
		case ',', '}', ']', ' ', '\n', '\t', '\r':
			p := s.b[:i]
			s.b = s.b[i:]
			return p
		}
		i++
	}
	p := s.b
	s.b = nil
	return p
}

func (s *scanner) uint(bits int) (uint64, bool) {
	v, err := strconv.ParseUint(string(s.token()), 10, bits)
	return v, err == nil
}

func (s *scanner) float() (float64, bool) {
	v, err := strconv.ParseFloat(string(s.token()), 64)
	return v, err == nil
}

func (s *scanner) decimal(digits int) (int64, bool) { return parseDecimal(s.token(), digits) }

// us reads µs with three digits as ns.
func (s *scanner) us() (int32, bool) {
	v, ok := s.decimal(3)
	return int32(v), ok && int64(int32(v)) == v
}

// hex reads up to 32 hexadecimal digits, the highest word first.
func (s *scanner) hex() (v hil.Fresh, ok bool) {
	p, ok := s.str()
	if len(p) == 0 || len(p) > 32 {
		return v, false
	}
	low := p[max(0, len(p)-16):]
	var errs [2]error
	v[0], errs[0] = strconv.ParseUint(string(low), 16, 64)
	if high := p[:len(p)-len(low)]; len(high) > 0 {
		v[1], errs[1] = strconv.ParseUint(string(high), 16, 64)
	}
	return v, ok && errs == [2]error{}
}

// appendBits writes what hex reads.
func appendBits(b []byte, v *hil.Fresh) []byte {
	if v[1] == 0 {
		return strconv.AppendUint(b, v[0], 16)
	}
	return appendHex(strconv.AppendUint(b, v[1], 16), v[0])
}

func (s *scanner) name(t *names) (uint8, bool) {
	n, ok := s.str()
	if !ok {
		return 0, false
	}
	v, ok := t.codes[string(n)]
	return v, ok
}

// skip passes over any value.
func (s *scanner) skip(depth int) error {
	if depth > 32 {
		return errNested
	}
	if len(s.b) == 0 {
		return errSyntax
	}
	open := s.b[0]
	if open == '"' {
		if _, ok := s.str(); !ok {
			return errSyntax
		}
		return nil
	}
	if open != '{' && open != '[' {
		if len(s.token()) == 0 {
			return errSyntax
		}
		return nil
	}
	s.b = s.b[1:]
	for {
		s.space()
		if s.eat(open + 2) { // } is { + 2, ] is [ + 2
			return nil
		}
		s.eat(',')
		s.space()
		if open == '{' {
			_, ok := s.str()
			s.space()
			if !ok || !s.eat(':') {
				return errSyntax
			}
			s.space()
		}
		if err := s.skip(depth + 1); err != nil {
			return err
		}
	}
}
