package decode

import (
	"bytes"
	"fmt"
)

// bytes are those that the input stands for, and how it is written. Text is hexadecimal when it holds nothing but pairs of digits, with
// blanks, commas, colons and 0x between them, and lines that begin with #.
func (o *Options) bytes(raw []byte) (b []byte, form string, err error) {
	if o.form == "binary" {
		return raw, "binary", nil
	}
	b, err = fromHex(raw)
	switch {
	case o.form == "hex":
		return b, "hex", err
	case err == nil:
		return b, "taken for hex", nil
	}
	return raw, "taken for binary", nil
}

// fromHex reads hexadecimal text.
func fromHex(raw []byte) (out []byte, err error) {
	for n, line := range bytes.Split(raw, []byte{'\n'}) {
		if text := bytes.TrimSpace(line); len(text) > 0 && text[0] == '#' {
			continue
		}
		high, half := byte(0), false
		for i := 0; i < len(line); i++ {
			c := line[i]
			if c == '0' && !half && i+1 < len(line) && (line[i+1] == 'x' || line[i+1] == 'X') || c == '\\' && i+1 < len(line) && line[i+1] == 'x' {
				i++
				continue
			}
			if c == ' ' || c == '\t' || c == '\r' || c == ',' || c == ':' || c == ';' {
				if half {
					return nil, fmt.Errorf("line %d, column %d: a single hexadecimal digit, want pairs; --input binary takes the bytes as they are", n+1,
						i)
				}
				continue
			}
			v, ok := digit(c)
			if !ok {
				return nil, fmt.Errorf("line %d, column %d: %q is no hexadecimal digit; --input binary takes the bytes as they are", n+1, i+1, c)
			}
			if half = !half; half {
				high = v
			} else {
				out = append(out, high<<4|v)
			}
		}
		if half {
			return nil, fmt.Errorf("line %d: an odd number of hexadecimal digits", n+1)
		}
	}
	return out, nil
}

func digit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}
