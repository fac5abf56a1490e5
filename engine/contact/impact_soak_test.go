//go:build soak

package contact

import "testing"

func TestSoakRandomImpacts(t *testing.T) { randomImpacts(t, 10000) }
