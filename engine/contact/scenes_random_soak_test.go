//go:build soak

package contact_test

import "testing"

func TestSoakRandomScenes(t *testing.T) { randomScenes(t, 1000) }
