//go:build !soak

package curve

const coverageDraws = 40
