//go:build !soak

package main

// soak is set by `make soak`: the same tests, longer.
const soak = false
