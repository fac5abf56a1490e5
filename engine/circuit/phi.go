package circuit

import "math"

// phis are the functions of a matrix that carry a linear system over a step h with constant input, x′ = A·x + b:
//
//	x⁺ = E·x + h·P1·b,   mean of x = P1·x + h·P2·b,     E = e^Z, P1 = (E − 1)/Z, P2 = (P1 − 1)/Z, P3 = (P2 − ½)/Z, Z = A·h,
//
// and, where the input changes by b′ a second about b in the middle, h²·(P2 − ½·P1)·b′ and h²·(P3 − ½·P2)·b′ more.
//
// P3 is taken from its series for Z/2ˢ, of norm below one half, and doubled s times [HO10]:
//
//	P3(2Z) = ⅛·P1·P2 + ⅛·P2 + ¼·P3,   P2(2Z) = ¼·P1² + ½·P2,   P1(2Z) = P1 + ½·D·P1,   D(2Z) = 2·D + D²,   D = E − 1.
//
// D instead of E keeps the digits of what is slow beside what is stiff.
type phis struct {
	n      int
	h      float64
	a      []float64 // of the last call
	e      []float64
	p1, p2 []float64
	p3     []float64
	z, w   []float64
}

func newPhis(n int) phis {
	v := make([]float64, 7*n*n)
	cut := func() (part []float64) { part, v = v[:n*n:n*n], v[n*n:]; return part }
	return phis{n: n, h: math.NaN(), a: cut(), e: cut(), p1: cut(), p2: cut(), p3: cut(), z: cut(), w: cut()}
}

// terms of the series: 0.5¹³/16! is below the last digit of ⅙.
const phiTerms = 12

// set computes the three for A and h, unless they are those of the last call.
func (p *phis) set(a []float64, h float64) {
	same := h == p.h
	for i := 0; same && i < len(a); i++ {
		same = a[i] == p.a[i]
	}
	if same {
		return
	}
	copy(p.a, a)
	p.h = h
	n := p.n
	norm := 0.0
	for i := range n {
		sum := 0.0
		for _, v := range a[i*n : i*n+n] {
			sum += math.Abs(v)
		}
		norm = max(norm, sum*h)
	}
	doublings := 0
	if norm > 0.5 {
		_, doublings = math.Frexp(norm / 0.5)
	}
	scale := math.Ldexp(h, -doublings)
	for i, v := range a {
		p.z[i] = v * scale
	}
	// Horner: P3 = 1/3!·(1 + Z/4·(1 + Z/5·(1 + …)))
	eye(p.p3, n)
	for k := phiTerms; k >= 1; k-- {
		product(p.w, p.z, p.p3, n)
		f := 1 / float64(k+3)
		for i, v := range p.w {
			p.p3[i] = v * f
		}
		addEye(p.p3, n)
	}
	for i := range p.p3 {
		p.p3[i] /= 6
	}
	product(p.p2, p.z, p.p3, n)
	for i := range n {
		p.p2[i*n+i] += 0.5
	}
	product(p.p1, p.z, p.p2, n)
	addEye(p.p1, n)
	product(p.e, p.z, p.p1, n) // D until the end
	for range doublings {
		product(p.w, p.p1, p.p2, n)
		for i, v := range p.w {
			p.p3[i] = 0.125*(v+p.p2[i]) + 0.25*p.p3[i]
		}
		product(p.w, p.p1, p.p1, n)
		for i, v := range p.w {
			p.p2[i] = 0.25*v + 0.5*p.p2[i]
		}
		product(p.w, p.e, p.p1, n)
		for i, v := range p.w {
			p.p1[i] += 0.5 * v
		}
		product(p.w, p.e, p.e, n)
		for i, v := range p.w {
			p.e[i] = 2*p.e[i] + v
		}
	}
	addEye(p.e, n)
}

func eye(a []float64, n int) {
	clear(a)
	addEye(a, n)
}

func addEye(a []float64, n int) {
	for i := range n {
		a[i*n+i]++
	}
}

// product is c = a·b, n×n row-major; c is another slice than a and b.
func product(c, a, b []float64, n int) {
	clear(c)
	for i := range n {
		row := c[i*n : i*n+n]
		for k, v := range a[i*n : i*n+n] {
			if v == 0 {
				continue
			}
			for j, w := range b[k*n : k*n+n] {
				row[j] += v * w
			}
		}
	}
}

// times adds s·A·x to y.
func times(y, a, x []float64, s float64) {
	n := len(y)
	for i := range y {
		sum := 0.0
		for j, v := range a[i*n : i*n+n] {
			sum += v * x[j]
		}
		y[i] += s * sum
	}
}
