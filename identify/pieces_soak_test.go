//go:build soak

package identify

import "testing"

func TestSoakPiecesOfAnySize(t *testing.T) { pieceCuts(t, 1) }
