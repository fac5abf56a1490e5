//go:build !soak

package hil

// soak is set by `make soak`: the same tests, longer.
const soak = false
