//go:build soak

package simulate

import (
	"flag"
	"testing"
)

var (
	firstScene = flag.Uint64("scenes.first", 1000, "number of the first scene of TestSoakScenesAreRightOrSaid")
	endScene   = flag.Uint64("scenes.end", 1200, "number behind that of the last one")
)

func TestSoakScenesAreRightOrSaid(t *testing.T) { scenesAreRightOrSaid(t, *firstScene, *endScene) }
