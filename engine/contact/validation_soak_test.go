//go:build soak

package contact_test

import "testing"

func TestSoakWoodpeckerPeriod(t *testing.T) { periodConverges(t, 1e-4, 2e-5, 8e-6) }
