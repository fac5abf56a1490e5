//go:build !soak

package axis

// soak runs the long versions of the tests.
const soak = false
