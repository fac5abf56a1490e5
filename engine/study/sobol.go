package study

import (
	"hash/fnv"
	"math/bits"
	"math/rand/v2"
)

// sobolRow are degree and inner coefficients of a primitive polynomial over GF(2), and the first direction numbers [JK08].
type sobolRow struct {
	degree int
	a      uint32
	m      []uint32
}

// SobolFactors is the largest number of factors of a Sobol' plan.
const SobolFactors = 40

// sobolTable has the dimensions from the second on; the first is the van der Corput sequence.
var sobolTable = []sobolRow{
	{1, 0, []uint32{1}},
	{2, 1, []uint32{1, 3}},
	{3, 1, []uint32{1, 3, 1}},
	{3, 2, []uint32{1, 1, 1}},
	{4, 1, []uint32{1, 1, 3, 3}},
	{4, 4, []uint32{1, 3, 5, 13}},
	{5, 2, []uint32{1, 1, 5, 5, 17}},
	{5, 4, []uint32{1, 1, 5, 5, 5}},
	{5, 7, []uint32{1, 1, 7, 11, 19}},
	{5, 11, []uint32{1, 1, 5, 1, 1}},
	{5, 13, []uint32{1, 1, 1, 3, 11}},
	{5, 14, []uint32{1, 3, 5, 5, 31}},
	{6, 1, []uint32{1, 3, 3, 9, 7, 49}},
	{6, 13, []uint32{1, 1, 1, 15, 21, 21}},
	{6, 16, []uint32{1, 3, 1, 13, 27, 49}},
	{6, 19, []uint32{1, 1, 1, 15, 7, 5}},
	{6, 22, []uint32{1, 3, 1, 15, 13, 25}},
	{6, 25, []uint32{1, 1, 5, 5, 19, 61}},
	{7, 1, []uint32{1, 3, 7, 11, 23, 15, 103}},
	{7, 4, []uint32{1, 3, 7, 13, 13, 15, 69}},
	{7, 7, []uint32{1, 1, 3, 13, 7, 35, 63}},
	{7, 8, []uint32{1, 3, 5, 9, 1, 25, 53}},
	{7, 14, []uint32{1, 3, 1, 13, 9, 35, 107}},
	{7, 19, []uint32{1, 3, 1, 5, 27, 61, 31}},
	{7, 21, []uint32{1, 1, 5, 11, 19, 41, 61}},
	{7, 28, []uint32{1, 3, 5, 3, 3, 13, 69}},
	{7, 31, []uint32{1, 1, 7, 13, 1, 19, 1}},
	{7, 32, []uint32{1, 3, 7, 5, 13, 19, 59}},
	{7, 37, []uint32{1, 1, 3, 9, 25, 29, 41}},
	{7, 41, []uint32{1, 3, 5, 13, 23, 1, 55}},
	{7, 42, []uint32{1, 3, 7, 3, 13, 59, 17}},
	{7, 50, []uint32{1, 3, 1, 3, 5, 53, 69}},
	{7, 55, []uint32{1, 1, 5, 5, 23, 33, 13}},
	{7, 56, []uint32{1, 1, 7, 7, 1, 61, 123}},
	{7, 59, []uint32{1, 1, 7, 9, 13, 61, 49}},
	{7, 62, []uint32{1, 3, 3, 5, 3, 55, 33}},
	{8, 14, []uint32{1, 3, 1, 15, 31, 13, 49, 245}},
	{8, 21, []uint32{1, 3, 5, 15, 31, 59, 63, 97}},
	{8, 22, []uint32{1, 3, 1, 11, 11, 11, 77, 249}}}

// directions are the 32 direction numbers of a dimension, as binary fractions.
func directions(dim int) (v [32]uint32) {
	if dim == 0 {
		for k := range v {
			v[k] = 1 << (31 - k)
		}
		return v
	}
	r := &sobolTable[dim-1]
	s := r.degree
	for k := range v {
		if k < s {
			v[k] = r.m[k] << (31 - k)
			continue
		}
		v[k] = v[k-s] ^ v[k-s]>>s
		for j := 1; j < s; j++ {
			v[k] ^= (r.a >> (s - 1 - j) & 1) * v[k-j]
		}
	}
	return v
}

// sobol is the i-th number of a dimension in the order of Gray codes, as a binary fraction.
func sobol(v *[32]uint32, i uint32) (x uint32) {
	for gray := i ^ i>>1; gray != 0; gray &= gray - 1 {
		x ^= v[bits.TrailingZeros32(gray)]
	}
	return x
}

// sobolShares draws where in the range of a factor the points lie: its dimension of Sobol's sequence, all bits of which are
// turned by a number drawn with the seed. That keeps the points as even as they are, and puts none on the end of a range.
func sobolShares(dim int, name string, n int, seed uint64) []float64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	turn := rand.New(rand.NewPCG(seed, h.Sum64())).Uint32()
	v, out := directions(dim), make([]float64, n)
	for i := range out {
		out[i] = (float64(sobol(&v, uint32(i))^turn) + 0.5) / (1 << 32)
	}
	return out
}
