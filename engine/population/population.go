// Package population simulates many members of one model over one recorded trace and tells how far each of them is from what
// was measured: what a search with a population asks for thousands of times.
//
// The model is a mass on LuGre friction [C95], driven by a recorded force u,
//
//	M·dv/dt = u − F − offset,   dx/dt = v
//	dz/dt = v − σ0·|v|/g(v)·z,   g(v) = Fc + (Fs − Fc)·exp(−(v/vs)²)
//	F = σ0·z + σ1·dz/dt + σ2·v
//
// and members differ in (M, σ0, σ1, σ2, Fc, Fs, vs, offset), see Names.
//
// The scheme is friction.ExplicitPade: a leapfrog in which x, z, F and u belong to t_k and v_k to t_k − h/2, with
// e^{−a} ≈ 1/(1 + a + a²/2) for the relaxation of the bristles. In force units ζ = σ0·z, with b = hσ0|v| and n = b·(g + b/2),
//
//	Δζ  = (g·sgn v − ζ)·n/(g² + n)
//	v⁺  = v + h/M·(u − offset − ζ − (1 + σ1/(hσ0))·Δζ − σ2·v),   ζ⁺ = ζ + Δζ,   x⁺ = x + h·v⁺
//
// so that a step has one exponential and one division. The force is held from its stamp to the next, and a leapfrog wants
// its mean over [t_k − h/2, t_k + h/2]: ½(u_{k−1} + u_k). The velocity at t_k is ½(v_k + v_{k+1}).
//
// Members lie side by side in lanes. The same step exists in portable Go and, on amd64, for vectors of AVX2 and AVX-512; all
// three round in the same places, fused multiply-adds included, so the result of a member is the same to the last bit on
// every path, in every lane, whatever its neighbours are and how many. A processor without fused multiply-adds computes them
// in software, and slowly.
//
// The scheme is of first order where there is damping: at 1 ms and σ0/M = 1e4 s⁻² it makes an estimate of σ0 about 1 % too
// small. Substeps divide the interval; the last digits belong to a scheme of second order.
package population

import (
	"fmt"
	"math"

	"hilrig/engine"
	"hilrig/engine/numeric"
)

// Names are the parameters of a member in the order of theta, named as in the registry of friction laws: kg, N/m, N·s/m,
// N·s/m, N, N, m/s, N, or their rotary counterparts.
var Names = [...]string{"M", "sigma0", "sigma1", "sigma2", "Fc", "Fs", "vs", "offset"}

// Places in theta.
const (
	thM = iota
	thSigma0
	thSigma1
	thSigma2
	thFc
	thFs
	thVs
	thOffset
	thetaLen
)

// Output says what is compared.
type Output uint8

const (
	Velocity Output = iota // m/s
	Position               // m
)

// Trace is what all members share.
type Trace struct {
	Dt       float64   // s    sampling interval
	U        []float64 // N    drive force, held from its stamp to the next
	Y        []float64 // m/s or m, measured at the stamps of U; nil: zeros, so that residuals are the output of the model
	Output   Output    //
	X0, V0   float64   // m, m/s  at the first sample; the bristles are relaxed there
	Substeps int       // steps of the scheme in a sampling interval; 0: 1
}

// Kernel simulates members over a trace. It owns its workspace: not for concurrent use, see Fork.
type Kernel struct {
	*shared
	path Path
	step stepper // of the path

	oct     [maxOctets]octet
	members [maxOctets * 8]int // member in a lane, −1: none
	errs    []float64          // output errors of a block, as the stepper writes them
}

// shared is the trace as the steppers read it.
type shared struct {
	rows          []row
	h             float64 // s, of a step
	u0            float64 // N, force at the first stamp
	x0            float64
	v0            float64
	rowsPerSample int     // rows per sample
	fail          float64 // residual of a member that failed
}

// row is a step as all lanes see it: the force at its stamp, and the weights of what is compared,
// error = wv·(v_k + v_{k+1}) + wx·x_k + my. All weights are zero where nothing is.
type row struct{ u, wv, wx, my float64 }

const (
	maxOctets = 16  // lanes simulated together, by eight
	blockRows = 256 // rows between two looks at the limit
)

// New prepares a trace. The data are copied.
func New(t Trace) (*Kernel, error) {
	n, sub := len(t.U), max(t.Substeps, 1)
	switch {
	case !(t.Dt > 0) || math.IsInf(t.Dt, 0):
		return nil, fmt.Errorf("population: sampling interval %g s, want a finite number > 0", t.Dt)
	case n < 2:
		return nil, fmt.Errorf("population: %d samples of force, want at least 2", n)
	case t.Y != nil && len(t.Y) != n:
		return nil, fmt.Errorf("population: %d samples of force, %d of output", n, len(t.Y))
	case !numeric.IsFinite(t.X0) || !numeric.IsFinite(t.V0):
		return nil, fmt.Errorf("population: first state %g m, %g m/s, want finite numbers", t.X0, t.V0)
	}
	s := &shared{rows: make([]row, 0, n*sub), h: t.Dt / float64(sub), u0: t.U[0], x0: t.X0, v0: t.V0, rowsPerSample: sub}
	top, before := 0.0, t.U[0]
	for k, u := range t.U {
		y := 0.0
		if t.Y != nil {
			y = t.Y[k]
		}
		if !numeric.IsFinite(u) || !numeric.IsFinite(y) {
			return nil, fmt.Errorf("population: sample %d: force %g, output %g, want finite numbers", k, u, y)
		}
		top = max(top, math.Abs(y))
		r := row{u: 0.5 * (before + u), my: -y}
		if t.Output == Position {
			r.wx = 1
		} else {
			r.wv = 0.5
		}
		s.rows = append(s.rows, r)
		for range sub - 1 {
			s.rows = append(s.rows, row{u: u})
		}
		before = u
	}
	if top == 0 {
		top = 1
	}
	s.fail = 1e3 * top
	k := &Kernel{shared: s, errs: make([]float64, blockRows*bunch)}
	return k, k.Use(Fastest())
}

// Fork returns a kernel on the same trace with a workspace of its own, for another goroutine.
func (k *Kernel) Fork() *Kernel {
	return &Kernel{shared: k.shared, path: k.path, step: k.step, errs: make([]float64, blockRows*bunch)}
}

// Use chooses the path. Without it the fastest one of the machine is used.
func (k *Kernel) Use(p Path) error {
	step := stepperOf(p)
	if step == nil {
		return fmt.Errorf("population: this machine has no path %s", p)
	}
	k.path, k.step = p, step
	return nil
}

// Rows is the number of samples.
func (k *Kernel) Rows() int { return len(k.rows) / k.rowsPerSample }

// Width is the number of members that fill a batch. More are simulated together, fewer cost as much time on the paths with
// vectors; results do not depend on it.
func (k *Kernel) Width() int {
	if k.path == Portable {
		return 8
	}
	return 32
}

// Worst is the cost of a member that failed: parameters without meaning, or a motion that left all bounds. It is far above
// every cost of a member that did not.
func (k *Kernel) Worst() float64 { return float64(k.Rows()) * k.fail * k.fail }

// Costs writes the sum of the squared output errors of every member to cost. A member whose partial sum exceeds its limit is
// given up at the end of a block; its cost is then some number above the limit. A cost at or below the limit is the same
// to the last bit as without. A nil limit means none.
func (k *Kernel) Costs(theta [][]float64, limit, cost []float64) {
	for first := 0; first < len(theta); first += len(k.members) {
		k.simulate(theta, first, min(first+len(k.members), len(theta)), limit, cost, nil)
	}
}

// Residuals writes model − measured at every sample to r, a slice of Rows for every member. A member that failed has large
// finite residuals, and the status is NonFinite.
func (k *Kernel) Residuals(theta, r [][]float64) engine.Status {
	st := engine.OK
	for first := 0; first < len(theta); first += bunch {
		st = max(st, k.simulate(theta, first, min(first+bunch, len(theta)), nil, nil, r))
	}
	return st
}

// simulate runs the members first … last−1, as many as there are lanes, or as a bunch has where residuals are wanted: limit and
// cost, or r, may be nil.
func (k *Kernel) simulate(theta [][]float64, first, last int, limit, cost []float64, r [][]float64) (st engine.Status) {
	failed := func(i int) {
		st = engine.NonFinite
		if cost != nil {
			cost[i] = k.Worst()
		}
		if r != nil {
			for j := range r[i][:k.Rows()] {
				r[i][j] = k.fail
			}
		}
	}
	n := 0 // lanes at work: 0 … n−1
	for i := first; i < last; i++ {
		if !k.load(n, theta[i]) {
			failed(i)
			continue
		}
		k.members[n] = i
		n++
	}
	k.padLanes(n)
	stride := 0
	if r != nil {
		stride = 8 // as many as the steppers write
		for stride < n {
			stride *= 2
		}
	}
	for at := 0; at < len(k.rows) && n > 0; at += blockRows {
		block := k.rows[at:min(at+blockRows, len(k.rows))]
		k.step(k.oct[:], n, block, k.errs, stride)
		if r != nil {
			k.sample(n, at, len(block), stride, r)
		}

		// whoever failed or is above the limit leaves, the last one takes the place
		before := n
		for lane := 0; lane < n; {
			i, c := k.members[lane], k.oct[lane/8].cost[lane%8]
			lost := !(c < k.Worst()) // not a number, or a motion beyond all bounds
			if cost != nil {
				cost[i] = c
			}
			if lost {
				failed(i)
			}
			if lost || limit != nil && c > limit[i] {
				n--
				k.move(lane, n)
				continue
			}
			lane++
		}
		if n < before {
			k.padLanes(n)
		}
	}
	return st
}

// sample takes the errors at the samples out of those of a block of rows that begins at row at.
func (k *Kernel) sample(n, at, rows, stride int, r [][]float64) {
	skip := (k.rowsPerSample - at%k.rowsPerSample) % k.rowsPerSample // rows of the block before its first sample
	for lane := range n {
		out := r[k.members[lane]][(at+skip)/k.rowsPerSample:]
		e := k.errs[lane : (rows-1)*stride+lane+1]
		for j, i := skip*stride, 0; j < len(e); j, i = j+k.rowsPerSample*stride, i+1 {
			out[i] = e[j]
		}
	}
}

// Path is an implementation of the step.
type Path uint8

const (
	Portable Path = iota // Go, everywhere
	AVX2                 // four lanes in a vector, with FMA
	AVX512               // eight
)

func (p Path) String() string {
	return [...]string{"portable", "avx2", "avx512", "unknown"}[min(p, AVX512+1)]
}

// Paths lists what this machine can run, slowest first.
func Paths() []Path {
	ps := []Path{Portable}
	for _, p := range []Path{AVX2, AVX512} {
		if stepperOf(p) != nil {
			ps = append(ps, p)
		}
	}
	return ps
}

// Fastest is the path taken unless another one is asked for.
func Fastest() Path {
	ps := Paths()
	return ps[len(ps)-1]
}
