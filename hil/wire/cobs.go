package wire

import "bytes"

// Consistent overhead byte stuffing [CB99]: the data is cut at its zeros; each piece is sent as its length plus one,
// then its bytes; the zero itself is not sent. A piece of 254 bytes without a zero is sent as 255 and joins the next
// one without a zero between them. So no zero occurs inside a frame, and a zero ends it.

// cobsLen is the longest form of n bytes, without the closing zero.
func cobsLen(n int) int { return n + n/254 + 1 }

// cobsAppend writes the form of src behind dst, without the closing zero.
func cobsAppend(dst, src []byte) []byte {
	for {
		// the next piece: up to a zero, at most 254 bytes
		n := bytes.IndexByte(src[:min(len(src), 254)], 0)
		switch {
		case n >= 0:
			dst = append(append(dst, byte(n+1)), src[:n]...)
			src = src[n+1:] // the zero is said by the piece that follows
		case len(src) > 254:
			dst = append(append(dst, 255), src[:254]...)
			src = src[254:]
		default:
			return append(append(dst, byte(len(src)+1)), src...)
		}
	}
}

// cobsDecode writes the data of src, which holds no zero, to dst and returns its length. dst has room for len(src) bytes.
// ok is false when a piece is longer than what is left.
func cobsDecode(dst, src []byte) (n int, ok bool) {
	for i := 0; i < len(src); {
		end := i + int(src[i])
		if end > len(src) {
			return 0, false
		}
		full := src[i] == 255
		// pieces are mostly short: a loop beats a call
		for i++; i < end; i++ {
			dst[n] = src[i]
			n++
		}
		if !full && i < len(src) {
			dst[n] = 0
			n++
		}
	}
	return n, true
}
