//go:build soak

package curve

const coverageDraws = 400
