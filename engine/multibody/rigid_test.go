package multibody

import (
	"errors"
	"strings"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"
)

// What has no regressor is named.
func TestRigid(t *testing.T) {
	s := governor()
	s.Bodies = append(s.Bodies, Body{Name: "beam", Flex: &Flex{Stiffness: []float64{400},
		Nodes: []Node{{Name: "end", Mass: 1, P: r3.Vec{X: 1}, Shape: []r3.Vec{{Y: 1}}}}}})
	m, _ := build(t, s)
	err := m.Rigid()
	if !errors.Is(err, ErrNotRigid) || !strings.Contains(err.Error(), `body "beam" is flexible`) ||
		!strings.Contains(err.Error(), `spring "right" between bodies`) {
		t.Error(err)
	}
	if m, _ = build(t, chain(2, r3.Vec{Z: 1})); m.Rigid() != nil {
		t.Error(m.Rigid())
	}
}
