package contact

import (
	"fmt"
	"math"
	"slices"
)

// Scene is a System of planar rigid bodies from a SceneSpec, with polylines, exact discs and half-planes as shapes. q are the free
// coordinates in the order of the bodies, x, y, angle each. M is diagonal; all forces but contact are those of the spec.
//
// Contact kinematics, for the point c of body A (a vertex, or the centre of a disc of radius R) over body B with the angular velocities
// ω, ρ = c − origin of a body, and v, a the velocity and acceleration of c in the frame of B:
//
//	ġ_N = n·v                      g̈_N = n·a + bend·(t·v)²
//	ġ_T = t·v + ω_A·R − ω_B·G      g̈_T = t·a − bend·(t·v)·(n·v) + ω̇_A·R − ω̇_B·G − ω_B·ġ_N
//
// G is the distance of c from the surface of B, so that ġ_T is the velocity of the material of A at its surface against the material
// of B at its own. bend is 0 over an edge and 1/distance about a vertex or the centre of a disc. [PG96] give the same for smooth contours.
//
// A Scene has scratch memory: use one for each goroutine.
type Scene struct {
	spec        SceneSpec
	index       [][3]int // coordinate of body and axis in q, −1: prescribed; the last body is the world
	dof         int
	names       []Coordinate
	mass        []float64 // diagonal of M
	k, c        []float64 // linear stiffness and damping
	springs     []sceneSpring
	mounted     []int // body of each mount
	forceBodies []int // body of each force
	passes      []scenePass

	body        []sceneBody
	posesBefore []sceneBody  // scratch of Missed
	load        [][3]float64 // force and moment on each body
	hits        []hit
	order       []int // of hits
	list        placeList
}

// Coordinate names one entry of q.
type Coordinate struct {
	Body string
	Axis string // x, y or angle
}

// sceneBody is a body in motion: pose, velocity, and the acceleration of the coordinates that are prescribed.
type sceneBody struct {
	start, p, v, a [3]float64
	sin, cos       float64
}

// world takes a point of the body to the world.
func (b *sceneBody) world(x, y float64) (float64, float64) {
	return b.p[0] + b.cos*x - b.sin*y, b.p[1] + b.sin*x + b.cos*y
}

// turned takes a vector of the body to the world.
func (b *sceneBody) turned(x, y float64) (float64, float64) {
	return b.cos*x - b.sin*y, b.sin*x + b.cos*y
}

// NewScene checks the spec, all of it at once, and refuses bodies that overlap at the start.
func NewScene(spec SceneSpec) (*Scene, error) {
	index := map[string]int{}
	for i, b := range slices.Backward(spec.Bodies) { // of equal names the first
		index[b.Name] = i
	}
	if err := spec.validate(index); err != nil {
		return nil, err
	}
	s := &Scene{spec: spec}
	nb := len(spec.Bodies)
	s.index, s.body, s.load = make([][3]int, nb+1), make([]sceneBody, nb+1), make([][3]float64, nb+1)
	s.posesBefore = make([]sceneBody, nb+1)
	for i := range spec.Bodies {
		b := &spec.Bodies[i]
		s.body[i].start = b.Pose
		for j, axis := range axes {
			if !b.free(j) {
				s.index[i][j] = -1
				continue
			}
			s.index[i][j] = s.dof
			s.dof++
			s.names = append(s.names, Coordinate{b.Name, axis})
			m := b.Mass
			if j == 2 {
				m = b.Inertia
			}
			s.mass = append(s.mass, m)
		}
	}
	s.body[nb], s.index[nb] = sceneBody{cos: 1}, [3]int{-1, -1, -1} // the world
	q, u := make([]float64, s.dof), make([]float64, s.dof)
	s.Start(q, u)
	s.move(0, q, u)
	if err := s.connect(index); err != nil {
		return nil, err
	}
	if err := s.pair(index); err != nil {
		return nil, err
	}
	return s, s.overlap(q, u)
}

// DOF is the number of free coordinates.
func (s *Scene) DOF() int { return s.dof }

// Coordinates names the entries of q and u.
func (s *Scene) Coordinates() []Coordinate { return s.names }

// Start fills q and u with the start of the spec.
func (s *Scene) Start(q, u []float64) {
	for i, at := range s.index {
		for j, k := range at {
			if k >= 0 {
				q[k], u[k] = s.spec.Bodies[i].Pose[j], s.spec.Bodies[i].Speed[j]
			}
		}
	}
}

// Pose is the place (m, m, rad) of a body at time t (s).
func (s *Scene) Pose(t float64, q []float64, body int) (x, y, angle float64) {
	b := s.body[body]
	s.drive(&b, body, t, q, q)
	return b.p[0], b.p[1], b.p[2]
}

// drive gives b the coordinates of a body, their velocities, and the accelerations of those that are prescribed.
func (s *Scene) drive(b *sceneBody, body int, t float64, q, u []float64) {
	for j, k := range s.index[body] {
		b.p[j], b.v[j], b.a[j] = b.start[j], 0, 0
		if k >= 0 {
			b.p[j], b.v[j] = q[k], u[k]
		} else if d := s.spec.Bodies[body].Drive[j]; d != nil {
			p, v, a := d.at(t)
			b.p[j], b.v[j], b.a[j] = b.start[j]+p, v, a
		}
	}
}

// move puts the bodies where t, q and u say.
func (s *Scene) move(t float64, q, u []float64) {
	for i := range s.spec.Bodies {
		b := &s.body[i]
		s.drive(b, i, t, q, u)
		b.sin, b.cos = math.Sincos(b.p[2])
	}
}

// Mass fills M.
func (s *Scene) Mass(_ float64, _, m []float64) {
	clear(m)
	for i, v := range s.mass {
		m[i*(s.dof+1)] = v
	}
}

// Linear fills K and C: mounts and springs with Linearized.
func (s *Scene) Linear(k, c []float64) {
	copy(k, s.k)
	copy(c, s.c)
}

// overlap refuses bodies that are in each other at the start.
func (s *Scene) overlap(q, u []float64) error {
	const tol = 1e-9 // m
	s.collect(0, q, u, tol)
	deep := -1
	for i := range s.hits {
		if s.hits[i].gapNow < -tol && (deep < 0 || s.hits[i].gapNow < s.hits[deep].gapNow) {
			deep = i
		}
	}
	if deep >= 0 {
		h := &s.hits[deep]
		p := &s.passes[h.pass]
		return fmt.Errorf("bodies %q and %q overlap at the start: %g m deep at (%g, %g) m",
			s.spec.Bodies[p.a].Name, s.spec.Bodies[p.b].Name, -h.gapNow, h.x, h.y)
	}
	// outlines may cross without a vertex of one in the other
	for _, p := range s.passes {
		a, b := s.spec.Bodies[p.a].Shape.Outline, s.spec.Bodies[p.b].Shape.Outline
		if a == nil || b == nil {
			continue
		}
		if i, j := b.overlaps(a, s.relative(p.a, p.b)); i >= 0 {
			x, y := s.body[p.a].world(a.x[j], a.y[j])
			return fmt.Errorf("bodies %q and %q overlap at the start: edge %d of %q, from (%g, %g) m, crosses edge %d of %q",
				s.spec.Bodies[p.a].Name, s.spec.Bodies[p.b].Name, j, s.spec.Bodies[p.a].Name, x, y, i, s.spec.Bodies[p.b].Name)
		}
	}
	return nil
}
