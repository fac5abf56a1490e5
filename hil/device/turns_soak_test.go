//go:build soak

package device

import "testing"

// The same over so many replies that a rare race would show.
func TestBusFaultsSoak(t *testing.T) { faults(t, 130_000) }
