//go:build soak

package identify

import (
	"os"
	"strconv"
	"testing"
)

// COVERAGE_DRAWS changes the number of draws.
func TestCoverageOfMethodsSoak(t *testing.T) {
	for i := range coverageCases {
		c := &coverageCases[i]
		t.Run(c.String(), func(t *testing.T) {
			draws := c.draws
			if n, err := strconv.Atoi(os.Getenv("COVERAGE_DRAWS")); err == nil {
				draws = n
			}
			covering(t, c, draws)
		})
	}
}
