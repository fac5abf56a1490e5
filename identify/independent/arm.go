package independent

import (
	"math"
	"math/rand/v2"

	"hilrig/engine/numeric"
	"hilrig/identify/record"
)

// Vec and Mat are a vector of space and a matrix of it, rows first.
type (
	Vec [3]float64
	Mat [3][3]float64
)

// Link is a body of an arm with the revolute joint, about its z, by which it hangs on the one before.
type Link struct {
	Turn   Mat // from the axes of the link, at angle 0, to those of the one before
	Origin Vec // m, place of its origin in the one before
	Mass   float64
	Com    Vec // m
	I      Mat // kg·m², about the centre of mass; products with the sign of the matrix
	Rotor  float64

	Fc, Fv, Offset float64 // N·m, N·m·s/rad, N·m
}

// Arm is a chain of links.
type Arm struct {
	Gravity Vec // m/s²
	Links   []Link
}

func (a Vec) plus(s float64, b Vec) Vec { return Vec{a[0] + s*b[0], a[1] + s*b[1], a[2] + s*b[2]} }

func cross(a, b Vec) Vec {
	return Vec{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}

func (m *Mat) of(v Vec) (out Vec) {
	for i := range 3 {
		out[i] = m[i][0]*v[0] + m[i][1]*v[1] + m[i][2]*v[2]
	}
	return out
}

func (m *Mat) transposeTimes(v Vec) (out Vec) {
	for i := range 3 {
		out[i] = m[0][i]*v[0] + m[1][i]*v[1] + m[2][i]*v[2]
	}
	return out
}

func (m *Mat) times(b *Mat) (out Mat) {
	for i := range 3 {
		for j := range 3 {
			out[i][j] = m[i][0]*b[0][j] + m[i][1]*b[1][j] + m[i][2]*b[2][j]
		}
	}
	return out
}

func turnZ(q float64) Mat {
	c, s := math.Cos(q), math.Sin(q)
	return Mat{{c, -s, 0}, {s, c, 0}, {0, 0, 1}}
}

// Torques of the rigid bodies and rotors, without friction, by the recursion of Newton and Euler in the axes of the links.
func (a *Arm) Torques(q, v, acc []float64) []float64 {
	n := len(a.Links)
	z := Vec{0, 0, 1}
	turn := make([]Mat, n)
	force, moment := make([]Vec, n), make([]Vec, n)
	var w, dw, lin Vec
	lin = Vec{}.plus(-1, a.Gravity)
	for i := range n {
		l := &a.Links[i]
		spin := turnZ(q[i])
		turn[i] = l.Turn.times(&spin)
		lin = turn[i].transposeTimes(lin.plus(1, cross(dw, l.Origin)).plus(1, cross(w, cross(w, l.Origin))))
		w, dw = turn[i].transposeTimes(w), turn[i].transposeTimes(dw)
		dw = dw.plus(acc[i], z).plus(v[i], cross(w, z))
		w = w.plus(v[i], z)
		com := lin.plus(1, cross(dw, l.Com)).plus(1, cross(w, cross(w, l.Com)))
		force[i] = Vec{}.plus(l.Mass, com)
		moment[i] = l.I.of(dw).plus(1, cross(w, l.I.of(w))).plus(1, cross(l.Com, force[i]))
	}
	out := make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		out[i] = moment[i][2] + a.Links[i].Rotor*acc[i]
		if i > 0 {
			f, m := turn[i].of(force[i]), turn[i].of(moment[i])
			force[i-1] = force[i-1].plus(1, f)
			moment[i-1] = moment[i-1].plus(1, m).plus(1, cross(a.Links[i].Origin, f))
		}
	}
	return out
}

// ArmTrace is the exact motion of an arm at the samples, joint by joint.
type ArmTrace struct {
	Dt         float64
	Q, V, A, U [][]float64 // rad, rad/s, rad/s², N·m of the drive
	Bodies     [][]float64 // N·m of U, without friction and offset
}

func newArmTrace(joints, n int, dt float64) *ArmTrace {
	t := &ArmTrace{Dt: dt}
	for range joints {
		for _, x := range []*[][]float64{&t.Q, &t.V, &t.A, &t.U, &t.Bodies} {
			*x = append(*x, make([]float64, n))
		}
	}
	return t
}

// Tours are smooth closed motions with the angles, speeds and accelerations of every joint.
type Tours func(t float64) (q, v, a []float64)

// Tour is a sum of five harmonics of base (Hz) for each joint about a random angle, with top speeds of about top (rad/s).
func Tour(seed uint64, joints int, base, top float64) Tours {
	r := rand.New(rand.NewPCG(seed, 515))
	const harmonics = 5
	var mid []float64
	amp, phase := make([][harmonics]float64, joints), make([][harmonics]float64, joints)
	for i := range joints {
		mid = append(mid, 2*(r.Float64()-0.5))
		sum := 0.0
		for k := range harmonics {
			amp[i][k], phase[i][k] = r.NormFloat64(), 2*math.Pi*r.Float64()
			sum += amp[i][k] * amp[i][k]
		}
		for k := range harmonics {
			amp[i][k] *= top / math.Sqrt(2*sum)
		}
	}
	return func(t float64) (q, v, a []float64) {
		q, v, a = make([]float64, joints), make([]float64, joints), make([]float64, joints)
		for i := range joints {
			q[i] = mid[i]
			for k := range harmonics {
				w := 2 * math.Pi * base * float64(k+1)
				s, c := math.Sincos(w*t + phase[i][k])
				q[i], v[i], a[i] = q[i]+amp[i][k]/w*s, v[i]+amp[i][k]*c, a[i]-amp[i][k]*w*s
			}
		}
		return q, v, a
	}
}

// FollowTour is the arm led along a tour: the torques are those that this takes.
func (a *Arm) FollowTour(along Tours, dt float64, n int) *ArmTrace {
	t := newArmTrace(len(a.Links), n, dt)
	for k := range n {
		q, v, acc := along(float64(k) * dt)
		t.store(k, a, q, v, acc)
		for i, l := range a.Links {
			t.U[i][k] = t.Bodies[i][k] + l.Fv*v[i] + l.Fc*numeric.Sign(v[i]) + l.Offset
		}
	}
	return t
}

func (t *ArmTrace) store(k int, a *Arm, q, v, acc []float64) {
	for i, x := range a.Torques(q, v, acc) {
		t.Q[i][k], t.V[i][k], t.A[i][k], t.Bodies[i][k] = q[i], v[i], acc[i], x
	}
}

// ArmSensors is how the motion of an arm is recorded.
type ArmSensors struct {
	Count  float64   // rad, step of the encoders
	Torque []float64 // N·m, deviation of the noise of each joint
	Colour float64   // of that noise, from one sample to the next
	Seed   uint64
}

// Record is the trace seen by sensors, a record for each joint.
func (t *ArmTrace) Record(s ArmSensors) (out []*record.Record) {
	r := rand.New(rand.NewPCG(s.Seed, 2719))
	for i := range t.Q {
		n := len(t.Q[i])
		rec := &record.Record{Dt: t.Dt, Position: make([]float64, n), Force: make([]float64, n)}
		rec.File = "simulated apart"
		shift, z := r.Float64(), r.NormFloat64()
		for k := range n {
			if rec.Position[k] = t.Q[i][k]; s.Count > 0 {
				rec.Position[k] = s.Count * (math.Floor(t.Q[i][k]/s.Count+shift) + 0.5 - shift)
			}
			z = s.Colour*z + math.Sqrt(1-s.Colour*s.Colour)*r.NormFloat64()
			rec.Force[k] = t.U[i][k] + s.Torque[i]*z
		}
		out = append(out, rec)
	}
	return out
}

// RandomArm is an arm of so many joints whose links are clouds of point masses: real bodies by construction.
func RandomArm(seed uint64, joints int) *Arm {
	r := rand.New(rand.NewPCG(seed, 9091))
	a := &Arm{Gravity: Vec{0, 0, -9.81}}
	for i := range joints {
		l := Link{Turn: Mat{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}
		if i > 0 { // a quarter turn or none about x, as of most arms
			if r.IntN(3) > 0 {
				l.Turn = Mat{{1, 0, 0}, {0, 0, -1}, {0, 1, 0}}
			}
			l.Origin = Vec{0.15 + 0.25*r.Float64(), 0.1 * (r.Float64() - 0.5), 0.1 * (r.Float64() - 0.5)}
		}
		l.cloud(r, math.Pow(0.6, float64(i)))
		size := l.I[2][2] + l.Mass*(l.Com[0]*l.Com[0]+l.Com[1]*l.Com[1])
		l.Rotor = size * (0.1 + 0.4*r.Float64())
		scale := 9.81 * l.Mass * 0.1
		l.Fc, l.Fv, l.Offset = scale*(0.3+0.7*r.Float64()), scale*(0.2+0.3*r.Float64()), scale*0.2*(r.Float64()-0.5)
		a.Links = append(a.Links, l)
	}
	return a
}

// cloud makes the body of a link of point masses of together about 5 kg times share.
func (l *Link) cloud(r *rand.Rand, share float64) {
	const points = 12
	var mass [points]float64
	var at [points]Vec
	for k := range points {
		mass[k] = share * 5. / points * (0.3 + 1.4*r.Float64())
		at[k] = Vec{0.3*r.Float64() - 0.03, 0.12 * (r.Float64() - 0.5), 0.12 * (r.Float64() - 0.5)}
		l.Mass += mass[k]
		l.Com = l.Com.plus(mass[k], at[k])
	}
	l.Com = Vec{}.plus(1/l.Mass, l.Com)
	for k := range points {
		d := at[k].plus(-1, l.Com)
		for i := range 3 {
			for j := range 3 {
				l.I[i][j] -= mass[k] * d[i] * d[j]
			}
			l.I[i][i] += mass[k] * (d[0]*d[0] + d[1]*d[1] + d[2]*d[2])
		}
	}
}

// ArmRun is an arm in its controllers: the torque of each sample is held until the next.
type ArmRun struct {
	Dt    float64
	N     int
	Tour  Tours
	Kp    []float64 // N·m/rad
	Kd    []float64 // N·m·s/rad
	Model *Arm      // whose torques along the tour are fed forward; nil: none
	Drive func(joint int, command float64, v float64) float64
	Delay float64 // s, by which the torque acts later than it is commanded, at most Dt
}

// Simulate integrates the arm. U is what was commanded, Drive what the drives make of it; nil: just that. Friction turns round within 5
// mrad/s.
func (a *Arm) Simulate(run ArmRun) *ArmTrace {
	n := len(a.Links)
	t := newArmTrace(n, run.N, run.Dt)
	q, v, _ := run.Tour(0)
	now, next := make([]float64, n), make([]float64, n)
	for k := range run.N {
		at := float64(k) * run.Dt
		rq, rv, ra := run.Tour(at)
		copy(now, next)
		feed := make([]float64, n)
		if run.Model != nil {
			feed = run.Model.Torques(rq, rv, ra)
			for i, l := range run.Model.Links {
				feed[i] += l.Fv*rv[i] + l.Fc*math.Tanh(rv[i]/0.02)
			}
		}
		for i := range n {
			t.U[i][k] = feed[i] + run.Kp[i]*(rq[i]-q[i]) + run.Kd[i]*(rv[i]-v[i])
			if next[i] = t.U[i][k]; run.Drive != nil {
				next[i] = run.Drive(i, t.U[i][k], v[i])
			}
			t.Q[i][k], t.V[i][k] = q[i], v[i]
		}
		if k == 0 {
			copy(now, next)
		}
		q, v = a.advance(q, v, now, run.Delay)
		q, v = a.advance(q, v, next, run.Dt-run.Delay)
	}
	return t
}

// advance integrates over span (s) under a torque, by the method of Runge and Kutta of order four.
func (a *Arm) advance(q, v, torque []float64, span float64) ([]float64, []float64) {
	if span <= 0 {
		return q, v
	}
	steps := int(math.Ceil(span / 6e-5))
	h := span / float64(steps)
	add := func(x, d []float64, by float64) []float64 {
		out := make([]float64, len(x))
		for i := range x {
			out[i] = x[i] + by*d[i]
		}
		return out
	}
	for range steps {
		a1 := a.accelerations(q, v, torque)
		v2 := add(v, a1, h/2)
		a2 := a.accelerations(add(q, v, h/2), v2, torque)
		v3 := add(v, a2, h/2)
		a3 := a.accelerations(add(q, v2, h/2), v3, torque)
		v4 := add(v, a3, h)
		a4 := a.accelerations(add(q, v3, h), v4, torque)
		nq, nv := make([]float64, len(q)), make([]float64, len(q))
		for i := range q {
			nq[i] = q[i] + h/6*(v[i]+2*v2[i]+2*v3[i]+v4[i])
			nv[i] = v[i] + h/6*(a1[i]+2*a2[i]+2*a3[i]+a4[i])
		}
		q, v = nq, nv
	}
	return q, v
}

// accelerations under a torque, by the inertia matrix column by column and Gauss's elimination.
func (a *Arm) accelerations(q, v, torque []float64) []float64 {
	n := len(q)
	zero, unit := make([]float64, n), make([]float64, n)
	rest := (&Arm{Links: a.Links}) // no gravity: the torques of an acceleration alone
	m := make([][]float64, n)
	for j := range n {
		unit[j] = 1
		m[j] = rest.Torques(q, zero, unit) // symmetric: a column is a row
		unit[j] = 0
	}
	x := a.Torques(q, v, zero)
	for i, l := range a.Links {
		x[i] = torque[i] - x[i] - l.Fv*v[i] - l.Fc*math.Tanh(v[i]/5e-3) - l.Offset
	}
	for i := range n {
		for k := i + 1; k < n; k++ {
			f := m[k][i] / m[i][i]
			for j := i; j < n; j++ {
				m[k][j] -= f * m[i][j]
			}
			x[k] -= f * x[i]
		}
	}
	for i := n - 1; i >= 0; i-- {
		for j := i + 1; j < n; j++ {
			x[i] -= m[i][j] * x[j]
		}
		x[i] /= m[i][i]
	}
	return x
}
