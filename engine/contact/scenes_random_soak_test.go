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
	for k := range list {
		list[k] += 1000
	}
	randomScenes(t, pivotFamilies, list)
}

func TestSoakStruckBodiesMoveAsByEvents(t *testing.T) { agreement(t, 0, 1500, 1e-5, 15) }

// Six of 523 scenes differ without a word.
func TestSoakStruckBodiesInLongSteps(t *testing.T) { agreement(t, 1000, 2000, 1e-4, 6) }
