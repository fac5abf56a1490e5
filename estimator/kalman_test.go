package estimator

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"hilrig/engine"
	"hilrig/engine/plant"
)

// textbook is a second filter: dense matrices, Van Loan's discretisation [VL78], all fresh samples in one vector update,
// P = (I − K·H)·P. It shares nothing with Kalman but the specification.
type textbook struct {
	n    int
	phi  *mat.Dense
	gam  *mat.VecDense
	q, p *mat.Dense
	x    *mat.VecDense
	s    KalmanSpec
}

// vanLoan discretises the model over dt.
func vanLoan(s KalmanSpec, n int, dt float64) (phi, q *mat.Dense, gam *mat.VecDense) {
	m := s.Motor
	a, w, b := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil), mat.NewVecDense(n, nil)
	a.Set(0, 1, 1)
	a.Set(1, 2, m.K/m.J)
	a.Set(1, 3, -1/m.J)
	a.Set(2, 1, -m.K/m.L)
	a.Set(2, 2, -m.R/m.L)
	b.SetVec(2, 1/m.L)
	w.Set(3, 3, s.TorqueWalk*s.TorqueWalk)
	if n == 5 {
		w.Set(4, 4, s.BiasWalk*s.BiasWalk)
	}
	big := mat.NewDense(2*n, 2*n, nil)
	for i := range n {
		for j := range n {
			big.Set(i, j, -a.At(i, j)*dt)
			big.Set(i, n+j, w.At(i, j)*dt)
			big.Set(n+i, n+j, a.At(j, i)*dt)
		}
	}
	var e mat.Dense
	e.Exp(big)
	phi, q = mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	phi.CloneFrom(e.Slice(n, 2*n, n, 2*n).T())
	q.Mul(phi, e.Slice(0, n, n, 2*n))
	// Γ = ∫Φ(s)ds·B by Simpson's rule on a fine grid
	gam = mat.NewVecDense(n, nil)
	const cells = 200
	for c := 0; c <= 2*cells; c++ {
		weight := 4.0
		if c%2 == 0 {
			weight = 2
		}
		if c == 0 || c == 2*cells {
			weight = 1
		}
		var ah, f mat.Dense
		ah.Scale(dt*float64(c)/(2*cells), a)
		f.Exp(&ah)
		var v mat.VecDense
		v.MulVec(&f, b)
		gam.AddScaledVec(gam, weight*dt/(6*cells), &v)
	}
	var vv mat.Dense
	vv.Outer(s.VoltageNoise*s.VoltageNoise, gam, gam)
	q.Add(q, &vv)
	return phi, q, gam
}

func newTextbook(s KalmanSpec, n int, k *Kalman) *textbook {
	f := &textbook{n: n, s: s, x: mat.NewVecDense(n, nil), p: mat.NewDense(n, n, nil)}
	f.phi, f.q, f.gam = vanLoan(s, n, s.Dt)
	for i := range n {
		f.p.Set(i, i, k.p[i*n+i])
	}
	return f
}

func (f *textbook) step(y [2]float64, fresh [2]bool, u float64) {
	var x mat.VecDense
	x.MulVec(f.phi, f.x)
	x.AddScaledVec(&x, u, f.gam)
	f.x.CopyVec(&x)
	var p mat.Dense
	p.Product(f.phi, f.p, f.phi.T())
	p.Add(&p, f.q)
	f.p.Copy(&p)
	var rows [][]float64
	var v, r []float64
	for j := range y {
		if !fresh[j] {
			continue
		}
		h := make([]float64, f.n)
		if j == 0 {
			h[0] = 1
			r = append(r, f.s.PositionNoise*f.s.PositionNoise)
		} else {
			h[2] = 1
			if f.n == 5 {
				h[4] = 1
			}
			r = append(r, f.s.CurrentNoise*f.s.CurrentNoise)
		}
		rows, v = append(rows, h), append(v, y[j])
	}
	if len(rows) == 0 {
		return
	}
	h := mat.NewDense(len(rows), f.n, nil)
	for i, row := range rows {
		h.SetRow(i, row)
	}
	var s, si, k mat.Dense
	s.Product(h, f.p, h.T())
	for i := range r {
		s.Set(i, i, s.At(i, i)+r[i])
	}
	if err := si.Inverse(&s); err != nil {
		panic(err)
	}
	k.Product(f.p, h.T(), &si)
	nu := mat.NewVecDense(len(v), v)
	var hx, dx mat.VecDense
	hx.MulVec(h, f.x)
	nu.SubVec(nu, &hx)
	dx.MulVec(&k, nu)
	f.x.AddVec(f.x, &dx)
	var kh mat.Dense
	kh.Mul(&k, h)
	kh.Scale(-1, &kh)
	for i := range f.n {
		kh.Set(i, i, kh.At(i, i)+1)
	}
	var pn mat.Dense
	pn.Mul(&kh, f.p)
	f.p.Copy(&pn)
}

// linear is the specification without brush drop, where the model of the filter is exactly linear.
func linear() KalmanSpec {
	s := demoKalman()
	s.Motor.BrushDrop = 0
	s.PositionNoise = count / math.Sqrt(12)
	return s
}

func TestKalmanAgainstTextbook(t *testing.T) {
	for _, n := range []int{4, 5} {
		s := linear()
		s.Varying = true
		if n == 5 {
			s.BiasWalk = 1e-3
		}
		k, err := NewKalman(s)
		if err != nil {
			t.Fatal(err)
		}
		f := newTextbook(s, n, k)
		rng := rand.New(rand.NewPCG(1, 2))
		xhat, sd := make([]float64, 5), make([]float64, 5)
		for tick := range 2000 {
			u := 5 * math.Sin(0.02*float64(tick))
			y := [2]float64{0.3*math.Sin(0.01*float64(tick)) + 1e-4*rng.NormFloat64(), 0.5*math.Cos(0.02*float64(tick)) + 0.02*rng.NormFloat64()}
			fresh := [2]bool{rng.IntN(3) > 0, rng.IntN(2) > 0} // samples come as they like
			k.Step(y, fresh, u, xhat)
			f.step(y, fresh, u)
			k.StdDevs(sd)
			for i := range n {
				std := math.Sqrt(f.p.At(i, i))
				if math.Abs(xhat[i]-f.x.AtVec(i)) > 1e-6*std+1e-12 {
					t.Fatalf("n=%d tick %d state %d: %.12g, textbook %.12g (standard deviation %g)", n, tick, i, xhat[i], f.x.AtVec(i), std)
				}
				if math.Abs(sd[i]/std-1) > 1e-6 {
					t.Fatalf("n=%d tick %d state %d: standard deviation %.12g, textbook %.12g", n, tick, i, sd[i], std)
				}
			}
		}
	}
}

// The constant gains are those at which the varying filter arrives, also when position comes every fourth tick only.
func TestKalmanSteady(t *testing.T) {
	for _, every := range [][2]int{{1, 1}, {4, 1}, {3, 2}, {1, -1}} {
		s := linear()
		s.Every = every
		steady, err := NewKalman(s)
		if err != nil {
			t.Fatal(err)
		}
		s.Varying = true
		varying, _ := NewKalman(s)
		a, b, sd := make([]float64, 4), make([]float64, 4), make([]float64, 4)
		rng := rand.New(rand.NewPCG(3, 4))
		for tick := range 20000 {
			y := [2]float64{math.Sin(0.01 * float64(tick)), 0.5*math.Cos(0.02*float64(tick)) + 0.02*rng.NormFloat64()}
			fresh := [2]bool{tick%every[0] == 0, every[1] > 0 && tick%max(1, every[1]) == 0}
			u := 5 * math.Sin(0.02*float64(tick))
			steady.Step(y, fresh, u, a)
			varying.Step(y, fresh, u, b)
		}
		varying.StdDevs(sd)
		for i := range a {
			if math.Abs(a[i]-b[i]) > 1e-5*sd[i] {
				t.Errorf("every %v: state %d: constant gain %.10g, varying gain %.10g, standard deviation %.3g", every, i, a[i], b[i], sd[i])
			}
		}
	}
}

// On data drawn from its own model the innovations have the size the filter expects, and so have the errors of the estimate
// for now, with and without a delay.
func TestKalmanConsistency(t *testing.T) {
	for _, c := range []struct {
		varying bool
		delay   int // ticks
	}{{false, 0}, {true, 0}, {false, 3}} {
		s := linear()
		s.Varying, s.Delay, s.Every = c.varying, float64(c.delay)*tick, [2]int{2, 1}
		k, err := NewKalman(s)
		if err != nil {
			t.Fatal(err)
		}
		phi, q, gam := vanLoan(s, 4, tick)
		// torque walk and voltage error make Q; drawn from its factor
		var eig mat.EigenSym
		sym := mat.NewSymDense(4, nil)
		for i := range 4 {
			for j := i; j < 4; j++ {
				sym.SetSym(i, j, 0.5*(q.At(i, j)+q.At(j, i)))
			}
		}
		if !eig.Factorize(sym, true) {
			t.Fatal("Q has no eigenvalues")
		}
		var vec mat.Dense
		eig.VectorsTo(&vec)
		lam := eig.Values(nil)
		rng := rand.New(rand.NewPCG(5, 6))
		x := mat.NewVecDense(4, nil)
		const n = 20000
		past := make([][2]float64, n)
		xhat, sd := make([]float64, 4), make([]float64, 4)
		nis, samples, used := 0.0, 0, 0
		var nees [4]float64
		u := 0.0
		for tick := range n {
			if tick > 0 {
				w := mat.NewVecDense(4, nil)
				for j := range 4 {
					w.AddScaledVec(w, math.Sqrt(max(0, lam[j]))*rng.NormFloat64(), vec.ColView(j))
				}
				var next mat.VecDense
				next.MulVec(phi, x)
				next.AddScaledVec(&next, u, gam)
				next.AddVec(&next, w)
				x.CopyVec(&next)
			}
			past[tick] = [2]float64{x.AtVec(0) + s.PositionNoise*rng.NormFloat64(), x.AtVec(2) + s.CurrentNoise*rng.NormFloat64()}
			at := tick - c.delay
			y, fresh := [2]float64{}, [2]bool{}
			if at >= 0 {
				y, fresh = past[at], [2]bool{at%2 == 0, true}
			}
			k.Step(y, fresh, u, xhat)
			if tick > 1000 {
				v, m := k.NIS()
				nis, samples = nis+v, samples+m
				// the constant gains report the tick with both samples; only those are compared
				if fresh[0] && fresh[1] {
					k.StdDevs(sd)
					for j := range nees {
						d := (xhat[j] - x.AtVec(j)) / sd[j]
						nees[j] += d * d
					}
					used++
				}
			}
			u = 6*math.Sin(0.01*float64(tick)) - 0.5*xhat[1]*s.Motor.K
		}
		if mean, tol := nis/float64(samples), 4*math.Sqrt(2/float64(samples)); math.Abs(mean-1) > tol {
			t.Errorf("varying %v delay %d: mean of the normalised innovations %.4f, want 1 ± %.3f", c.varying, c.delay, mean, tol)
		}
		for j, e := range nees {
			if mean := e / float64(used); mean < 0.8 || mean > 1.25 { // neighbouring errors are correlated
				t.Errorf("varying %v delay %d: state %d: mean squared error %.3f of its variance, want 1", c.varying, c.delay, j, mean)
			}
		}
		t.Logf("varying %v delay %d: NIS %.4f a sample, squared errors over variance %.3f", c.varying, c.delay, nis/float64(samples), [4]float64{nees[0] / float64(used), nees[1] / float64(used), nees[2] / float64(used), nees[3] / float64(used)})
	}
}

// A delay that is no whole number of ticks, without noise: the estimate for now is the state now, although the samples tell
// of the past.
func TestKalmanDelay(t *testing.T) {
	s := linear()
	s.Delay = 2.3e-3
	k, err := NewKalman(s)
	if err != nil {
		t.Fatal(err)
	}
	const fine = 10 // pieces of a tick
	phi, _, gam := vanLoan(s, 4, tick/fine)
	x := mat.NewVecDense(4, nil)
	var thetas, currents []float64
	xhat := make([]float64, 4)
	u, worst := 0.0, [4]float64{}
	for step := range 3000 {
		if step > 0 {
			for range fine {
				var next mat.VecDense
				next.MulVec(phi, x)
				next.AddScaledVec(&next, u, gam)
				x.CopyVec(&next)
				thetas, currents = append(thetas, x.AtVec(0)), append(currents, x.AtVec(2))
			}
			x.SetVec(3, 0.01) // a torque that the filter has to find
		} else {
			thetas, currents = append(thetas, 0), append(currents, 0)
		}
		y, fresh := [2]float64{}, [2]bool{}
		if at := len(thetas) - 1 - 23; at >= 0 {
			y, fresh = [2]float64{thetas[at], currents[at]}, [2]bool{true, true}
		}
		k.Step(y, fresh, u, xhat)
		if step > 2000 {
			for j := range worst {
				worst[j] = max(worst[j], math.Abs(xhat[j]-x.AtVec(j)))
			}
		}
		u = 3 * math.Sin(0.05*float64(step))
	}
	for j, w := range worst {
		if limit := [4]float64{1e-7, 1e-5, 1e-6, 1e-7}[j]; w > limit {
			t.Errorf("state %d off by %g, want below %g", j, w, limit)
		}
	}
}

// On the demonstration motor with bristle friction, brush drop, encoder counts and noise.
func TestKalmanOnMotor(t *testing.T) {
	for _, c := range []struct {
		name string
		spec func(s *KalmanSpec)
	}{{"steady", func(*KalmanSpec) {}}, {"varying", func(s *KalmanSpec) { s.Varying = true }}, {"with bias", func(s *KalmanSpec) { s.BiasWalk = 1e-3 }}} {
		spec := demoKalman()
		c.spec(&spec)
		r := newRig(t, 1, spec)
		r.xhat = make([]float64, 5)
		var sq [4]float64
		const n = 10000
		for k := range n {
			before := append([]float64(nil), r.x...)
			friction := r.y[3]
			r.step()
			if r.status != engine.OK {
				t.Fatalf("%s: tick %d: %v", c.name, k, r.status)
			}
			for j, x := range []float64{before[plant.Theta], before[plant.Omega], before[plant.Current], friction} {
				sq[j] += (r.xhat[j] - x) * (r.xhat[j] - x) / n
			}
		}
		t.Logf("%s: rms errors θ %.2g rad, ω %.2g rad/s, i %.2g A, T %.2g N·m; offset %.4f A", c.name, math.Sqrt(sq[0]), math.Sqrt(sq[1]), math.Sqrt(sq[2]), math.Sqrt(sq[3]), r.xhat[4])
		// an encoder difference over one tick has 0.04 rad/s of noise and half a tick of lag, up to 0.08 rad/s; the raw
		// current has 0.02 A and an offset of 0.03 A
		for j, limit := range [4]float64{count, 0.08, 0.036, 4e-3} {
			if rms := math.Sqrt(sq[j]); rms > limit {
				t.Errorf("%s: state %d: rms error %g, want below %g", c.name, j, rms, limit)
			}
		}
		if c.name == "with bias" && math.Abs(r.xhat[4]-0.03) > 0.01 {
			t.Errorf("offset of the current sensor estimated at %g A, is 0.03", r.xhat[4])
		}
	}
}

// Near zero current the brush drop is stiffer than the winding is slow; the prediction must not ring.
func TestKalmanBrushDrop(t *testing.T) {
	k, err := NewKalman(demoKalman())
	if err != nil {
		t.Fatal(err)
	}
	xhat := make([]float64, 4)
	for step := range 50 {
		k.Step([2]float64{}, [2]bool{true, false}, 0.3, xhat)
		before := xhat[XCur]
		k.Step([2]float64{}, [2]bool{true, false}, 0.3, xhat)
		if step > 5 && math.Abs(xhat[XCur]-before) > 1e-3 {
			t.Fatalf("current jumps from %g to %g A under a constant voltage", before, xhat[XCur])
		}
	}
	m := demoMotor() // a shaft that the encoder holds: u = R·i + drop(i)
	if u := m.R*xhat[XCur] + m.Drop(xhat[XCur]); math.Abs(u-0.3) > 0.01 {
		t.Errorf("settles at %g A, which needs %g V, want 0.3", xhat[XCur], u)
	}
	for _, c := range []float64{0, 1e-12, 0.01, -0.3, 2, -50} {
		d := brushDrop(c, 0.72, 0.6, 0.05)
		if i := c - 0.72*d; math.Abs(d-0.6*math.Tanh(i/0.05)) > 1e-9 {
			t.Errorf("c = %g: drop %g V does not belong to %g A", c, d, i)
		}
	}
}

func TestKalmanBadInput(t *testing.T) {
	k, err := NewKalman(demoKalman())
	if err != nil {
		t.Fatal(err)
	}
	k.Reset(1)
	xhat := make([]float64, 4)
	nan := math.NaN()
	for _, c := range []struct {
		y [2]float64
		u float64
	}{{[2]float64{nan, 0}, 0}, {[2]float64{1, math.Inf(1)}, 0}, {[2]float64{1, 0}, nan}} {
		if st := k.Step(c.y, [2]bool{true, true}, c.u, xhat); st != engine.NonFinite {
			t.Errorf("%v: %v, want non-finite", c, st)
		}
		if math.Abs(xhat[0]-1) > 1e-3 || math.IsNaN(xhat[1]+xhat[2]+xhat[3]) {
			t.Errorf("%v: the estimate is now %v", c, xhat)
		}
	}
	// a sample that is not fresh may hold anything
	if st := k.Step([2]float64{nan, nan}, [2]bool{}, 0, xhat); st != engine.OK {
		t.Errorf("stale NaN: %v", st)
	}
	for name, spoil := range map[string]func(*KalmanSpec){
		"period": func(s *KalmanSpec) { s.Dt = 0 }, "current noise": func(s *KalmanSpec) { s.CurrentNoise = 0 }, "R": func(s *KalmanSpec) { s.Motor.R = -1 },
		"position noise": func(s *KalmanSpec) { s.Count = 0 }, "delay": func(s *KalmanSpec) { s.Delay = 1 }, "torque walk": func(s *KalmanSpec) { s.TorqueWalk = nan },
		"position every": func(s *KalmanSpec) { s.Every[0] = -1 },
	} {
		s := demoKalman()
		spoil(&s)
		if _, err := NewKalman(s); err == nil {
			t.Errorf("a bad %s was accepted", name)
		}
	}
}

func TestKalmanAllocs(t *testing.T) {
	for _, varying := range []bool{false, true} {
		s := demoKalman()
		s.Varying, s.Delay, s.BiasWalk = varying, 1.5e-3, 1e-3
		k, err := NewKalman(s)
		if err != nil {
			t.Fatal(err)
		}
		xhat := make([]float64, 5)
		if n := testing.AllocsPerRun(100, func() { k.Step([2]float64{1, 0.1}, [2]bool{true, true}, 2, xhat) }); n != 0 {
			t.Errorf("varying %v: %g allocations in a step", varying, n)
		}
	}
}

func BenchmarkKalmanStep(b *testing.B) {
	for _, c := range []struct {
		name    string
		varying bool
		delay   float64
	}{{"steady", false, 0}, {"varying", true, 0}, {"steady delay 1.5 ms", false, 1.5e-3}} {
		b.Run(c.name, func(b *testing.B) {
			s := demoKalman()
			s.Varying, s.Delay = c.varying, c.delay
			k, err := NewKalman(s)
			if err != nil {
				b.Fatal(err)
			}
			xhat := make([]float64, 4)
			b.ReportAllocs()
			for b.Loop() {
				k.Step([2]float64{1, 0.3}, [2]bool{true, true}, 2, xhat)
			}
		})
	}
}
