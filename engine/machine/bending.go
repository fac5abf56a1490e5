package machine

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/beam"
	"hilrig/engine/multibody"
)

// Bending is a beam as a body of a machine: clamped to the origin of the body, along its x, free at the other end, which is the node Tip.
type Bending struct {
	Beam      beam.Params // its supports do not count
	Modes     int         // the lowest of the cantilever
	Direction r3.Vec      // the direction in which it bends: y or z of the body
	Places    []Place     // nodes on it besides the tip
}

// Place is a node on a beam.
type Place struct {
	Name string
	X    float64 // m  from the origin
}

// Tip is the name of the node at the free end.
const Tip = "tip"

// gauss are the points and weights of Gauss and Legendre on [0, 1], four: exact for ∫φᵢφⱼ dx with cubics φ.
var gauss = [4][2]float64{
	{0.069431844202973712, 0.173927422568726929}, {0.330009478207571868, 0.326072577431273071},
	{0.669990521792428132, 0.326072577431273071}, {0.930568155797026288, 0.173927422568726929},
}

// Flex is the body: each mode by the deflection of the tip (m). The masses stand at Gauss points, so that the inertia is that of the finite
// elements to rounding, whatever the number of modes.
func (b *Bending) Flex() (*multibody.Flex, error) {
	p := b.Beam
	p.Left, p.Right = beam.Support{Kind: beam.Clamped}, beam.Support{Kind: beam.Free}
	elastic, err := beam.New(p)
	if err != nil {
		return nil, err
	}
	modes, err := elastic.Modes(b.Modes)
	if err != nil {
		return nil, err
	}
	tip := elastic.PlaceIn(p.Elements-1, p.Length)
	unit := make([]float64, b.Modes) // deflection of the tip
	modes.At(&tip, unit)
	out := &multibody.Flex{}
	for k, w := range modes.Omega {
		mass := 1 / (unit[k] * unit[k])
		out.Stiffness, out.Damping = append(out.Stiffness, mass*w*w), append(out.Damping, mass*modes.Rate[k])
	}
	about := r3.Cross(r3.Vec{X: 1}, b.Direction)
	node := func(name string, mass float64, at beam.Place) {
		n := multibody.Node{Name: name, Mass: mass, P: r3.Vec{X: at.X}}
		for k, phi := range modes.Phi {
			n.Shape = append(n.Shape, r3.Scale(at.Of(&at.N, phi)/unit[k], b.Direction))
			if name != "" {
				n.Turn = append(n.Turn, r3.Scale(at.Of(&at.Nx, phi)/unit[k], about))
			}
		}
		out.Nodes = append(out.Nodes, n)
	}
	l := elastic.Element()
	for e := range p.Elements {
		for _, g := range gauss {
			node("", g[1]*p.Density*p.Area*l, elastic.PlaceIn(e, (float64(e)+g[0])*l))
		}
	}
	places := slices.SortedFunc(slices.Values(append(slices.Clone(b.Places), Place{Tip, p.Length})),
		func(x, y Place) int { return cmp.Compare(x.X, y.X) })
	for _, at := range places {
		on, err := elastic.At(at.X)
		if err != nil {
			return nil, fmt.Errorf("place %s: %g m is not on the beam, from 0 to %g m", at.Name, at.X, p.Length)
		}
		node(at.Name, 0, on)
	}
	return out, nil
}
