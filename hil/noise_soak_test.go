//go:build soak

package hil

import "testing"

// Ten minutes of every rig of TestNoiselessRuns.
func TestSoakNoiseless(t *testing.T) { noiseless(t, 600) }
