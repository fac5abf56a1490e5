package robot

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/multibody"
	"hilrig/engine/rotation"
)

// mend builds the machine. Files of other programs say much that no machine can be, most of it where no motion depends on it: then a
// machine of the same motion is taken, and Assumed says so. What the motion depends on stays, and the error of the build is that of the
// file.
//
//   - inertia of what never moves
//   - bodies that are fixed to each other and impossible alone, whose sum is possible
//   - moments of which only some have an effect, as those of a body that turns about one axis: the rest become possible
//   - joints that move nothing that has inertia: they are held at zero
func (r *reader) mend() error {
	s := &r.robot.Spec
	if len(s.Bodies) == 0 {
		return errors.New("no bodies: there is no machine in it")
	}
	r.sumGroups()
	spec := r.possible()
	joints := 0
	for i := range spec.Bodies {
		if spec.Bodies[i].Joint.Kind != multibody.Fixed {
			joints++
		}
	}
	for range spec.Bodies {
		m, err := multibody.Build(spec)
		idle := idleJoints(err)
		if len(idle) == 0 {
			if err == nil {
				r.balance(m, &spec)
			}
			break
		}
		held := false
		for _, name := range idle {
			held = r.hold(&spec, name) || held
		}
		if !held {
			break
		}
		if joints -= len(idle); joints == 0 {
			return fmt.Errorf("no joint moves anything that has inertia, neither that of %s nor any other: the file describes shapes and axes, "+
				"not masses. "+
				"Give the links mass and moments of inertia, or the joints an armature", strconv.Quote(idle[0]))
		}
	}
	_, err := multibody.Build(r.robot.Spec)
	return err
}

func (r *reader) assume(format string, a ...any) {
	r.robot.Assumed = append(r.robot.Assumed, fmt.Sprintf(format, a...))
}

// index is the place of each body by its name.
func (r *reader) index() map[string]int {
	at := map[string]int{}
	for i := range r.robot.Spec.Bodies {
		at[r.robot.Spec.Bodies[i].Name] = i
	}
	return at
}

// sumGroups looks at bodies that are fixed to each other, which move as one.
func (r *reader) sumGroups() {
	bodies, at := r.robot.Spec.Bodies, r.index()
	// the body of a group whose joint moves, −1: ground, and where the axes of a body stand in those of it; it is not found in a circle
	host := func(i int) (int, multibody.Pose, bool) {
		var p multibody.Pose
		for range bodies {
			b := &bodies[i]
			if b.Joint.Kind != multibody.Fixed {
				return i, p, true
			}
			p = b.Place.Compose(p)
			next, ok := at[b.Parent]
			if !ok {
				return -1, p, true
			}
			i = next
		}
		return 0, p, false
	}
	groups := map[int][]int{}
	for i := range bodies {
		if h, _, ok := host(i); ok {
			groups[h] = append(groups[h], i)
		}
	}
	for h := -1; h < len(bodies); h++ {
		members := groups[h]
		wrong := ""
		for _, i := range members {
			if err := bodies[i].Inertia.Check(); err != nil && (h >= 0 || wrong == "") {
				wrong = bodies[i].Name
				if h < 0 {
					r.assume("%s never moves: its inertia, which no body can have, is left out", wrong)
					bodies[i].Inertia, wrong = multibody.Inertia{}, ""
				}
			}
		}
		if wrong == "" || len(members) < 2 {
			continue
		}
		var sum [multibody.InertialParams]float64
		for _, i := range members {
			_, p, _ := host(i)
			for k, x := range bodies[i].Inertia.Transform(p).Params() {
				sum[k] += x
			}
		}
		whole := multibody.InertiaOf(sum)
		if whole.Check() != nil {
			continue
		}
		for _, i := range members {
			bodies[i].Inertia = multibody.Inertia{}
		}
		bodies[h].Inertia = whole
		r.assume("%s alone has an inertia that no body can have; the sum of what is fixed to %s is possible, and stands with %s",
			wrong, bodies[h].Name, bodies[h].Name)
	}
}

// possible is the machine with the nearest possible inertia of each body.
func (r *reader) possible() multibody.Spec {
	s := r.robot.Spec
	s.Bodies = append([]multibody.Body(nil), s.Bodies...)
	for i := range s.Bodies {
		if b := &s.Bodies[i].Inertia; errors.Is(b.Check(), multibody.ErrTriangle) {
			if near := nearest(b.I); (multibody.Inertia{Mass: b.Mass, Com: b.Com, I: near}).Check() == nil {
				b.I = near
			}
		}
	}
	return s
}

// nearest is the matrix of moments whose second moments of mass, tr(I)/2·1 − I, are the nearest of a body: none is negative.
func nearest(i rotation.Matrix) rotation.Matrix {
	second := rotation.Eye.Scale((i[0][0]+i[1][1]+i[2][2])/2).Add(-1, i)
	p, axes := second.Eigen()
	var sum rotation.Matrix
	for k, x := range p {
		if x > 0 {
			u := r3.Vec{X: axes[0][k], Y: axes[1][k], Z: axes[2][k]}
			sum = sum.Add(x, rotation.OuterProduct(u, u))
		}
	}
	return rotation.Eye.Scale(sum[0][0]+sum[1][1]+sum[2][2]).Add(-1, sum)
}

// idleJoints are the bodies whose joints move nothing, of an error of Build.
func idleJoints(err error) (names []string) {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	for _, e := range joined.Unwrap() {
		var idle *multibody.Idle
		if errors.As(e, &idle) {
			names = append(names, idle.Body)
		}
	}
	return names
}

// hold fixes a joint without inertia at zero, in the machine and in spec; false: others feel its damping or friction over a coupling.
func (r *reader) hold(spec *multibody.Spec, name string) bool {
	s := &r.robot.Spec
	i := r.index()[name]
	j := &s.Bodies[i].Joint
	var rest []multibody.Coupling
	for _, c := range s.Couplings {
		has := false
		for _, t := range c.Terms {
			has = has || t.Joint == name
		}
		if has && (j.Damping != 0 || j.Coulomb != 0 || j.Stiffness != 0) {
			return false
		}
		if !has {
			rest = append(rest, c)
			continue
		}
		r.assume("coupling %s is left out: it moves the joint of %s, which has no inertia", c.Name, name)
	}
	r.assume("the joint of %s (%v) moves nothing that has inertia: it is held at 0; the motion of the others does not depend on it", name,
		j.Kind)
	s.Couplings, spec.Couplings = rest, rest
	s.Bodies[i].Joint = multibody.Joint{}
	spec.Bodies[i].Joint = multibody.Joint{}
	return true
}

// balance replaces moments that no body can have, where the motion of m, the machine with the nearest ones, does not depend on the
// difference.
func (r *reader) balance(m *multibody.Model, spec *multibody.Spec) {
	for i := range spec.Bodies {
		b, own := &spec.Bodies[i], &r.robot.Spec.Bodies[i].Inertia
		if own.I == b.Inertia.I {
			continue
		}
		j, err := m.Joint(b.Name)
		if err != nil {
			continue
		}
		moments, ok := equivalent(own.I, felt(m, j))
		possible := multibody.Inertia{Mass: own.Mass, Com: own.Com, I: moments}
		if !ok || possible.Check() != nil {
			continue
		}
		p, _ := own.I.Eigen()
		n, _ := moments.Eigen()
		r.assume("%s: principal moments %.6g, %.6g, %.6g kg·m² are those of no body; %.6g, %.6g, %.6g give the same motion",
			b.Name, p[0], p[1], p[2], n[0], n[1], n[2])
		own.I = moments
	}
}

// places of the moments xx, xy, xz, yy, yz, zz, and how often each stands in the matrix.
var momentAt = [6][2]int{{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}}

// scale makes the sum of squares of the six that of the matrix.
func scale(k int) float64 {
	if momentAt[k][0] != momentAt[k][1] {
		return math.Sqrt2
	}
	return 1
}

// felt are the directions of the moments of body j of which the torques of any motion depend: the columns of an orthonormal basis.
func felt(m *multibody.Model, j int) (basis [][6]float64) {
	n, cols := m.NV(), multibody.BodyParams*m.Bodies()
	y := make([]float64, n*cols)
	gram := mat.NewSymDense(6, nil)
	q, v, a, d := m.Neutral(), make([]float64, n), make([]float64, n), m.NewData()
	for try := range 6 {
		for i := range v {
			v[i], a[i] = math.Sin(float64(17*i+31*try)+0.7), math.Cos(float64(29*i+13*try)+0.2)
		}
		multibody.Integrate(m, q, v, 1, q)
		multibody.Regressor(m, d, q, v, a, y)
		for i := range n {
			row := y[i*cols+multibody.BodyParams*(j-1)+4:]
			for k := range 6 {
				for l := k; l < 6; l++ {
					gram.SetSym(k, l, gram.At(k, l)+row[k]*row[l]/(scale(k)*scale(l)))
				}
			}
		}
	}
	var e mat.EigenSym
	if !e.Factorize(gram, true) {
		return nil
	}
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	values := e.Values(nil)
	for k, x := range values {
		if x > 1e-12*values[5] {
			var u [6]float64
			for i := range u {
				u[i] = vectors.At(i, k)
			}
			basis = append(basis, u)
		}
	}
	return basis
}

// equivalent is a possible matrix of moments that agrees with i along felt: alternating projections between what a body can have and what
// is felt, until both hold to rounding.
func equivalent(i rotation.Matrix, felt [][6]float64) (rotation.Matrix, bool) {
	const rounds = 2000
	size := 0.0
	for k, at := range momentAt {
		size += math.Abs(i[at[0]][at[1]]) * scale(k)
	}
	now := i
	for range rounds {
		near := nearest(now)
		// back to what is felt
		left := 0.0
		now = near
		for _, u := range felt {
			x := 0.0
			for k, at := range momentAt {
				x += u[k] * scale(k) * (i[at[0]][at[1]] - near[at[0]][at[1]])
			}
			left = max(left, math.Abs(x))
			for k, at := range momentAt {
				now[at[0]][at[1]] += u[k] / scale(k) * x
				now[at[1]][at[0]] = now[at[0]][at[1]]
			}
		}
		if left <= 1e-12*size {
			return near, true
		}
	}
	return i, false
}
