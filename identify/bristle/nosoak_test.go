//go:build !soak

package bristle

// soaking says that long tests are wanted.
const soaking = false
