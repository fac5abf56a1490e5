package tracker

import (
	"bytes"
	"fmt"
	"strconv"

	"hilrig/hil/wire"
)

// vnSentence is what the numbers of a text mean, in their order.
type vnSentence struct {
	word string
	list []vnNumbers
}

type vnNumbers struct {
	to    Quantity
	n     int
	scale float64
}

var (
	vnAngles = vnNumbers{Yaw, 3, degree}
	vnQuat   = vnNumbers{QW, 4, 1} // vector first
	vnMag    = vnNumbers{MagX, 3, gauss}
	vnAccel  = vnNumbers{AX, 3, 1}
	vnRate   = vnNumbers{WX, 3, 1}
)

// Texts that are sent by themselves [VN19] §5.2.
var vnSentences = []vnSentence{
	{"VNYPR", []vnNumbers{vnAngles}},
	{"VNQTN", []vnNumbers{vnQuat}},
	{"VNQMR", []vnNumbers{vnQuat, vnMag, vnAccel, vnRate}},
	{"VNMAG", []vnNumbers{vnMag}},
	{"VNACC", []vnNumbers{vnAccel}},
	{"VNGYR", []vnNumbers{vnRate}},
	{"VNMAR", []vnNumbers{vnMag, vnAccel, vnRate}},
	{"VNYMR", []vnNumbers{vnAngles, vnMag, vnAccel, vnRate}},
	{"VNYBA", []vnNumbers{vnAngles, {FreeX, 3, 1}, vnRate}},
	{"VNIMU", []vnNumbers{vnMag, vnAccel, vnRate, {Temperature, 1, 1}, {Pressure, 1, 1e3}}},
	{"VNDTV", []vnNumbers{{DT, 1, 1}, {DThetaX, 3, degree}, {DVX, 3, 1}}},
}

// sentence reads a text whose checksum is right.
func (d *VectorNav) sentence(b []byte, f *Frame) wire.Status {
	t := b[1:bytes.LastIndexByte(b, '*')]
	word, rest, _ := bytes.Cut(t, []byte{','})
	for i := range vnSentences {
		v := &vnSentences[i]
		if string(word) != v.word {
			continue
		}
		f.begin(v.word, Data)
		if !f.Add(0).numbers(v.list, rest) {
			d.c.Malformed++ // not what the word says, behind a good checksum
			return wire.Corrupt
		}
		d.c.Frames++
		return wire.Good
	}
	d.c.Frames++
	switch string(word) {
	case "VNERR":
		code, _ := hexadecimal(rest)
		f.begin("VNERR", Refusal)
		f.Code = int(code)
	case "VNRRG", "VNWRG", "VNASY", "VNWNV", "VNRFS", "VNTAR", "VNRST", "VNSGB", "VNCMD", "VNBOM":
		f.begin("answer", Answer)
	default:
		d.c.Frames--
		d.c.Foreign++
		f.begin("other", Other)
	}
	return wire.Good
}

// numbers reads the numbers of a text; those behind the list are counted only.
func (s *Sample) numbers(list []vnNumbers, rest []byte) bool {
	next := func() (v float64, ok bool) {
		if rest == nil {
			return 0, false
		}
		var word []byte
		if i := bytes.IndexByte(rest, ','); i >= 0 {
			word, rest = rest[:i], rest[i+1:]
		} else {
			word, rest = rest, nil
		}
		return wire.ParseNumber(word, '.')
	}
	for _, l := range list {
		for k := range l.n {
			v, ok := next()
			if !ok {
				return false
			}
			q := l.to + Quantity(k)
			if l.to == QW {
				q = QW + Quantity((k+1)%4)
			}
			s.SetValue(q, v*l.scale)
		}
	}
	s.unitOnly()
	if rest != nil {
		s.Extra += 1 + bytes.Count(rest, []byte{','})
	}
	return true
}

// appendSentence writes the text that says most of a sample.
func (s *Sample) appendSentence(dst []byte) []byte {
	word := "VNYPR"
	switch full := s.Present.Contains(MagX) || s.Present.Contains(AX) || s.Present.Contains(WX); {
	case full && s.Present.Contains(QW):
		word = "VNQMR"
	case full:
		word = "VNYMR"
	case s.Present.Contains(QW):
		word = "VNQTN"
	}
	at := len(dst)
	dst = append(append(dst, '$'), word...)
	for i := range vnSentences {
		if vnSentences[i].word != word {
			continue
		}
		for _, l := range vnSentences[i].list {
			for k := range l.n {
				q := l.to + Quantity(k)
				if l.to == QW {
					q = QW + Quantity((k+1)%4)
				}
				dst = append(dst, ',')
				v := s.value(q) / l.scale
				if v >= 0 {
					dst = append(dst, '+')
				}
				dst = strconv.AppendFloat(dst, v, 'f', 6, 64)
			}
		}
	}
	return appendXor(dst, at)
}

// appendXor closes the text that begins with $ at dst[at].
func appendXor(dst []byte, at int) []byte {
	x := byte(0)
	for _, b := range dst[at+1:] {
		x ^= b
	}
	return fmt.Appendf(dst, "*%02X\r\n", x)
}
