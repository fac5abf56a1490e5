package gen

// The step for both sets. {field} of the members, <number> of the row, [constant], (bytes of errors), %register. Operands stand in the
// order of Go's assembler: the destination is the last one. FMA a, b, c of the 213 form is c = b·c + a, of the 231 form
// c = c + b·a.

var avx2 = &set{
	name: "stepAVX2x", lanes: 4, reg: "Y", regs: 16,
	group: 2, offset: 20, octets: []int{1, 2, 4},
	step: exponential + `
	VMOVUPD {v}, %v
	VANDPD [abs], %v, %b
	VMULPD {hs0}, %b, %b
	VFMADD213PD {tmp}, %g, %b        // n = b·g + b²/2
	VMOVAPD %g, %d
	VFMADD213PD %b, %d, %d        // g² + n
	VDIVPD %d, %b, %b             // q
	VANDPD [sign], %v, %s
	VORPD %s, %g, %g              // g·sgn v
` + motion + output + sum,
}

var avx512 = &set{
	name: "stepAVX512x", lanes: 8, reg: "Z", regs: 32,
	held:  []string{"magic", "abs", "sign", "one"},
	group: 4, offset: 8, octets: []int{4, 8},
	step: exponential + `
	VMOVUPD {v}, %v
	VPANDQ [abs], %v, %b
	VMULPD {hs0}, %b, %b
	VFMADD213PD {tmp}, %g, %b
	VMOVAPD %g, %d
	VFMADD213PD %b, %d, %d
	VDIVPD %d, %b, %b
	VMOVAPD %v, %s
	VPTERNLOGQ $0xea, %g, [sign], %s
	VMOVAPD %s, %g
` + motion + `
	VBROADCASTSD <my>, %e
	VFMADD231PD.BCST <wv>, %v, %e
	VFMADD231PD.BCST <wx>, %x, %e
` + sum,
}

// exponential is g(v), and b²/2 = (hσ0·v)²/2, see bell.
const exponential = `
	VMOVUPD {v}, %t
	VMULPD %t, %t, %t
	VMULPD {hq}, %t, %h           // b²/2
	VMOVUPD %h, {tmp}
	VMINPD {cap}, %t, %t
	VMOVUPD [magic], %k
	VFMADD231PD {bell}, %t, %k
	VSUBPD [magic], %k, %f
	VFNMADD231PD {bell}, %t, %f
	VMULPD %f, %f, %q
	VMULPD %q, %q, %r
	VMOVUPD [c10], %e
	VMOVUPD [c11], %o
	VFMADD213PD [c8], %q, %e
	VFMADD213PD [c9], %q, %o
	VMOVUPD [c6], %y
	VMOVUPD [c7], %p
	VFMADD213PD [c4], %q, %y
	VFMADD213PD [c5], %q, %p
	VFMADD213PD %y, %r, %e
	VFMADD213PD %p, %r, %o
	VMOVUPD [c2], %j
	VMOVUPD [c3], %l
	VFMADD213PD [one], %q, %j
	VFMADD213PD [c1], %q, %l
	VFMADD213PD %j, %r, %e
	VFMADD213PD %l, %r, %o
	VFMADD231PD %o, %f, %e        // 2^f
	VPSLLQ $52, %k, %k
	VPSUBQ %k, %e, %e
	VMOVUPD {fc}, %g
	VFMADD231PD {df}, %e, %g      // g
`

// motion moves velocity, bristles and position.
const motion = `
	VMOVUPD {z}, %z
	VSUBPD %z, %g, %g             // what the bristles miss
	VBROADCASTSD <u>, %a
	VSUBPD {off}, %a, %a
	VFNMADD231PD {s2}, %v, %a
	VSUBPD %z, %a, %a
	VMOVAPD %v, %n
	VFMADD231PD {hm}, %a, %n
	VFMADD231PD %b, %g, %z
	VMOVUPD %z, {z}
	VMULPD {hk}, %g, %g
	VFNMADD231PD %b, %g, %n       // v⁺
	VMOVUPD %n, {v}
	VMOVUPD {x}, %x
	VADDPD %n, %v, %v
	VMOVUPD {h}, %h
	VFMADD213PD %x, %h, %n
	VMOVUPD %n, {x}
`

// output is the error.
const output = `
	VBROADCASTSD <my>, %e
	VBROADCASTSD <wv>, %w
	VFMADD231PD %w, %v, %e
	VBROADCASTSD <wx>, %w
	VFMADD231PD %w, %x, %e
`

// sum adds the square of the error and writes the error down.
const sum = `
	VMOVUPD %e, (0)
	VMOVUPD {cost}, %w
	VFMADD231PD %e, %e, %w
	VMOVUPD %w, {cost}
`
