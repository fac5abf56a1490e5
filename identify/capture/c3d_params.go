package capture

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"hilrig/identify/record"
)

// processor is the kind of computer that a C3D file was written on: the order of its bytes and its floats.
type processor struct {
	name  string
	order binary.ByteOrder
	vax   bool // floats of a DEC VAX
}

// processors by the number in the header of the parameters.
var processors = map[byte]processor{
	84: {"Intel", binary.LittleEndian, false},
	85: {"DEC", binary.LittleEndian, true},
	86: {"SGI/MIPS", binary.BigEndian, false},
}

func (p processor) u16(b []byte) uint16 { return p.order.Uint16(b) }

// f32 reads a float. One of a VAX has its halves swapped, no hidden infinities, and an exponent that is larger by 2: its fraction
// begins with 0.1, not 1, and its bias is 128, not 127.
func (p processor) f32(b []byte) float64 {
	if !p.vax {
		return float64(math.Float32frombits(p.order.Uint32(b)))
	}
	bits := uint32(p.order.Uint16(b))<<16 | uint32(p.order.Uint16(b[2:]))
	exponent, fraction := int(bits>>23&0xff), float64(bits&(1<<23-1)|1<<23)
	switch {
	case exponent == 0 && bits>>31 == 0:
		return 0
	case exponent == 0:
		return math.NaN() // reserved operand
	}
	x := math.Ldexp(fraction, exponent-128-24)
	if bits>>31 != 0 {
		return -x
	}
	return x
}

// c3dParam is one parameter: numbers or letters in an array of up to seven dimensions, the first one fastest.
type c3dParam struct {
	proc processor
	kind int8 // −1: letters, 1: bytes, 2: 16-bit integers, 4: floats
	dims []int
	data []byte
}

// len is the number of values; 0 for one that is not there.
func (p *c3dParam) len() int {
	if p == nil || p.kind == -1 || p.kind == 0 {
		return 0
	}
	return len(p.data) / int(p.kind)
}

// value is the i-th number.
func (p *c3dParam) value(i int, unsigned bool) float64 {
	switch p.kind {
	case 1:
		return float64(p.data[i])
	case 2:
		x := p.proc.u16(p.data[2*i:])
		if unsigned {
			return float64(x)
		}
		return float64(int16(x))
	}
	return p.proc.f32(p.data[4*i:])
}

// number is the first number of a parameter, or what else is there.
func (f *c3dFile) number(group, name string, otherwise float64) float64 {
	if p := f.params[group+":"+name]; p.len() > 0 {
		return p.value(0, false)
	}
	return otherwise
}

// count is a parameter that counts: never negative, an integer of 16 bits without sign.
func (f *c3dFile) count(group, name string, otherwise int) int {
	p := f.params[group+":"+name]
	if p.len() == 0 {
		return otherwise
	}
	x := p.value(0, true)
	if !(x >= 0 && x < 1<<40) {
		return otherwise
	}
	return int(x)
}

// longNumber is a number of 32 bits in two integers, the lower half first; 0: not there.
func (f *c3dFile) longNumber(group, name string) int {
	p := f.params[group+":"+name]
	if p.len() < 2 || p.kind != 2 {
		return f.count(group, name, 0)
	}
	return int(p.value(0, true)) | int(p.value(1, true))<<16
}

// pieces are the parameters that make up a list: NAME, NAME2, NAME3 …, since one holds 255 at most.
func (f *c3dFile) pieces(group, name string) (list []*c3dParam) {
	for p, i := f.params[group+":"+name], 2; p != nil; i++ {
		list = append(list, p)
		p = f.params[fmt.Sprintf("%s:%s%d", group, name, i)]
	}
	return list
}

// numbers are those of a list.
func (f *c3dFile) numbers(group, name string, unsigned bool) (list []float64) {
	for _, p := range f.pieces(group, name) {
		for i := range p.len() {
			list = append(list, p.value(i, unsigned))
		}
	}
	return list
}

// texts are the strings of a list: letters in columns.
func (f *c3dFile) texts(group, name string) (list []string) {
	for _, p := range f.pieces(group, name) {
		width := len(p.data)
		if len(p.dims) > 1 {
			width = p.dims[0]
		}
		for i := 0; p.kind == -1 && width > 0 && i+width <= len(p.data); i += width {
			text, _, _ := strings.Cut(string(p.data[i:i+width]), "\x00")
			list = append(list, plainName(strings.ToValidUTF8(text, "?")))
		}
	}
	return list
}

func (f *c3dFile) text(group, name string) string { return cell(f.texts(group, name), 0) }

// parameters reads the section of parameters.
func (f *c3dFile) parameters() error {
	at := c3dBlock * (int(f.data[0]) - 1)
	if at < c3dBlock || at+4 > len(f.data) {
		return f.fail(0, "Copy it again.", "cut short: the parameters begin at byte %d, the file has %d", at, len(f.data))
	}
	var known bool
	if f.proc, known = processors[f.data[at+3]]; !known {
		return f.fail(0, "Export it again from the program that recorded it.", "was written by a processor of the unknown kind %d, want 84 "+
			"(Intel), 85 (DEC) or 86 (SGI/MIPS)", f.data[at+3])
	}
	f.params = map[string]*c3dParam{}
	groups := map[int8]string{}
	byGroup := map[int8]map[string]*c3dParam{}
	frames := c3dBlock * (int(f.proc.u16(f.data[16:])) - 1)
	end := min(max(at+c3dBlock*int(f.data[at+2]), frames), len(f.data))
	if end < at+c3dBlock {
		end = len(f.data)
	}
	b := f.data[at+4 : end]
	for len(b) > 2 && b[0] != 0 && b[1] != 0 {
		n := int(int8(b[0]))
		n = max(n, -n) // a locked one has a negative length
		id := int8(b[1])
		if len(b) < 2+n+2 {
			return f.cutParameters()
		}
		name := strings.ToUpper(strings.TrimSpace(string(b[2 : 2+n])))
		next := int(f.proc.u16(b[2+n:]))
		body := b[4+n:]
		if id < 0 {
			groups[-id] = name
		} else if err := f.parameter(byGroup, id, name, body); err != nil {
			return err
		}
		if next == 0 {
			break
		}
		if next += 2 + n; next > len(b) { // such as one that was left in the order of another processor
			f.addFinding("parameter-pointer", record.Warning, "", 1, "", "",
				"the pointer behind the parameter %q leads out of its section; its own length counts", plainName(strings.ToValidUTF8(name, "?")))
			if id < 0 { // a group without an end is the end
				break
			}
			if next = 4 + n + lengthOf(body); next > len(b) {
				return f.cutParameters()
			}
		}
		b = b[next:]
	}
	if used := end - len(b); frames > at && used > frames {
		f.addFinding("parameter-overlap", record.Warning, "", float64(used-frames), "bytes", "Look at the first frames.",
			"the parameters reach %d bytes into the frames, as the header places them", used-frames)
	}
	for id, params := range byGroup { // a group may come behind its parameters
		for name, p := range params {
			f.params[groups[id]+":"+name] = p
		}
	}
	return nil
}

// lengthOf is how long a sound parameter is behind its pointer: type, dimensions, values, description.
func lengthOf(b []byte) int {
	size := max(int(int8(b[0])), -int(int8(b[0])))
	n := 2 + int(b[1])
	for _, d := range b[2:n] {
		size *= int(d)
	}
	if n += size; n < len(b) {
		n += 1 + int(b[n])
	}
	return n
}

func (f *c3dFile) cutParameters() error {
	return f.fail(0, "Copy it again, or export it again from the program that recorded it.",
		"the section of parameters is damaged or cut short")
}

// parameter reads one parameter behind its name.
func (f *c3dFile) parameter(byGroup map[int8]map[string]*c3dParam, id int8, name string, b []byte) error {
	if len(b) < 2 || b[1] > 7 || len(b) < 2+int(b[1]) {
		return f.cutParameters()
	}
	p := &c3dParam{proc: f.proc, kind: int8(b[0])}
	size := 0
	switch p.kind {
	case -1, 1:
		size = 1
	case 2, 4:
		size = int(p.kind)
	default:
		return f.fail(0, "Export it again from the program that recorded it.", "the parameter %s is of the unknown type %d", name, p.kind)
	}
	for _, d := range b[2 : 2+int(b[1])] {
		p.dims = append(p.dims, int(d))
		size *= int(d) // below 2⁶³: seven of them at most are less than 256
	}
	b = b[2+int(b[1]):]
	if size > len(b) {
		return f.cutParameters()
	}
	p.data = b[:size]
	if byGroup[id] == nil {
		byGroup[id] = map[string]*c3dParam{}
	}
	byGroup[id][name] = p
	return nil
}
