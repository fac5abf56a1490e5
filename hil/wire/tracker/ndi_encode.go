package tracker

import (
	"encoding/binary"
	"fmt"
	"math"

	"hilrig/hil/wire"
)

// AppendNDI writes one command with its CRC, such as PINIT with the parameters 0A.
func AppendNDI(dst []byte, word, parameters string) []byte {
	at := len(dst)
	dst = append(append(append(dst, word...), ':'), parameters...)
	return appendNDIReply(dst, at)
}

// appendNDIReply closes the text that begins at dst[at].
func appendNDIReply(dst []byte, at int) []byte {
	return fmt.Appendf(dst, "%04X\r", wire.CRC16Reflected(0, dst[at:]))
}

// NDIBaud is the digit of a speed in the first parameter of COMM; ok is false where there is none. COMM also takes data bits (0: 8),
// parity (0: none), stop bits (0: 1) and hardware handshake (0: off), such as COMM:50000.
func NDIBaud(baud int) (digit byte, ok bool) {
	for i, b := range [...]int{9600, 14400, 19200, 38400, 57600, 115200, 921600, 1228739} {
		if b == baud {
			return '0' + byte(i), true
		}
	}
	return 0, false
}

// AppendTX writes the reply to TX with option 0001.
func AppendTX(dst []byte, f *Frame) []byte {
	at := len(dst)
	dst = fmt.Appendf(dst, "%02X", f.N)
	for i := range f.N {
		s := &f.S[i]
		dst = fmt.Appendf(dst, "%02X", s.Device)
		if missing(s) {
			dst = append(dst, "MISSING"...)
		} else {
			for q := QW; q <= QZ; q++ {
				dst = fmt.Appendf(dst, "%+06d", fixed(s.value(q)*1e4, 99999))
			}
			for q := X; q <= Z; q++ {
				dst = fmt.Appendf(dst, "%+07d", fixed(s.value(q)*1e5, 999999))
			}
			dst = fmt.Appendf(dst, "%+06d", fixed(s.value(Error)*1e7, 99999))
		}
		dst = fmt.Appendf(dst, "%08X%08X\n", uint32(s.value(Status)), uint32(s.value(Count)))
	}
	dst = fmt.Appendf(dst, "%04X", uint16(system(f)))
	return appendNDIReply(dst, at)
}

func fixed(v, most float64) int { return int(clamp(math.Round(v), -most, most)) }

// missing tells whether there is no pose of a device.
func missing(s *Sample) bool {
	return s.Has.Has(Missing) && s.V[Missing] != 0 || s.Has&(Run(QW, 4)|Run(Yaw, 3)|Run(X, 3)) == 0 || s.V[X] != s.V[X] && s.Has.Has(X)
}

func system(f *Frame) float64 {
	if f.N == 0 {
		return 0
	}
	return f.S[0].value(System)
}

// AppendBX writes the reply to BX with option 0001.
func AppendBX(dst []byte, f *Frame) []byte {
	at := len(dst)
	dst = append(dst, 0xC4, 0xA5, 0, 0, 0, 0, byte(f.N))
	for i := range f.N {
		s := &f.S[i]
		if dst = append(dst, byte(s.Device)); missing(s) {
			dst = append(dst, ndiMissing)
		} else {
			dst = append(dst, ndiValid)
			for q := QW; q <= QZ; q++ {
				dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(s.value(q))))
			}
			for _, q := range [...]Quantity{X, Y, Z, Error} {
				dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(s.value(q)*1e3)))
			}
		}
		dst = binary.LittleEndian.AppendUint32(dst, uint32(s.value(Status)))
		dst = binary.LittleEndian.AppendUint32(dst, uint32(s.value(Count)))
	}
	dst = binary.LittleEndian.AppendUint16(dst, uint16(system(f)))
	head := dst[at:]
	binary.LittleEndian.PutUint16(head[2:], uint16(len(head)-ndiHead))
	binary.LittleEndian.PutUint16(head[4:], wire.CRC16Reflected(0, head[:4]))
	return binary.LittleEndian.AppendUint16(dst, wire.CRC16Reflected(0, head[ndiHead:]))
}

// NDIReason says what the code of an error means [NDI11] appendix A.
func NDIReason(code int) string {
	if code > 0 && code < len(ndiReasons) {
		return ndiReasons[code]
	}
	return fmt.Sprintf("error %02X", code)
}

var ndiReasons = [...]string{
	1: "invalid command", 2: "command too long", 3: "command too short", 4: "invalid CRC of the command", 5: "time-out of the command",
	6: "unable to set the communication parameters", 7: "wrong number of parameters", 8: "invalid port handle", 9: "invalid tracking priority",
	10: "invalid LED", 11: "invalid state of the LED", 12: "command invalid in this mode", 13: "no tool is assigned to the port handle",
	14: "the port handle is not initialized", 15: "the port handle is not enabled", 16: "the system is not initialized",
	17: "unable to stop tracking", 18: "unable to start tracking", 19: "unable to initialize the port handle",
}
