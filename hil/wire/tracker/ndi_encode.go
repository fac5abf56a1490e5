package tracker

import (
	"encoding/binary"
	"fmt"
	"math"

	"hilrig/engine/numeric"
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
	return append(appendHexadecimal(dst, int(wire.CRC16Reflected(0, dst[at:])), 4), '\r')
}

// AppendNDIHandle writes one command whose first parameter is a port handle, such as PENA with 0A and D.
func AppendNDIHandle(dst []byte, word string, handle int, more string) []byte {
	at := len(dst)
	dst = append(append(dst, word...), ':')
	return appendNDIReply(append(appendHexadecimal(dst, handle, 2), more...), at)
}

// AppendPVWR writes the command that takes bytes of the definition file of a wireless tool, from a place in it on.
func AppendPVWR(dst []byte, handle, place int, bytes []byte) []byte {
	at := len(dst)
	dst = appendHexadecimal(append(dst, "PVWR:"...), handle, 2)
	dst = appendHexadecimal(dst, place, 4)
	for _, b := range bytes {
		dst = appendHexadecimal(dst, int(b), 2)
	}
	return appendNDIReply(dst, at)
}

// appendHexadecimal writes the last n digits of v.
func appendHexadecimal(dst []byte, v, n int) []byte {
	for n--; n >= 0; n-- {
		dst = append(dst, "0123456789ABCDEF"[v>>(4*n)&15])
	}
	return dst
}

// ndiText is a reply that is none of the known ones, without its CRC and CR.
func ndiText(f *Frame) []byte {
	if f.Role != Answer || f.Name != "text" {
		return nil
	}
	return f.Raw[:len(f.Raw)-5]
}

// NDIHandle reads the reply to PHRQ: the port handle.
func NDIHandle(f *Frame) (handle int, ok bool) {
	t := ndiText(f)
	if len(t) != 2 {
		return 0, false
	}
	h, ok := hexadecimal(t)
	return int(h), ok && h > 0
}

// NDISerialLength is the number of characters of a serial number.
const NDISerialLength = 8

// NDISerial reads the reply to PHINF with option 0001: type of the tool 8, manufacturer 12, revision 3, serial number 8, status of the
// port 2. The serial number of a port where no tool is is empty.
func NDISerial(f *Frame) (serial []byte, ok bool) {
	t := ndiText(f)
	if string(t) == "UNOCCUPIED" {
		return nil, true
	}
	if len(t) != 8+12+3+NDISerialLength+2 {
		return nil, false
	}
	return t[8+12+3:][:NDISerialLength], true
}

// AppendTX writes the reply to TX with option 0001.
func AppendTX(dst []byte, f *Frame) []byte {
	at := len(dst)
	dst = fmt.Appendf(dst, "%02X", f.N)
	for i := range f.N {
		s := &f.S[i]
		dst = fmt.Appendf(dst, "%02X", s.Device)
		if noPose(s) {
			dst = append(dst, "MISSING"...)
		} else {
			for q := QW; q <= QZ; q++ {
				dst = fmt.Appendf(dst, "%+06d", clampedInt(s.value(q)*1e4, 99999))
			}
			for q := X; q <= Z; q++ {
				dst = fmt.Appendf(dst, "%+07d", clampedInt(s.value(q)*1e5, 999999))
			}
			dst = fmt.Appendf(dst, "%+06d", clampedInt(s.value(Error)*1e7, 99999))
		}
		dst = fmt.Appendf(dst, "%08X%08X\n", uint32(s.value(Status)), uint32(s.value(Count)))
	}
	dst = fmt.Appendf(dst, "%04X", uint16(system(f)))
	return appendNDIReply(dst, at)
}

func clampedInt(v, most float64) int { return int(numeric.Clamp(math.Round(v), -most, most)) }

// noPose tells whether there is no pose of a device.
func noPose(s *Sample) bool {
	return s.Present.Contains(Missing) && s.V[Missing] != 0 || s.Present&(Run(QW, 4)|Run(Yaw, 3)|Run(X, 3)) == 0 ||
		s.V[X] != s.V[X] && s.Present.Contains(X)
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
		if dst = append(dst, byte(s.Device)); noPose(s) {
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
	if code > 0 && code < len(ndiReasons) && ndiReasons[code] != "" {
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
	0x28: "too many tools are enabled, or this type of tool is not supported", 0x2A: "no memory is left in the system",
	0x2B: "the port handle is not allocated", 0x2C: "the port handle has become unoccupied", 0x2D: "all port handles are allocated",
}
