//go:build soak

package rt

import (
	"testing"
	"time"
)

// The full livelock test: go test -tags soak -run Soak ./hil/rt
func TestStartsAt10kHzSoak(t *testing.T) { starts(t, 20, time.Second) }
