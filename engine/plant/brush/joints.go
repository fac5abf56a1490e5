package brush

// dof is the number of coordinates: main body 3, segments 2 each, holder, spring arm.
const (
	dof       = 11
	segments  = 3
	colHolder = 9
	colArm    = 10
)

// colU and colS are the columns of segment i's axial and tangential displacement.
func colU(i int) int { return 3 + 2*i }
func colS(i int) int { return 4 + 2*i }

// Joint fastens a face segment, by an axial and a tangential displacement of its own, to the main body or to an earlier segment.
// Segments do not turn against the main body: wide and flat, they are a hundred times stiffer in bending than in shear.
type Joint struct {
	Parent   int     // −1: the main body; otherwise a segment with a smaller number
	Position float64 // m   centre of the segment at rest along the face, from the middle of the brush
}

// Star is the default map: three segments side by side, each of them on the main body.
func Star(width float64) [segments]Joint {
	return [segments]Joint{{-1, -width / 3}, {-1, 0}, {-1, width / 3}}
}

// sums turns displacements of joints into displacements against the main body, down the tree.
func (b *Brush) sums(v *[segments]float64) {
	if b.star {
		return
	}
	for i, j := range b.joint {
		if j.Parent >= 0 {
			v[i] += v[j.Parent]
		}
	}
}

// gather turns forces on segments into forces on joints, up the tree: the transpose of sums.
func (b *Brush) gather(v *[segments]float64) {
	if b.star {
		return
	}
	for i := segments - 1; i >= 0; i-- {
		if p := b.joint[i].Parent; p >= 0 {
			v[p] += v[i]
		}
	}
}

// path is the matrix of sums: path[i][j] is 1 when joint j carries segment i.
func (b *Brush) path() (p [segments][segments]float64) {
	for j := range segments {
		var e [segments]float64
		e[j] = 1
		b.sums(&e)
		for i := range segments {
			p[i][j] = e[i]
		}
	}
	return p
}
