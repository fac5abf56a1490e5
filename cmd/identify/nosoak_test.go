//go:build !soak

package identify

var uncertainGains = []float64{1.02}

const soak = false
