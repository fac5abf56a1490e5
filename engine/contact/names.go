package contact

import (
	"fmt"
	"slices"
	"strings"
)

// Namer is a System that knows its contacts by the names of the bodies.
type Namer interface {
	Pair(id uint32) (a, b string)
}

// Pair is Namer.Pair, whichever body brings the point.
func (s *Scene) Pair(id uint32) (a, b string) {
	k, found := slices.BinarySearchFunc(s.passes, id, func(p scenePass, id uint32) int { return int(int64(p.base) - int64(id)) })
	if !found {
		k--
	}
	return s.spec.Bodies[s.passes[k].a].Name, s.spec.Bodies[s.passes[k].b].Name
}

// Pair names the bodies of a contact of any System.
func Pair(sys System, id uint32) (a, b string) {
	if n, ok := sys.(Namer); ok {
		return n.Pair(id)
	}
	return fmt.Sprintf("contact %d", id), ""
}

// pairs lists contacts by their bodies, each pair once, and counts those beyond the first few.
func pairs(sys System, ids []uint32) string {
	const most = 4
	var list []string
	for _, id := range ids {
		a, b := Pair(sys, id)
		if b != "" {
			a += " on " + b
		}
		if !slices.Contains(list, a) {
			list = append(list, a)
		}
	}
	if n := len(list) - most; n > 0 {
		list = append(list[:most], fmt.Sprintf("%d more", n))
	}
	return strings.Join(list, ", ")
}
