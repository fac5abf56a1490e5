//go:build !soak

package identify

const soak = false

// draws is how many of n records are drawn: half of them, the soak draws all.
func draws(n int) int { return (n + 1) / 2 }
