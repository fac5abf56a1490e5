//go:build soak

package identify

const soak = true

func draws(n int) int { return n }
