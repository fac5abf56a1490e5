package wire

// CRC-16/CCITT-FALSE: polynomial x¹⁶+x¹²+x⁵+1 (0x1021), start 0xFFFF, bits not reflected, no final xor. Check value over
// the nine characters "123456789": 0x29B1. It finds every error burst up to 16 bits, every odd number of flipped bits and
// every pair of flipped bits within 32767 bits; of everything else one in 65536 slips through.

const crcStart = 0xFFFF

// crcTab[k][b] is the remainder of byte b followed by k zero bytes, so that eight bytes are folded per step.
var crcTab = func() (t [8][256]uint16) {
	for b := range 256 {
		r := uint16(b) << 8
		for range 8 {
			if r&0x8000 != 0 {
				r = r<<1 ^ 0x1021
			} else {
				r <<= 1
			}
		}
		t[0][b] = r
	}
	for k := 1; k < 8; k++ {
		for b := range 256 {
			r := t[k-1][b]
			t[k][b] = r<<8 ^ t[0][r>>8]
		}
	}
	return t
}()

// crc16 is the CRC of p.
func crc16(p []byte) uint16 { return CRC16(crcStart, p) }

// CRC16 is the remainder of p behind a register that holds start: 0xFFFF for CCITT-FALSE, 0 for XMODEM, whose check value is 0x31C3.
func CRC16(start uint16, p []byte) uint16 {
	r := start
	for len(p) >= 8 {
		q := p[:8:8]
		r = crcTab[7][q[0]^byte(r>>8)] ^ crcTab[6][q[1]^byte(r)] ^
			crcTab[5][q[2]] ^ crcTab[4][q[3]] ^ crcTab[3][q[4]] ^
			crcTab[2][q[5]] ^ crcTab[1][q[6]] ^ crcTab[0][q[7]]
		p = p[8:]
	}
	for _, b := range p {
		r = r<<8 ^ crcTab[0][byte(r>>8)^b]
	}
	return r
}
