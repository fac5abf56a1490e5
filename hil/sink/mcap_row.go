package sink

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
	"unsafe"

	"hilrig/hil"
)

// RowCodec turns rows of one schema into JSON and back, exactly: Decode(Append(row)) is the row, bit for bit, NaN payloads
// and the sign of zero included (entries of X beyond the schema are not kept). Neither direction allocates.
//
//	{"timestamp":1795221000.123456,"seq":12,"t":8123.000412345,"late_us":1.204,"busy_us":3.871,"mode":"run",
//	 "cause":"none","cause_signal":0,"cause_value":0,"cause_limit":0,"flags":0,"fresh":"7","gen":1,"cmd":0,"req":"none","res":0,"skip":0,"epoch":1,
//	 "motor.angle":0.0125,"motor.current":null,"nonfinite":{"motor.current":"nan"}}
//
// Times are decimal fractions with all their digits: t is the loop's clock in s to the ns, late_us and busy_us are µs to
// the ns; timestamp, s since 1970 to the µs, is there for viewers and follows from t. fresh is hexadecimal. Codes without
// a name are written "#200". Numbers have the fewest digits that read back as the same float64. JSON has no number that
// is not finite: it is null, and "nonfinite" says which one it was ("nan", "inf", "-inf", "nan:" and its 16 hex digits).
type RowCodec struct {
	wall int64    // ns  time since 1970 minus the loop's clock
	n    int      // signals
	keys []string // `,"name":` of every field, fixed ones first; the first begins with {
	bare []string // `"name":` of each signal, for "nonfinite"
	slot map[string]int
}

// rowField is a field that every row has: what it is called, means and looks like as JSON, and what it is as a number, nil for
// texts and times.
type rowField struct {
	name, unit, kind, doc string
	encode                func(b []byte, r *hil.Row) []byte
	decode                func(s scanner, r *hil.Row) (rest scanner, ok bool) // by value: what goes through a pointer here is allocated
	number                func(r *hil.Row) float64
}

// rowFields are in the order they are written.
var rowFields = [...]rowField{
	{name: "timestamp", unit: "s", kind: "number", doc: "wall-clock time of the tick's deadline, seconds since 1970",
		decode: func(s scanner, _ *hil.Row) (scanner, bool) { err := s.skip(0); return s, err == nil }}, // follows from t; the codec writes it
	integerField("seq", "number of the tick, from 1; gaps are lost rows", func(r *hil.Row) *uint64 { return &r.Seq }),
	{name: "t", unit: "s", kind: "number", doc: "deadline of the tick on the loop's clock, exact to 1 ns",
		encode: func(b []byte, r *hil.Row) []byte { return appendDecimal(b, r.T, 9) },
		decode: func(s scanner, r *hil.Row) (rest scanner, ok bool) { r.T, ok = s.decimal(9); return s, ok }},
	spanField("late_us", "wake-up after the deadline", func(r *hil.Row) *int32 { return &r.Lateness }),
	spanField("busy_us", "from the wake-up to the row being complete", func(r *hil.Row) *int32 { return &r.BusyTime }),
	nameField("mode", "state of the guard after this tick", modes, func(r *hil.Row) *hil.Mode { return &r.Mode }),
	nameField("cause", "why the guard is in that state", causes, func(r *hil.Row) *hil.Cause { return &r.Cause }),
	integerField("cause_signal", "the signal behind the cause, from 1; 0: none", func(r *hil.Row) *uint16 { return &r.CauseSignal }),
	numberField("cause_value", "what it was, in its unit or that of the cause; 0 with cause_limit 0: nothing to tell",
		func(r *hil.Row) *float64 { return &r.Value }),
	numberField("cause_limit", "what it should have stayed within", func(r *hil.Row) *float64 { return &r.Limit }),
	integerField("flags", "what happened in this tick, bits", func(r *hil.Row) *hil.Flags { return &r.Flags }),
	{name: "fresh", kind: "string", doc: "measured signals that arrived since the last tick, bits in hexadecimal",
		encode: func(b []byte, r *hil.Row) []byte { return append(appendBits(append(b, '"'), &r.FreshSignals), '"') },
		decode: func(s scanner, r *hil.Row) (rest scanner, ok bool) { r.FreshSignals, ok = s.hex(); return s, ok }},
	integerField("gen", "generation of the parameter block in force", func(r *hil.Row) *uint32 { return &r.Gen }),
	integerField("cmd", "id of the command taken in this tick, 0 for none", func(r *hil.Row) *uint32 { return &r.Cmd }),
	nameField("req", "the request taken in this tick", requests, func(r *hil.Row) *uint8 { return &r.Req }),
	integerField("res", "what became of it, 0 = accepted", func(r *hil.Row) *uint8 { return &r.Res }),
	integerField("skip", "ticks skipped just before this one", func(r *hil.Row) *uint32 { return &r.Skip }),
	integerField("epoch", "incarnation of the core that made the row", func(r *hil.Row) *uint16 { return &r.Epoch }),
}

const nFixed = len(rowFields)

func integerField[T ~uint8 | ~uint16 | ~uint32 | ~uint64](name, doc string, at func(*hil.Row) *T) rowField {
	return rowField{name, "", "integer", doc,
		func(b []byte, r *hil.Row) []byte { return strconv.AppendUint(b, uint64(*at(r)), 10) },
		func(s scanner, r *hil.Row) (scanner, bool) {
			v, ok := s.uint(8 * int(unsafe.Sizeof(*at(r))))
			*at(r) = T(v)
			return s, ok
		},
		func(r *hil.Row) float64 { return float64(*at(r)) }}
}

// spanField is a duration of so many ns, in µs.
func spanField(name, doc string, at func(*hil.Row) *int32) rowField {
	return rowField{name, "us", "number", doc, func(b []byte, r *hil.Row) []byte { return appendDecimal(b, int64(*at(r)), 3) }, func(s scanner,
		r *hil.Row) (rest scanner, ok bool) {
		*at(r), ok = s.us()
		return s, ok
	}, func(r *hil.Row) float64 { return float64(*at(r)) * 1e-3 }}
}

func numberField(name, doc string, at func(*hil.Row) *float64) rowField {
	return rowField{name, "", "number", doc, func(b []byte, r *hil.Row) []byte { return strconv.AppendFloat(b, *at(r), 'g', -1, 64) },
		func(s scanner, r *hil.Row) (rest scanner, ok bool) { *at(r), ok = s.float(); return s, ok }, func(r *hil.Row) float64 { return *at(r) }}
}

// nameField is a code that is written as its name.
func nameField[T ~uint8](name, doc string, t *names, at func(*hil.Row) *T) rowField {
	return rowField{name, "", "string", doc,
		func(b []byte, r *hil.Row) []byte { return append(b, t.quoted[*at(r)]...) },
		func(s scanner, r *hil.Row) (scanner, bool) {
			v, ok := s.name(t)
			*at(r) = T(v)
			return s, ok
		}, nil}
}

const keyNonfinite = "nonfinite"

// NewRowCodec prepares a schema; wall is the time since 1970 minus the loop's clock (ns). It refuses signal names that
// occur twice or belong to the row itself.
func NewRowCodec(s *hil.Schema, wall int64) (*RowCodec, error) {
	if s.Len() > hil.MaxSignals {
		return nil, fmt.Errorf("schema of rig %q has %d signals, a row holds %d", s.Rig, s.Len(), hil.MaxSignals)
	}
	c := &RowCodec{wall: wall, n: s.Len(), slot: map[string]int{keyNonfinite: -1}}
	add := func(name string) error {
		quoted, err := json.Marshal(name)
		if err != nil || !utf8.ValidString(name) || name == "" {
			return fmt.Errorf("signal name %q cannot be recorded: want text in UTF-8", name)
		}
		raw := string(quoted[1 : len(quoted)-1]) // as it stands between the quotes
		if i, taken := c.slot[raw]; taken {
			if i < nFixed {
				return fmt.Errorf("signal name %q is taken by the row itself; rename the signal", name)
			}
			return fmt.Errorf("signal name %q occurs twice", name)
		}
		c.slot[raw] = len(c.keys)
		c.keys = append(c.keys, ","+string(quoted)+":")
		return nil
	}
	for _, f := range rowFields {
		if err := add(f.name); err != nil {
			return nil, err
		}
	}
	for _, sig := range s.Signals() {
		if err := add(sig.Name); err != nil {
			return nil, err
		}
		c.bare = append(c.bare, c.keys[len(c.keys)-1][1:])
	}
	c.keys[0] = "{" + c.keys[0][1:]
	return c, nil
}

// Append writes r as JSON behind b.
func (c *RowCodec) Append(b []byte, r *hil.Row) []byte {
	b = appendDecimal(append(b, c.keys[0]...), floorDiv(r.T+c.wall, 1000), 6)
	for i := 1; i < nFixed; i++ {
		b = rowFields[i].encode(append(b, c.keys[i]...), r)
	}

	finite := true
	for i, x := range r.X[:c.n] {
		b = append(b, c.keys[nFixed+i]...)
		if x-x != 0 { // NaN or infinite
			b, finite = append(b, "null"...), false
			continue
		}
		b = strconv.AppendFloat(b, x, 'g', -1, 64)
	}
	if !finite {
		b = append(b, `,"`+keyNonfinite+`":`...)
		b = appendNonfinite(b, r.X[:c.n], c.bare)
	}
	return append(b, '}')
}

// appendNonfinite writes the object that names what null stands for; keys are `"name":`.
func appendNonfinite(b []byte, xs []float64, keys []string) []byte {
	sep := byte('{')
	for i, x := range xs {
		if x-x == 0 {
			continue
		}
		b = append(append(b, sep), keys[i]...)
		b = append(appendKind(append(b, '"'), x), '"')
		sep = ','
	}
	return append(b, '}')
}

// goNaN is the NaN of math.NaN; others carry their bits along.
var goNaN = math.Float64bits(math.NaN())

func appendKind(b []byte, x float64) []byte {
	bits := math.Float64bits(x)
	switch {
	case x > 0:
		return append(b, "inf"...)
	case x < 0:
		return append(b, "-inf"...)
	case bits == goNaN:
		return append(b, "nan"...)
	}
	return appendHex(append(b, "nan:"...), bits)
}

// appendHex writes all 16 digits.
func appendHex(b []byte, bits uint64) []byte {
	for shift := 60; shift >= 0; shift -= 4 {
		b = append(b, "0123456789abcdef"[bits>>shift&15])
	}
	return b
}

// parseKind is the inverse of appendKind.
func parseKind(s []byte) (float64, bool) {
	switch string(s) {
	case "inf":
		return math.Inf(1), true
	case "-inf":
		return math.Inf(-1), true
	case "nan":
		return math.NaN(), true
	}
	if len(s) != 20 || string(s[:4]) != "nan:" {
		return 0, false
	}
	bits, err := strconv.ParseUint(string(s[4:]), 16, 64)
	x := math.Float64frombits(bits)
	return x, err == nil && x != x
}

// appendDecimal writes v·10^−digits with all its digits: 1234 with three digits is 1.234. It is exact.
func appendDecimal(b []byte, v int64, digits int) []byte {
	u := uint64(v)
	if v < 0 {
		b, u = append(b, '-'), -u
	}
	p := pow10[digits]
	b = append(strconv.AppendUint(b, u/p, 10), '.')
	for u %= p; digits > 0; digits-- {
		p /= 10
		b = append(b, byte('0'+u/p))
		u %= p
	}
	return b
}

var pow10 = [...]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9}

// parseDecimal is the inverse of appendDecimal; it takes fewer digits after the point too, but not more and no exponent.
func parseDecimal(s []byte, digits int) (int64, bool) {
	neg := len(s) > 0 && s[0] == '-'
	if neg {
		s = s[1:]
	}
	var u uint64
	point, left, some := false, digits, false
	for _, ch := range s {
		switch {
		case ch == '.' && !point && some:
			point = true
			continue
		case ch < '0' || ch > '9' || point && left == 0 || u > (1<<63)/10:
			return 0, false
		}
		if point {
			left--
		}
		u, some = u*10+uint64(ch-'0'), true
	}
	if !some || u > 1<<63/pow10[left] {
		return 0, false
	}
	u *= pow10[left]
	switch {
	case neg && u <= 1<<63:
		return -int64(u), true
	case !neg && u < 1<<63:
		return int64(u), true
	}
	return 0, false
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// names gives every code of a byte a name and back; a code without one is "#200".
type names struct {
	quoted [256]string
	codes  map[string]uint8
}

func namesOf(name func(uint8) string) *names {
	t := &names{codes: map[string]uint8{}}
	for i := range 256 {
		s := name(uint8(i))
		if _, taken := t.codes[s]; taken || s == "unknown" || s == "" {
			s = "#" + strconv.Itoa(i)
		}
		t.codes[s] = uint8(i)
		t.quoted[i] = strconv.Quote(s)
	}
	return t
}

var (
	modes    = namesOf(func(i uint8) string { return hil.Mode(i).String() })
	causes   = namesOf(func(i uint8) string { return hil.Cause(i).String() })
	requests = namesOf(func(i uint8) string { return hil.Request(i).String() })
)
