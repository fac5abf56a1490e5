package main

import (
	"fmt"
	"strings"
)

// slopes is the step of one member with the derivatives for its parameters, see slopesPortable: the member in four equal
// lanes, then the derivatives in two times four. A processor that waits for the exponential of a row has time for the
// derivatives of the row before: their instructions stand between those of the exponential.
var slopes = &set{name: "slopesAVX2x", lanes: 4, reg: "Y", regs: 16}

const (
	member = exponential + partials + motion + `
	VMOVUPD {old}, %k
	VSUBPD {v}, %k, %k
	VMOVUPD %k, {diff}            // v − v⁺
` + output + sum
	slopeBytes = 128 // of a row of errors
	lead       = 4   // instructions of the member before the first of the derivatives
)

// slopesFunction writes it.
func slopesFunction(b *strings.Builder) error {
	s := slopes
	b.WriteString("\n// func slopesAVX2x1(oct *slopes, rows *row, n int, errs *float64)\nTEXT ·slopesAVX2x1(SB), NOSPLIT|NOFRAME, $0-32\n")
	b.WriteString("\tMOVQ oct+0(FP), AX\n\tMOVQ rows+8(FP), SI\n\tMOVQ n+16(FP), CX\n\tMOVQ errs+24(FP), DI\n\n")
	first := parse(member)
	here, before := parse(tangents("", 0)+tangents("+", 0)), parse(tangents("", -slopeBytes)+tangents("+", -slopeBytes))
	// all of them before the partial derivatives of the row overwrite those of the row before
	room := len(parse(exponential))
	both, done := []line{}, 0
	for i, l := range first {
		both = append(both, l)
		upto := min(max(0, i+1-lead)*len(before)/(room-lead), len(before))
		both, done = append(both, before[done:upto]...), upto
	}
	for i, list := range [][]line{first, both, here} {
		var placed []line
		for _, l := range list {
			l, err := s.place(l, 0, nil)
			if err != nil {
				return err
			}
			placed = append(placed, l)
		}
		body, err := s.allocate(placed)
		if err != nil {
			return err
		}
		if i == 1 {
			b.WriteString("\tJMP next\n\n\tPCALIGN $32\nloop:\n")
		}
		b.WriteString(body)
		if i == 1 {
			fmt.Fprintf(b, "next:\n\tDECQ CX\n\tJZ done\n\tADDQ $%d, SI\n\tADDQ $%d, DI\n\tJMP loop\n\ndone:\n", rowBytes, slopeBytes)
		}
	}
	b.WriteString("\n\tVZEROUPPER\n\tRET\n")
	return nil
}

// partials are the derivatives of the step that all parameters share. They pass through memory, where the derivatives of the
// parameters take them from.
const partials = `
	VMOVUPD %e, {e}
	VMOVUPD {v}, %v
	VMOVUPD %v, {old}
	VANDPD [abs], %v, %c
	VMULPD {hs0}, %c, %c          // b
	VMOVAPD %c, %b
	VFMADD213PD {tmp}, %g, %b     // n
	VMOVAPD %g, %d
	VFMADD213PD %b, %d, %d        // g² + n
	VDIVPD %d, %b, %b             // q
	VANDPD [sign], %v, %s
	VADDPD %g, %c, %t
	VMULPD %g, %t, %t
	VMULPD %d, %d, %d
	VDIVPD %d, %t, %t             // w
	VORPD %s, %g, %i
	VSUBPD {z}, %i, %i            // what the bristles miss
	VMULPD %i, %t, %t
	VORPD %s, %b, %m
	VFNMADD231PD %c, %t, %m       // ∂P/∂g
	VMULPD %g, %t, %t             // ∂P/∂b
	VMULPD {steep}, %m, %f
	VMULPD {e}, %v, %k
	VMULPD %k, %f, %f             // ∂P/∂g·∂g/∂v
	VORPD {hs0}, %s, %k
	VFMADD213PD %f, %t, %k
	VMOVUPD %k, {zv}
	VMOVUPD {drag}, %r
	VFNMADD231PD {hk}, %k, %r
	VMOVUPD %r, {vv}
	VMOVUPD {hk}, %k
	VFMSUB213PD {hm}, %b, %k
	VMOVUPD %k, {vz}
	VMOVUPD [one], %k
	VSUBPD %b, %k, %k
	VMOVUPD %k, {zz}
	VMULPD %i, %b, %k
	VMOVUPD %k, {p}
	VMULPD {e}, %m, %k
	VMOVUPD %k, {zFs}
	VSUBPD %k, %m, %k
	VMOVUPD %k, {zFc}
	VANDPD [abs], %v, %k
	VMULPD %k, %t, %k
	VMULPD {h}, %k, %k
	VMOVUPD %k, {zS0}
	VMULPD %v, %f, %k
	VMULPD {over}, %k, %k
	VMOVUPD %k, {zVs}
	VORPD %s, %g, %g              // g·sgn v
	VBROADCASTSD <wv>, %k
	VMOVUPD %k, {wv}
	VBROADCASTSD <wx>, %k
	VMOVUPD %k, {wx}
`

// tangents are the derivatives for four parameters, to be written so many bytes from where the row is.
func tangents(half string, at int) string {
	const list = `
	VMOVUPD {inFs'}, %z'
	VMULPD {zFs}, %z', %z'
	VMOVUPD {inFc'}, %w'
	VFMADD231PD {zFc}, %w', %z'
	VMOVUPD {inS0'}, %w'
	VFMADD231PD {zS0}, %w', %z'
	VMOVUPD {inVs'}, %w'
	VFMADD231PD {zVs}, %w', %z'   // pz
	VMOVUPD {by1'}, %v'
	VMOVUPD {byDv'}, %w'
	VFMADD231PD {diff}, %w', %v'
	VMOVUPD {byP'}, %w'
	VFMADD231PD {p}, %w', %v'
	VMOVUPD {byV'}, %w'
	VFMADD231PD {old}, %w', %v'
	VFNMADD231PD {hk}, %z', %v'   // pv
	VMOVUPD {dv'}, %a'
	VMOVUPD {dz'}, %c'
	VFMADD231PD {vz}, %c', %v'
	VFMADD231PD {vv}, %a', %v'    // dv⁺
	VFMADD231PD {zv}, %a', %z'
	VFMADD231PD {zz}, %c', %z'
	VMOVUPD %v', {dv'}
	VMOVUPD %z', {dz'}
	VADDPD %v', %a', %a'
	VMULPD {wv}, %a', %a'
	VMOVUPD {dx'}, %c'
	VFMADD231PD {wx}, %c', %a'
	VFMADD231PD {h}, %v', %c'
	VMOVUPD %c', {dx'}
	VMOVUPD %a', (OUT)
`
	at += 32
	if half != "" {
		at += 32
	}
	text := strings.ReplaceAll(list, "OUT", fmt.Sprint(at))
	// the registers of the two halves, and of the member, do not meet
	for _, r := range []string{"z", "w", "v", "a", "c"} {
		text = strings.ReplaceAll(text, "%"+r+"'", "%"+r+"d"+half)
	}
	return strings.ReplaceAll(text, "'", half)
}
