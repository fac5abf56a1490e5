//go:build soak

package contact_test

import "testing"

func TestSoakRandomScenes(t *testing.T) {
	var list []int
	for k := range 1000 {
		list = append(list, k)
	}
	randomScenes(t, families, list)
	randomScenes(t, pivotFamilies, list)
}
