package schema

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// The grammar of a unit, after look-alike characters were united:
//
//	product  = power { ("·" | blank | "/") power }        no "·" or blank after a "/"
//	power    = factor [ superscript | "^" exponent ]
//	factor   = name | "1" | "(" product ")" | "√" factor

// term is a unit under construction; its SI text is composite when it must be bracketed inside a product.
type term struct {
	Unit
	composite bool
}

func (t term) finish() (Unit, error) {
	u := t.Unit
	u.Factor = u.scale(1)
	if u.SI == "1" {
		u.SI = ""
	}
	if u.absolute {
		u.Offset = 273.15
	}
	if math.IsInf(u.Factor, 0) || u.Factor == 0 {
		return Unit{}, fmt.Errorf("unit %q: its factor is beyond all floating-point numbers", u.SI)
	}
	return u, nil
}

func (t term) bracketed() string {
	if t.composite {
		return "(" + t.SI + ")"
	}
	return t.SI
}

type unitParser struct {
	text  []rune
	pos   int
	depth int
	input string
}

func (p *unitParser) fail(format string, args ...any) error {
	return fmt.Errorf("unit %q: %s", p.input, fmt.Sprintf(format, args...))
}

func (p *unitParser) peek() rune {
	if p.pos < len(p.text) {
		return p.text[p.pos]
	}
	return 0
}

func (p *unitParser) skipSpace() bool {
	from := p.pos
	for p.pos < len(p.text) && unicode.IsSpace(p.text[p.pos]) {
		p.pos++
	}
	return p.pos > from
}

// product reads factors joined by ·, space and / up to the end or a closing bracket.
func (p *unitParser) product(inside bool) (term, error) {
	if p.depth++; p.depth > 8 {
		return term{}, p.fail("brackets too deep")
	}
	defer func() { p.depth-- }()
	p.skipSpace()
	acc, err := p.power()
	if err != nil {
		return term{}, err
	}
	divided := false
	for {
		space := p.skipSpace()
		c := p.peek()
		switch {
		case c == 0, c == ')' && inside:
			return acc, nil
		case c == '/':
			p.pos++
			divided = true
			p.skipSpace()
		case c == '·' || space:
			if c == '·' {
				p.pos++
				p.skipSpace()
			}
			if divided {
				return term{}, p.fail("ambiguous: a product after a division; use brackets, as in N·m/(rad·s)")
			}
		default:
			return term{}, p.fail("unexpected %q", string(c))
		}
		f, err := p.power()
		if err != nil {
			return term{}, err
		}
		if acc.absolute || f.absolute {
			return term{}, p.fail("degC is an absolute temperature and stands alone; for differences write K")
		}
		sign, op := 1, "·"
		if c == '/' {
			sign, op = -1, "/"
		}
		next := term{}
		next.cycle = acc.cycle || f.cycle
		for i := range next.Dim {
			e := int(acc.Dim[i]) + sign*int(f.Dim[i])
			if e < -60 || e > 60 {
				return term{}, p.fail("exponents beyond ±30")
			}
			next.Dim[i] = int8(e)
		}
		next.exp10 = acc.exp10 + sign*f.exp10
		next.mult = acc.mult * f.mult
		if sign < 0 {
			next.mult = acc.mult / f.mult
		}
		next.SI, next.composite = joinSI(acc, f, op)
		acc = next
	}
}

// joinSI writes the SI text of a product or quotient and leaves out factors that became 1 ("%").
func joinSI(a, b term, op string) (text string, composite bool) {
	switch {
	case b.SI == "1":
		return a.SI, a.composite
	case a.SI == "1" && op == "·":
		return b.SI, b.composite
	}
	left, right := a.SI, b.SI
	if divides(left) && op == "·" {
		left = a.bracketed()
	}
	if op == "/" || divides(right) {
		right = b.bracketed()
	}
	return left + op + right, true
}

// divides tells whether a text has a division outside of brackets.
func divides(text string) bool {
	depth := 0
	return strings.ContainsFunc(text, func(c rune) bool {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		}
		return c == '/' && depth == 0
	})
}

// power reads a factor and its exponent.
func (p *unitParser) power() (term, error) {
	f, err := p.factor()
	if err != nil {
		return term{}, err
	}
	twice, text, ok, err := p.exponent()
	if err != nil || !ok {
		return f, err
	}
	return p.raise(f, twice, text)
}

func (p *unitParser) factor() (term, error) {
	switch c := p.peek(); {
	case c == '(':
		p.pos++
		t, err := p.product(true)
		if err != nil {
			return term{}, err
		}
		if p.peek() != ')' {
			return term{}, p.fail("a bracket is not closed")
		}
		p.pos++
		return t, nil
	case c == '√':
		p.pos++
		f, err := p.factor()
		if err != nil {
			return term{}, err
		}
		return p.raise(f, 1, "√")
	case c == '1':
		p.pos++
		if unicode.IsDigit(p.peek()) || p.peek() == '.' {
			return term{}, p.fail("a number inside a unit; only 1 may stand there, as in 1/s")
		}
		return term{Unit: Unit{mult: 1, SI: "1"}}, nil
	case unicode.IsLetter(c) || c == '%' || c == '°':
		from := p.pos
		for unicode.IsLetter(p.peek()) || p.peek() == '%' || p.peek() == '°' {
			p.pos++
		}
		name := string(p.text[from:p.pos])
		if c := p.peek(); c >= '0' && c <= '9' || c == '-' {
			return term{}, p.fail("write a power as %s² or %s^2, %s⁻¹ or %s^-1", name, name, name, name)
		}
		return p.lookup(name)
	case c == 0:
		return term{}, p.fail("it ends where a unit should follow")
	default:
		return term{}, p.fail("unexpected %q", string(c))
	}
}

// lookup finds a named unit, first whole, then as prefix + name.
func (p *unitParser) lookup(name string) (term, error) {
	if a, ok := atoms[name]; ok {
		return a.term(0), nil
	}
	for _, pre := range prefixes {
		rest, ok := strings.CutPrefix(name, pre.name)
		if a, known := atoms[rest]; ok && known && a.prefix {
			return a.term(pre.exp10), nil
		}
	}
	if better, ok := misspelt[name]; ok {
		return term{}, p.fail("%q is not known here; write %s", name, better)
	}
	if better := nearestUnit(name); better != "" {
		return term{}, p.fail("%q is not a unit (did you mean %q?)", name, better)
	}
	return term{}, p.fail("%q is not a unit", name)
}

func (a atom) term(exp10 int) term {
	return term{composite: strings.ContainsAny(a.si, "·/"),
		Unit: Unit{Dim: a.dim, mult: a.mult, exp10: a.exp10 + exp10, SI: a.si, cycle: a.cycles, absolute: a.si == "degC"}}
}

// nearestUnit looks for the same letters in another case, the fewest of them changed.
func nearestUnit(name string) string {
	best, least := "", len(name)+1
	try := func(cand string) {
		if !strings.EqualFold(cand, name) || len(cand) != len(name) {
			return
		}
		changed := 0
		for i := range len(cand) {
			if cand[i] != name[i] {
				changed++
			}
		}
		if changed < least || changed == least && cand < best {
			best, least = cand, changed
		}
	}
	for n, a := range atoms {
		try(n)
		if a.prefix {
			for _, pre := range prefixes {
				try(pre.name + n)
			}
		}
	}
	return best
}

// exponent reads ^2, ^-1, ^0.5, ^(1/2), also of what was raised; twice is two times its value.
func (p *unitParser) exponent() (twice int, text string, ok bool, err error) {
	if p.peek() != '^' {
		return 0, "", false, nil
	}
	p.pos++
	open := p.peek() == '('
	if open {
		p.pos++
	}
	start := p.pos
	for c := p.peek(); c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' || open && c == '/'; c = p.peek() {
		p.pos++
	}
	digits := string(p.text[start:p.pos])
	if open {
		if p.peek() != ')' {
			return 0, "", false, p.fail("the bracket of an exponent is not closed")
		}
		p.pos++
	}
	num, den, frac := strings.Cut(digits, "/")
	v, err := strconv.ParseFloat(num, 64)
	if frac && err == nil {
		d, e := strconv.ParseFloat(den, 64)
		v, err = v/d, e
	}
	if err != nil || v*2 != math.Trunc(v*2) || math.Abs(v) > 9 || v == 0 {
		return 0, "", false, p.fail("exponent %q: whole and half numbers up to ±9 are possible", digits)
	}
	return int(v * 2), exponentText(int(v * 2)), true, nil
}

func exponentText(twice int) string {
	if twice%2 != 0 {
		return "^" + strconv.FormatFloat(float64(twice)/2, 'f', 1, 64)
	}
	out := ""
	if twice < 0 {
		out, twice = "⁻", -twice
	}
	return out + string([]rune(superscripts)[twice/2])
}

// raise takes f to the power twice/2.
func (p *unitParser) raise(f term, twice int, text string) (term, error) {
	if f.absolute {
		return term{}, p.fail("degC is an absolute temperature and stands alone; for differences write K")
	}
	out := term{Unit: Unit{cycle: f.cycle, SI: f.bracketed() + text}}
	if text == "√" {
		out.SI = "√" + f.bracketed()
	}
	if f.SI == "1" {
		out.SI = "1"
	}
	for i, e := range f.Dim {
		d := int(e) * twice
		if d%2 != 0 || d/2 < -60 || d/2 > 60 {
			return term{}, p.fail("exponents must be whole or half and within ±30")
		}
		out.Dim[i] = int8(d / 2)
	}
	out.mult = math.Pow(f.mult, float64(twice)/2)
	e := f.exp10 * twice
	if e%2 != 0 {
		out.mult *= math.Sqrt(10)
		e--
	}
	out.exp10 = e / 2
	return out, nil
}
