//go:build soak

package drivetrain

import "testing"

// Fifty records: intervals hold the truth at their nominal rate.
func TestIdentifyExampleAOften(t *testing.T) { coverage(t, 50) }
