//go:build !soak

package hil

// soak is set by `make soak`: the same tests, longer.
const soak = false

// seeds is how many of n seeds are drawn: two of five, the soak draws all.
func seeds(n int) uint64 { return uint64(2*n+4) / 5 }
