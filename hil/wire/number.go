package wire

import (
	"math"
	"strconv"
	"unsafe"
)

// maxDigits bounds a number in a line; the longest decimal form of a float64 that round trips has 24 characters.
const maxDigits = 40

var pow10 = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
	1e20, 1e21, 1e22}

// ParseNumber reads a decimal number with the given decimal sign: [+-]digits[.digits][e[+-]digits], or nan, inf, infinity; ok
// is false for anything else. The result is the float64 nearest to the decimal, infinite from 1e308 on. It never allocates, also
// not for rubbish: strconv sees only what already follows the grammar and lies in range, since its errors would cost an
// allocation each.
func ParseNumber(b []byte, decimal byte) (v float64, ok bool) {
	if len(b) == 0 || len(b) > maxDigits {
		return 0, false
	}
	i, neg := 0, false
	if b[0] == '+' || b[0] == '-' {
		i, neg = 1, b[0] == '-'
	}
	switch {
	case fold(b[i:], "nan"):
		return math.NaN(), true
	case fold(b[i:], "inf"), fold(b[i:], "infinity"):
		return signed(math.Inf(1), neg), true
	}
	// mantissa and decimal exponent
	var mant uint64
	digits, used, exp, point, first := 0, 0, 0, -1, 0
	for ; i < len(b); i++ {
		switch c := b[i]; {
		case c >= '0' && c <= '9':
			digits++
			if c != '0' || used > 0 {
				if used == 0 {
					first = digits
				}
				used++
			}
			mant = mant*10 + uint64(c-'0') // of more than 15 digits it is not used
			continue
		case c == decimal && point < 0:
			point = digits
			continue
		}
		break
	}
	if digits == 0 {
		return 0, false
	}
	if i < len(b) {
		if b[i]|0x20 != 'e' {
			return 0, false
		}
		if exp, ok = parseExp(b[i+1:]); !ok {
			return 0, false
		}
	}
	frac := 0
	if point >= 0 {
		frac = digits - point
	}
	// the value is 0.d₁d₂… · 10^top with d₁ the first digit that is not 0
	top := exp + digits - frac - first + 1
	switch {
	case used == 0:
		return signed(0, neg), true
	case top > 308:
		return signed(math.Inf(1), neg), true
	}
	// both factors exact: one rounding, the right one
	if e := exp - frac; used <= 15 && e >= -22 && e <= 22 {
		v := float64(mant)
		if e < 0 {
			v /= pow10[-e]
		} else {
			v *= pow10[e]
		}
		return signed(v, neg), true
	}
	var tmp [maxDigits]byte
	n := copy(tmp[:], b)
	if decimal != '.' && point >= 0 {
		for k := range n {
			if tmp[k] == decimal {
				tmp[k] = '.'
			}
		}
	}
	v, err := strconv.ParseFloat(unsafe.String(&tmp[0], n), 64)
	return v, err == nil
}

// parseExp reads the digits behind the e; beyond ±9999 it saturates.
func parseExp(b []byte) (exp int, ok bool) {
	neg := false
	if len(b) > 0 && (b[0] == '+' || b[0] == '-') {
		neg, b = b[0] == '-', b[1:]
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		exp = min(exp*10+int(c-'0'), 9999)
	}
	if neg {
		exp = -exp
	}
	return exp, len(b) > 0
}

func signed(v float64, neg bool) float64 {
	if neg {
		return math.Copysign(v, -1)
	}
	return v
}

// fold compares b with a word in lower case.
func fold(b []byte, word string) bool {
	if len(b) != len(word) {
		return false
	}
	for i := range b {
		if b[i]|0x20 != word[i] {
			return false
		}
	}
	return true
}
