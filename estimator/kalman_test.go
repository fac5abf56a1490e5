package estimator

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"hilrig/engine/plant"
)

// textbook is a second filter: dense matrices, Van Loan's discretisation [VL78], all fresh samples in one vector update,
// P = (I − K·H)·P. It shares nothing with Kalman but the specification.
type textbook struct {
	s    KalmanSpec
	p    *mat.Dense
	x    *mat.VecDense
	made map[float64][3]mat.Matrix // by interval: Φ, Q, Γ
}

// vanLoan discretises the model over dt, with a voltage error that is held over it and as strong as white noise.
func vanLoan(s KalmanSpec, dt float64) (phi, q, gam *mat.Dense) {
	const n = nX
	m := s.Motor
	a, w := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	a.Set(0, 1, 1)
	a.Set(1, 2, m.K/m.J)
	a.Set(1, 3, -1/m.J)
	a.Set(2, 1, -m.K/m.L)
	a.Set(2, 2, -m.R/m.L)
	w.Set(3, 3, s.TorqueWalk*s.TorqueWalk)
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
	gam = mat.NewDense(n, 1, nil)
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
		for i := range n {
			gam.Set(i, 0, gam.At(i, 0)+weight*dt/(6*cells)*f.At(i, 2)/m.L)
		}
	}
	var vv mat.Dense
	vv.Mul(gam, gam.T())
	vv.Scale(s.VoltageNoise*s.VoltageNoise*s.Dt/dt, &vv)
	q.Add(q, &vv)
	return phi, q, gam
}

// newTextbook begins where k is.
func newTextbook(k *Kalman, s KalmanSpec) *textbook {
	f := &textbook{s: s, x: mat.NewVecDense(nX, k.x[:]), p: mat.NewDense(nX, nX, nil), made: map[float64][3]mat.Matrix{}}
	f.x = mat.VecDenseCopyOf(f.x)
	for i := range nX {
		for j := range nX {
			f.p.Set(i, j, k.p[i][j])
		}
	}
	return f
}

func (f *textbook) predict(dt, u float64) {
	t, ok := f.made[dt]
	if !ok {
		phi, q, gam := vanLoan(f.s, dt)
		t = [3]mat.Matrix{phi, q, gam}
		f.made[dt] = t
	}
	var x mat.VecDense
	x.MulVec(t[0], f.x)
	for i := range nX {
		f.x.SetVec(i, x.AtVec(i)+u*t[2].At(i, 0))
	}
	var p mat.Dense
	p.Product(t[0], f.p, t[0].T())
	f.p.Add(&p, t[1])
}

func (f *textbook) correct(y [3]float64, fresh [3]bool) {
	var rows [][]float64
	var v, r []float64
	for j := range y {
		if !fresh[j] {
			continue
		}
		h := make([]float64, nX)
		h[[2]int{0, 2}[j]] = 1
		noise := [3]float64{f.s.PositionNoise, f.s.CurrentNoise}[j]
		rows, v, r = append(rows, h), append(v, y[j]), append(r, noise*noise)
	}
	if len(rows) == 0 {
		return
	}
	h := mat.NewDense(len(rows), nX, nil)
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
	for i := range nX {
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

func newKalman(t testing.TB, s KalmanSpec) *Kalman {
	t.Helper()
	k, err := NewKalman(s)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Samples come as they like: at any multiple of 1/256 of a period, one sensor or both or none.
func TestKalmanAgainstTextbook(t *testing.T) {
	s := linear()
	k := newKalman(t, s)
	xhat, sd := make([]float64, nX), make([]float64, nX)
	follow(k, tick, [3]float64{0.01, 0}, [3]bool{true, true}, 0, xhat)
	follow(k, tick, [3]float64{0.01, 0}, [3]bool{true, true}, 0, xhat)
	follow(k, tick, [3]float64{0.01, 0}, [3]bool{true, true}, 0, xhat) // the prior is too wide for the textbook's P = (I − K·H)·P
	f := newTextbook(k, s)
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 2000 {
		u := 5 * math.Sin(0.02*float64(n))
		y := [3]float64{0.3*math.Sin(0.01*float64(n)) + 1e-4*rng.NormFloat64(), 0.5*math.Cos(0.02*float64(n)) + 0.02*rng.NormFloat64()}
		fresh := [3]bool{rng.IntN(3) > 0, rng.IntN(2) > 0}
		pieces := [][]float64{{1}, {1, 1}, {1, 1, 1, 1, 1}, {0.5, 0.125}, {1, 0.5, 0.25, 1.0 / 256}}[rng.IntN(5)]
		dt := 0.0
		for _, p := range pieces {
			f.predict(p*tick, u)
			dt += p * tick
		}
		f.correct(y, fresh)
		follow(k, dt, y, fresh, u, xhat)
		k.StdDevs(sd)
		for i := range nX {
			std := math.Sqrt(f.p.At(i, i))
			if math.Abs(xhat[i]-f.x.AtVec(i)) > 1e-6*std+1e-12 {
				t.Fatalf("step %d state %d: %.12g, textbook %.12g (standard deviation %g)", n, i, xhat[i], f.x.AtVec(i), std)
			}
			if math.Abs(sd[i]/std-1) > 1e-6 {
				t.Fatalf("step %d state %d: standard deviation %.12g, textbook %.12g", n, i, sd[i], std)
			}
		}
	}
}

// Intervals of any length and either rounding: what the transitions leave over moves the angle as the speed says.
func TestKalmanAnyInterval(t *testing.T) {
	s := linear()
	k := newKalman(t, s)
	for _, dt := range []float64{1e-3, 1.00001e-3, 0.99999e-3, 2.34567e-3, 0.4e-6, 63.9e-3} {
		phi, _, gam := vanLoan(s, dt)
		x := mat.NewVecDense(nX, []float64{0.1, 20, 0.5, 0.01})
		var want mat.VecDense
		want.MulVec(phi, x)
		got := []float64{0.1, 20, 0.5, 0.01}
		k.Extrapolate(got, min(dt, 50e-3), 3)
		predicted := newKalman(t, s)
		predicted.begin(0)
		predicted.x = vector{0.1, 20, 0.5, 0.01}
		predicted.Predict(dt, 3, 0)
		for i := range nX {
			w := want.AtVec(i) + 3*gam.At(i, 0)
			// half a piece of 1/256 ms at the rates of change of this motion: second order, 1000 rad/s², 4500 A/s, none
			tol := [nX]float64{1e-7, 3e-3, 1e-2, 1e-12}[i]
			if math.Abs(predicted.x[i]-w) > tol {
				t.Errorf("%g s: state %d predicted %.9g, want %.9g", dt, i, predicted.x[i], w)
			}
			if dt <= 50e-3 && math.Abs(got[i]-w) > tol {
				t.Errorf("%g s: state %d ahead %.9g, want %.9g", dt, i, got[i], w)
			}
		}
	}
	far, same := []float64{0, 1, 0, 0}, []float64{0, 1, 0, 0}
	k.Extrapolate(far, 1e3, 0)
	k.Extrapolate(same, 50*s.Dt, 0)
	if [nX]float64(far) != [nX]float64(same) {
		t.Errorf("a thousand seconds ahead: %v, want as far as 50 periods: %v", far, same)
	}
	for _, bad := range [][3]float64{{-1e-3, 0}, {math.NaN(), 0}, {1e-3, math.NaN()}} {
		x := []float64{0, 1, 0, 0}
		if k.Extrapolate(x, bad[0], bad[1]); [nX]float64(x) != [nX]float64{0, 1, 0, 0} {
			t.Errorf("%v: moved to %v", bad, x)
		}
	}
}

// On data drawn from its own model the innovations have the size the filter expects, and so have the errors of the estimate,
// with every second position and one in three of all samples missing.
func TestKalmanConsistency(t *testing.T) {
	s := linear()
	k := newKalman(t, s)
	phi, q, gam := vanLoan(s, tick)
	// torque walk and voltage error make Q; drawn from its factor
	var eig mat.EigenSym
	sym := mat.NewSymDense(nX, nil)
	for i := range nX {
		for j := i; j < nX; j++ {
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
	x := mat.NewVecDense(nX, nil)
	const n = 20000
	xhat, sd := make([]float64, nX), make([]float64, nX)
	nis, samples, used := 0.0, 0, 0
	var nees [nX]float64
	u := 0.0
	for step := range n {
		if step > 0 {
			w := mat.NewVecDense(nX, nil)
			for j := range nX {
				w.AddScaledVec(w, math.Sqrt(max(0, lam[j]))*rng.NormFloat64(), vec.ColView(j))
			}
			var next mat.VecDense
			next.MulVec(phi, x)
			next.AddScaledVec(&next, u, gam.ColView(0))
			next.AddVec(&next, w)
			x.CopyVec(&next)
		}
		y := [3]float64{x.AtVec(0) + s.PositionNoise*rng.NormFloat64(), x.AtVec(2) + s.CurrentNoise*rng.NormFloat64()}
		came := step == 0 || rng.IntN(3) > 0
		follow(k, tick, y, [3]bool{came && step%2 == 0, came}, u, xhat)
		if step > 1000 {
			v, m := k.NIS()
			nis, samples = nis+v, samples+m
			k.StdDevs(sd)
			for j := range nees {
				d := (xhat[j] - x.AtVec(j)) / sd[j]
				nees[j] += d * d
			}
			used++
		}
		u = 6*math.Sin(0.01*float64(step)) - 0.5*xhat[1]*s.Motor.K
	}
	if mean, tol := nis/float64(samples), 4*math.Sqrt(2/float64(samples)); math.Abs(mean-1) > tol {
		t.Errorf("mean of the normalised innovations %.4f, want 1 ± %.3f", mean, tol)
	}
	for j, e := range nees {
		if mean := e / float64(used); mean < 0.8 || mean > 1.25 { // neighbouring errors are correlated
			t.Errorf("state %d: mean squared error %.3f of its variance, want 1", j, mean)
		}
	}
}

// On the demonstration motor with bristle friction, brush drop, encoder counts and noise.
func TestKalmanOnMotor(t *testing.T) {
	r := newRig(t, 1, demoKalman())
	var sq [nX]float64
	nis, samples := 0.0, 0
	const n = 10000
	for k := range n {
		before := append([]float64(nil), r.x...)
		friction := r.y[3]
		r.step()
		v, m := r.kf.NIS()
		nis, samples = nis+v, samples+m
		if k < 10 {
			continue // the speed is not known before the second sample
		}
		if !r.kf.Usable() {
			t.Fatalf("tick %d: not sound", k)
		}
		for j, x := range []float64{before[plant.Theta], before[plant.Omega], before[plant.Current], friction} {
			sq[j] += (r.xhat[j] - x) * (r.xhat[j] - x) / n
		}
	}
	t.Logf("rms errors θ %.2g rad, ω %.2g rad/s, i %.2g A, T %.2g N·m; normalised innovation %.2f a sample",
		math.Sqrt(sq[0]), math.Sqrt(sq[1]), math.Sqrt(sq[2]), math.Sqrt(sq[3]), nis/float64(samples))
	// an encoder difference over one tick has 0.04 rad/s of noise and half a tick of lag, up to 0.08 rad/s; the raw
	// current has 0.02 A and an offset of 0.03 A
	for j, limit := range [nX]float64{count, 0.08, 0.036, 4e-3} {
		if rms := math.Sqrt(sq[j]); rms > limit {
			t.Errorf("state %d: rms error %g, want below %g", j, rms, limit)
		}
	}
}

// Near zero current the brush drop is stiffer than the winding is slow; the prediction must not ring.
func TestKalmanBrushDrop(t *testing.T) {
	k := newKalman(t, demoKalman())
	xhat := make([]float64, nX)
	for step := range 50 {
		follow(k, tick, [3]float64{}, [3]bool{true, false}, 0.3, xhat)
		before := xhat[XCur]
		follow(k, tick, [3]float64{}, [3]bool{true, false}, 0.3, xhat)
		if step > 5 && math.Abs(xhat[XCur]-before) > 1e-3 {
			t.Fatalf("current jumps from %g to %g A under a constant voltage", before, xhat[XCur])
		}
	}
	m := demoMotor() // a shaft that the encoder holds: u = R·i + drop(i)
	if u := m.R*xhat[XCur] + m.Drop(xhat[XCur]); math.Abs(u-0.3) > 0.01 {
		t.Errorf("settles at %g A, which needs %g V, want 0.3", xhat[XCur], u)
	}
}

// The drop of brushes beside what a winding takes, by bisection: of any motor, to both signs.
func TestBrushDrop(t *testing.T) {
	for _, g := range []float64{0, 1e-3, 0.1, 0.72, 10, 1e3} { // A/V
		for _, i0 := range []float64{1e-5, 5e-3, 0.05, 1} {
			for _, c := range []float64{0, 1e-12, 1e-4, 0.01, 0.3, 0.42, 0.43, 0.44, 0.6, 0.79, 2, 6, 6.1, 50, 600, 610} {
				lo, hi := 0.0, c
				for range 200 {
					if mid := (lo + hi) / 2; mid+g*0.6*math.Tanh(mid/i0) < c {
						lo = mid
					} else {
						hi = mid
					}
				}
				want := 0.6 * math.Tanh(hi/i0)
				for _, side := range []float64{1, -1} {
					if got := brushDrop(side*c, g, 0.6, i0); !(math.Abs(got-side*want) <= 1e-12*want) {
						t.Errorf("c %g A, g %g A/V, i0 %g A: %g V, want %g", side*c, g, i0, got, side*want)
					}
				}
			}
		}
	}
}

func TestKalmanBadInput(t *testing.T) {
	nan := math.NaN()
	xhat := make([]float64, nX)
	for _, c := range []struct {
		y     [3]float64
		taken [3]bool
	}{{[3]float64{nan, 0}, [3]bool{false, true}}, {[3]float64{1, math.Inf(1)}, [3]bool{true, false}},
		{[3]float64{math.Inf(-1), nan}, [3]bool{}}} {
		k := newKalman(t, demoKalman())
		for range 10 {
			follow(k, tick, [3]float64{1, 0}, [3]bool{true, true}, 0, xhat)
		}
		k.Predict(tick, 0, 0)
		if taken, jumped, _ := k.Correct(&c.y, &[3]bool{true, true}); taken != c.taken || jumped {
			t.Errorf("%v: taken %v, jumped %v", c, taken, jumped)
		}
		k.State(xhat)
		if math.Abs(xhat[0]-1) > 1e-3 || math.IsNaN(xhat[1]+xhat[2]+xhat[3]) {
			t.Errorf("%v: the estimate is now %v", c, xhat)
		}
		// a sample that is not fresh may hold anything
		follow(k, tick, [3]float64{nan, nan}, [3]bool{}, 0, xhat)
		if math.Abs(xhat[0]-1) > 1e-3 || !k.Usable() {
			t.Errorf("%v: after samples that are not fresh %v, sound %v", c, xhat, k.Usable())
		}
	}
	for name, spoil := range map[string]func(*KalmanSpec){
		"period": func(s *KalmanSpec) { s.Dt = 0 }, "current noise": func(s *KalmanSpec) { s.CurrentNoise = 0 },
		"R":              func(s *KalmanSpec) { s.Motor.R = -1 },
		"position noise": func(s *KalmanSpec) { s.Count = 0 }, "torque walk": func(s *KalmanSpec) { s.TorqueWalk = nan },
		"voltage noise": func(s *KalmanSpec) { s.VoltageNoise = -1 }, "top voltage": func(s *KalmanSpec) { s.TopVoltage = -1 },
		"top speed": func(s *KalmanSpec) { s.TopSpeed = math.Inf(1) },
	} {
		s := demoKalman()
		spoil(&s)
		if _, err := NewKalman(s); err == nil {
			t.Errorf("a bad %s was accepted", name)
		}
	}
}

func TestKalmanAllocs(t *testing.T) {
	k := newKalman(t, demoKalman())
	xhat := make([]float64, nX)
	if n := testing.AllocsPerRun(100, func() {
		follow(k, 2.7*tick, [3]float64{1, 0.1}, [3]bool{true, true}, 2, xhat)
		k.Extrapolate(xhat, 1.3*tick, 2)
	}); n != 0 {
		t.Errorf("%g allocations in a step", n)
	}
}

func BenchmarkKalmanStep(b *testing.B) {
	for _, c := range []struct {
		name string
		dt   float64
	}{{"one period", tick}, {"255/256 of one", tick * 255 / 256}, {"nine periods", 9 * tick}} {
		b.Run(c.name, func(b *testing.B) {
			k := newKalman(b, demoKalman())
			xhat := make([]float64, nX)
			b.ReportAllocs()
			for b.Loop() {
				follow(k, c.dt, [3]float64{1, 0.3}, [3]bool{true, true}, 2, xhat)
			}
		})
	}
}

// A misfit that is no number counts as a misfit, and is forgotten as any other: a reset is refused while the estimate is not sound, so one
// that stayed would end only with the daemon.
func TestMisfitThatIsNoNumber(t *testing.T) {
	for _, odd := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		var k Kalman
		for range 3 {
			k.compare(odd)
		}
		if times, _ := k.Noise(); !(times > MaxNoise) {
			t.Errorf("%g: noise %g, want more than %d", odd, times, MaxNoise)
		}
		for range 3000 {
			k.compare(0.5)
		}
		if times, sound := k.Noise(); !sound || !(times < 1) {
			t.Errorf("%g: later noise %g, sound %v", odd, times, sound)
		}
	}
}

// A command of a loop that is faster than the device takes a piece of the period between samples: ten pieces lead where one period does.
func TestKalmanPiecesOfAPeriod(t *testing.T) {
	s := demoKalman()
	s.Dt = 20e-3
	k, err := NewKalman(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range []float64{6, -6} {
		whole := []float64{1, 2, 0, 0.01}
		pieces := append([]float64(nil), whole...)
		k.Extrapolate(whole, 20e-3, u)
		for range 10 {
			k.Extrapolate(pieces, 2e-3, u)
		}
		if speed := whole[XVel] - 2; math.Abs(pieces[XVel]-whole[XVel]) > 2e-3*math.Abs(speed) {
			t.Errorf("%g V: the speed changes by %.4g rad/s in a period, by %.4g in ten pieces of it", u, speed, pieces[XVel]-2)
		}
	}
}
