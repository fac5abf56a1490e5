//go:build !soak

package identify

const soak = false
