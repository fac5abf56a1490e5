package main

// The step for both sets. {field} of the members, <number> of the row, [constant], (errors), %register. Operands stand in the
// order of Go's assembler: the destination is the last one. FMA a, b, c of the 213 form is c = b·c + a, of the 231 form
// c = c + b·a.

var avx2 = &set{
	name: "stepAVX2x", lanes: 4, reg: "Y", regs: 16,
	group: 4, offset: 15, octets: []int{1, 2, 4},
	step: exponential + `
	VMOVUPD {fc}, %g
	VFMADD231PD {df}, %e, %g      // g(v)
	VMOVUPD {v}, %v
	VANDPD [abs], %v, %b
	VMULPD {hs0}, %b, %b
	VMOVUPD [half], %m
	VFMADD213PD %g, %b, %m
	VMULPD %m, %b, %m             // n
	VMOVAPD %g, %d
	VFMADD213PD %m, %d, %d
	VDIVPD %d, %m, %m             // n/(g² + n)
	VANDPD [sign], %v, %s
	VORPD %s, %g, %g              // g·sgn v
` + motion + `
	VBROADCASTSD <u>, %a
	VSUBPD {off}, %a, %a
	VFNMADD231PD {s2}, %v, %a
	VSUBPD %z, %a, %a
	VMOVAPD %v, %n
	VFMADD231PD {hm}, %a, %n      // v⁺
	VMOVUPD %n, {v}
	VMOVUPD {x}, %x
	VMOVAPD %x, %p
	VFMADD231PD {h}, %n, %p
	VMOVUPD %p, {x}
	VADDPD %v, %n, %n
	VBROADCASTSD <wv>, %w
	VBROADCASTSD <my>, %e
	VFMADD231PD %w, %n, %e
	VBROADCASTSD <wx>, %w
	VFMADD231PD %w, %x, %e
` + sum,
}

var avx512 = &set{
	name: "stepAVX512x", lanes: 8, reg: "Z", regs: 32,
	held:  []string{"magic", "end", "half", "abs", "sign", "one", "c1", "c2", "c3", "c4", "c5", "c6"},
	group: 4, offset: 12, octets: []int{1, 2, 4, 8},
	step: exponential + `
	VMOVUPD {fc}, %g
	VFMADD231PD {df}, %e, %g
	VMOVUPD {v}, %v
	VPANDQ [abs], %v, %b
	VMULPD {hs0}, %b, %b
	VMOVAPD [half], %m
	VFMADD213PD %g, %b, %m
	VMULPD %m, %b, %m
	VMOVAPD %g, %d
	VFMADD213PD %m, %d, %d
	VDIVPD %d, %m, %m
	VMOVAPD %v, %s
	VPTERNLOGQ $0xea, %g, [sign], %s
	VMOVAPD %s, %g
` + motion + `
	VBROADCASTSD <u>, %a
	VSUBPD {off}, %a, %a
	VFNMADD231PD {s2}, %v, %a
	VSUBPD %z, %a, %a
	VMOVAPD %v, %n
	VFMADD231PD {hm}, %a, %n
	VMOVUPD %n, {v}
	VMOVUPD {x}, %x
	VMOVAPD %x, %p
	VFMADD231PD {h}, %n, %p
	VMOVUPD %p, {x}
	VADDPD %v, %n, %n
	VBROADCASTSD <my>, %e
	VFMADD231PD.BCST <wv>, %n, %e
	VFMADD231PD.BCST <wx>, %x, %e
` + sum,
}

// exponential is 2^{−t} of t = v²·log2(e)/vs², see exp2Neg.
const exponential = `
	VMOVUPD {v}, %t
	VMULPD %t, %t, %t
	VMULPD {bell}, %t, %t
	VMINPD [end], %t, %t
	VADDPD [magic], %t, %k
	VSUBPD [magic], %k, %f
	VSUBPD %t, %f, %f
	VMULPD %f, %f, %q
	VMOVUPD [c11], %o
	VMOVUPD [c10], %e
	VFMADD213PD [c9], %q, %o
	VFMADD213PD [c8], %q, %e
	VFMADD213PD [c7], %q, %o
	VFMADD213PD [c6], %q, %e
	VFMADD213PD [c5], %q, %o
	VFMADD213PD [c4], %q, %e
	VFMADD213PD [c3], %q, %o
	VFMADD213PD [c2], %q, %e
	VFMADD213PD [c1], %q, %o
	VFMADD213PD [one], %q, %e
	VFMADD231PD %o, %f, %e
	VPSLLQ $52, %k, %k
	VPSUBQ %k, %e, %e
`

// motion is Δζ and the force of the bristles.
const motion = `
	VMOVUPD {z}, %z
	VSUBPD %z, %g, %g
	VMULPD %m, %g, %m             // Δζ
	VADDPD %m, %z, %y
	VMOVUPD %y, {z}
	VFMADD231PD {k1}, %m, %z
`

// sum adds the square of the error and writes the error down.
const sum = `
	VMOVUPD %e, (errs)
	VMOVUPD {cost}, %w
	VFMADD231PD %e, %e, %w
	VMOVUPD %w, {cost}
`
