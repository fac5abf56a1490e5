package estimator

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// truth of the simulated rig: the current sensor reads 0.03 A too much, so the offset is K times that.
var truth = [rlsN]float64{7e-5, 1.5e-4, 0.015, 0.042 * 0.03}

var names = [rlsN]string{"J", "Fv", "Fc", "offset"}

// One minute of multisine with 16-bit encoder, 20 mA of current noise and an offset: all parameters within 3 % of the
// truth, and the 95 % intervals cover it in at least 18 of 20 seeds.
func TestRLSOnMotor(t *testing.T) { onMotor(t, 8) }

func onMotor(t *testing.T, seeds int) {
	seconds := 60
	if testing.Short() {
		seeds, seconds = 2, 20
	}
	type outcome struct{ v, se [rlsN]float64 }
	out := make([]outcome, seeds)
	var wg sync.WaitGroup
	next := make(chan int)
	for range 2 {
		wg.Go(func() {
			for i := range next {
				r := newRig(t, uint64(i+1), demoKalman())
				e := newRLS(t, demoRLS())
				for range seconds * 1000 {
					r.step()
					e.Bow(r.bow, nil)
					e.Step(r.reads[0], r.xhat[XVel], r.reads[1], true)
				}
				e.Values(out[i].v[:])
				e.StdErrs(out[i].se[:])
			}
		})
	}
	for i := range seeds {
		next <- i
	}
	close(next)
	wg.Wait()
	for j := range rlsN {
		covered, worst, mean, se := 0, 0.0, 0.0, 0.0
		for _, o := range out {
			d := o.v[j] - truth[j]
			if math.Abs(d) <= 1.96*o.se[j] {
				covered++
			}
			worst = max(worst, math.Abs(d/truth[j]))
			mean += d / truth[j] / float64(seeds)
			se += o.se[j] / truth[j] / float64(seeds)
		}
		t.Logf("%s: worst error %.3f %%, mean error %.3f %%, standard error %.3f %%, covered in %d of %d", names[j], 100*worst, 100*mean, 100*se,
			covered, seeds)
		if testing.Short() {
			continue
		}
		if worst > 0.03 {
			t.Errorf("%s: worst error %.2f %%, want at most 3 %%", names[j], 100*worst)
		}
		if outside := (seeds + 9) / 10; covered < seeds-outside { // 95 % in the mean
			t.Errorf("%s: interval covers the truth in %d of %d seeds, want all but %d", names[j], covered, seeds, outside)
		}
	}
}

func newRLS(t testing.TB, s RLSSpec) *RLS {
	t.Helper()
	e, err := NewRLS(s)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// A minute at rest changes nothing at all, and is reported.
func TestRLSRest(t *testing.T) {
	spec := demoRLS()
	spec.Memory = 20
	r, e := newRig(t, 1, demoKalman()), newRLS(t, spec)
	run := func(seconds float64) (v, se [rlsN]float64) {
		for range int(seconds * 1000) {
			r.step()
			e.Bow(r.bow, nil)
			e.Step(r.reads[0], r.xhat[XVel], r.reads[1], true)
		}
		e.Values(v[:])
		e.StdErrs(se[:])
		return v, se
	}
	if e.Excited() {
		t.Error("excited before any motion")
	}
	run(30)
	if !e.Excited() {
		t.Error("not excited by the multisine")
	}
	stop := float64(r.k) * tick
	r.ref = func(float64) (float64, float64) { p, _ := multisine(stop); return p, 0 }
	before, seBefore := run(2)
	n := e.Windows()
	rest := 60.0
	if testing.Short() {
		rest = 10
	}
	after, seAfter := run(rest)
	if before != after || seBefore != seAfter || e.Windows() != n {
		t.Errorf("%g s at rest: %v ± %v became %v ± %v", rest, before, seBefore, after, seAfter)
	}
	if e.Excited() {
		t.Error("excited at rest")
	}
	// moving again, it goes on
	r.ref = multisine
	run(10)
	if !e.Excited() || e.Windows() == n {
		t.Error("does not wake up after rest")
	}
}

// Motion at one speed teaches nothing about four parameters: with a short memory the estimate must not wander off, and a
// change of inertia is followed once the motion is rich again.
func TestRLSNoWindUp(t *testing.T) {
	spec := demoRLS()
	spec.Memory = 5
	e := newRLS(t, spec)
	rng := rand.New(rand.NewPCG(1, 1))
	theta, clock := 0.0, 0.0
	drive := func(seconds, j float64, motion func(t float64) (v, a float64)) {
		for range int(seconds / spec.Dt) {
			v, a := motion(clock)
			i := (j*a + truth[PViscous]*v + truth[PCoulomb]*math.Copysign(1, v) + truth[POffset]) / spec.K
			e.Step(math.Round(theta/count)*count, v, i+0.02*rng.NormFloat64(), true)
			// exact integral of the motion over the tick by Simpson's rule
			vm, _ := motion(clock + spec.Dt/2)
			ve, _ := motion(clock + spec.Dt)
			theta += spec.Dt / 6 * (v + 4*vm + ve)
			clock += spec.Dt
		}
	}
	rich := func(t float64) (v, a float64) {
		p, q := 2*math.Pi*0.4, 2*math.Pi*2.3
		return 3*p*math.Cos(p*t) + 0.6*q*math.Cos(q*t), -3*p*p*math.Sin(p*t) - 0.6*q*q*math.Sin(q*t)
	}
	poor := func(float64) (v, a float64) { return 8, 0 }
	drive(30, truth[PInertia], rich)
	drive(300, truth[PInertia], poor)
	v, se := make([]float64, rlsN), make([]float64, rlsN)
	e.Values(v)
	e.StdErrs(se)
	for j := range v {
		if math.Abs(v[j]-truth[j]) > 5*se[j]+1e-3*truth[j] || se[j] > truth[j] {
			t.Errorf("after five minutes at one speed: %s = %.4g ± %.2g, truth %.4g", names[j], v[j], se[j], truth[j])
		}
	}
	if e.Excited() {
		t.Error("excited by motion at one speed")
	}
	if c := e.Cond(); c > 40 {
		t.Errorf("condition number %g, want at most 40", c)
	}
	drive(40, 2*truth[PInertia], rich)
	e.Values(v)
	if math.Abs(v[PInertia]/(2*truth[PInertia])-1) > 0.03 || !e.Excited() {
		t.Errorf("inertia doubled: estimate %.4g, want %.4g", v[PInertia], 2*truth[PInertia])
	}
}

// Lost samples, repeated ticks, bad numbers: windows are dropped, the estimate stays right.
func TestRLSLostSamples(t *testing.T) {
	r, e := newRig(t, 5, demoKalman()), newRLS(t, demoRLS())
	rng := rand.New(rand.NewPCG(8, 8))
	for range 60000 {
		r.step()
		switch rng.IntN(400) {
		case 0: // lost without a word: the next sample is two ticks on
		case 1: // late: an empty tick, then the sample
			e.Step(math.NaN(), 0, math.NaN(), false)
			e.Bow(r.bow, nil)
			e.Step(r.reads[0], r.xhat[XVel], r.reads[1], true)
		case 2: // nonsense
			e.Step(r.reads[0], r.xhat[XVel], math.NaN(), true)
		default:
			e.Bow(r.bow, nil)
			e.Step(r.reads[0], r.xhat[XVel], r.reads[1], true)
		}
	}
	v, se := make([]float64, rlsN), make([]float64, rlsN)
	e.Values(v)
	e.StdErrs(se)
	for j := range v {
		if math.Abs(v[j]-truth[j]) > 4*se[j] || se[j] > 0.03*truth[j] {
			t.Errorf("%s = %.5g ± %.2g, truth %.5g", names[j], v[j], se[j], truth[j])
		}
	}
	t.Logf("%d windows, %v ± %v", e.Windows(), v, se)
}

// The recursion with forgetting equals weighted least squares solved at once, values and standard errors.
func TestRLSAgainstBatch(t *testing.T) {
	spec := demoRLS()
	spec.Memory = 1
	e := newRLS(t, spec)
	rng := rand.New(rand.NewPCG(9, 9))
	const n = 120
	rows, rhs := mat.NewDense(n, rlsN, nil), mat.NewVecDense(n, nil)
	scale := [rlsN]float64{2.4, 0.2, 0.024, 0.024}
	for k := range n {
		row := make([]float64, rlsN+1)
		for j := range rlsN {
			row[j] = scale[j] * rng.NormFloat64()
			rows.Set(k, j, row[j])
			row[rlsN] += row[j] * truth[j]
		}
		row[rlsN] += 3e-6 * rng.NormFloat64()
		rhs.SetVec(k, row[rlsN])
		e.dOld = 0 // rows of this test are white already
		e.addRow(row)
	}
	var a mat.Dense
	var b mat.VecDense
	w := mat.NewDiagDense(n, nil)
	s1, s2 := 0.0, 0.0
	for k := range n {
		wk := math.Pow(e.lambda, float64(n-1-k))
		w.SetDiag(k, wk)
		s1, s2 = s1+wk, s2+wk*wk
	}
	a.Product(rows.T(), w, rows)
	var wr mat.VecDense
	wr.MulVec(w, rhs)
	b.MulVec(rows.T(), &wr)
	var inv mat.Dense
	if err := inv.Inverse(&a); err != nil {
		t.Fatal(err)
	}
	var theta, res mat.VecDense
	theta.MulVec(&inv, &b)
	res.MulVec(rows, &theta)
	res.SubVec(rhs, &res)
	rss := 0.0
	for k := range n {
		rss += w.At(k, k) * res.AtVec(k) * res.AtVec(k)
	}
	v, se := make([]float64, rlsN), make([]float64, rlsN)
	e.Values(v)
	e.StdErrs(se)
	for j := range rlsN {
		dof := s1*s1/s2 - rlsN
		want := math.Sqrt(rss / (s1 - rlsN*s2/s1) * inv.At(j, j) * s2 / s1 * dof / (dof - 2)) // the standard deviation of Student's t
		if math.Abs(v[j]-theta.AtVec(j)) > 1e-6*want || math.Abs(se[j]/want-1) > 1e-6 {
			t.Errorf("%s: %.10g ± %.6g, at once %.10g ± %.6g", names[j], v[j], se[j], theta.AtVec(j), want)
		}
	}
	if d, want := e.DoF(), s1*s1/s2-rlsN; math.Abs(d-want) > 1e-9*want {
		t.Errorf("degrees of freedom %g, want %g", d, want)
	}
	// the condition number: scaled singular values
	norm := mat.DenseCopyOf(&a)
	for i := range rlsN {
		for j := range rlsN {
			norm.Set(i, j, a.At(i, j)/math.Sqrt(a.At(i, i)*a.At(j, j)))
		}
	}
	var eig mat.EigenSym
	sym := mat.NewSymDense(rlsN, nil)
	for i := range rlsN {
		for j := i; j < rlsN; j++ {
			sym.SetSym(i, j, norm.At(i, j))
		}
	}
	eig.Factorize(sym, false)
	l := eig.Values(nil)
	sum := 0.0
	for _, x := range l {
		sum += 1 / x
	}
	if want := math.Sqrt(rlsN * sum); math.Abs(e.Cond()/want-1) > 1e-6 || e.Cond() < math.Sqrt(l[rlsN-1]/l[0]) {
		t.Errorf("condition number %g, want %g (spectral %g)", e.Cond(), want, math.Sqrt(l[rlsN-1]/l[0]))
	}
}

// Smooth motion sampled without noise and rounding: the weak form is exact to the quadrature.
func TestRLSExact(t *testing.T) {
	spec := demoRLS()
	e := newRLS(t, spec)
	if math.Abs(e.phiIntegral/(0.375*spec.Window)-1) > 1e-12 { // ∫sin⁴ = 3W/8
		t.Errorf("∫φ = %g s, want %g", e.phiIntegral, 0.375*spec.Window)
	}
	if want := 3.0 / 70; math.Abs(e.rho-want) > 1e-3 { // ∫cos⁴·sin⁴ over half a window against ∫sin⁸
		t.Errorf("correlation of neighbouring windows %g, want %g", e.rho, want)
	}
	for k := range 10000 {
		at := float64(k) * tick
		pos, vel := multisine(at)
		a, b := 2*math.Pi*0.4, 2*math.Pi*2.3
		acc := -3*a*a*math.Sin(a*at) - 0.6*b*b*math.Sin(b*at)
		torque := truth[PInertia]*acc + truth[PViscous]*vel + truth[PCoulomb]*math.Copysign(1, vel) + truth[POffset]
		e.Step(1e5+pos, vel, torque/spec.K, true)
	}
	v := make([]float64, rlsN)
	e.Values(v)
	for j := range v {
		if math.Abs(v[j]/truth[j]-1) > 2e-4 {
			t.Errorf("%s = %.8g, want %.8g", names[j], v[j], truth[j])
		}
	}
}

func TestRLSBasics(t *testing.T) {
	spec := demoRLS()
	spec.Start = [4]float64{1, 2, 3, 4}
	e := newRLS(t, spec)
	v := make([]float64, rlsN)
	if e.Values(v); v[2] != 3 {
		t.Errorf("values before any motion %v, want the start", v)
	}
	if e.StdErrs(v); !math.IsInf(v[0], 1) {
		t.Errorf("standard errors before any motion %v, want infinite", v)
	}
	for name, spoil := range map[string]func(*RLSSpec){
		"period": func(s *RLSSpec) { s.Dt = 0 }, "torque constant": func(s *RLSSpec) { s.K = math.NaN() },
		"window": func(s *RLSSpec) { s.Window = 2e-3 },
		"memory": func(s *RLSSpec) { s.Memory = -1 }, "smallest speed": func(s *RLSSpec) { s.MinVel = 0 },
		"condition": func(s *RLSSpec) { s.Cond = 0.5 },
	} {
		s := demoRLS()
		spoil(&s)
		if _, err := NewRLS(s); err == nil {
			t.Errorf("a bad %s was accepted", name)
		}
	}
	k := 0
	if n := testing.AllocsPerRun(2000, func() { benchRLS(e, &k) }); n != 0 {
		t.Errorf("%g allocations in a step", n)
	}
	if e.Windows() == 0 {
		t.Error("no window was finished while allocations were counted")
	}
	e.Reset()
	if e.Windows() != 0 || !math.IsInf(e.Cond(), 1) {
		t.Error("Reset does not forget")
	}
}

func benchRLS(e *RLS, k *int) {
	pos, vel := multisine(float64(*k) * tick)
	e.Step(pos, vel, 0.4, true)
	*k++
}

func BenchmarkRLSStep(b *testing.B) {
	e := newRLS(b, demoRLS())
	k := 0
	b.ReportAllocs()
	for b.Loop() {
		benchRLS(e, &k)
	}
}

// The tick that closes a window: whitening, reflection, inverse, standard errors.
func BenchmarkRLSWindow(b *testing.B) {
	e := newRLS(b, demoRLS())
	rng := rand.New(rand.NewPCG(1, 1))
	rows := make([][]float64, 256)
	for i := range rows {
		rows[i] = make([]float64, rlsN+1)
		for j := range rows[i] {
			rows[i][j] = rng.NormFloat64()
		}
	}
	k := 0
	b.ReportAllocs()
	for b.Loop() {
		e.addRow(rows[k&255])
		k++
	}
}

// A window of ten samples, as those of a device of 50 Hz, of a motion with as few as ten samples a turn: inertia and friction are those of
// the motion, in closed form, with the mean current between samples known.
func TestRLSFewSamples(t *testing.T) {
	const h, j, fv, fc, k = 0.02, 7e-5, 1.5e-4, 0.015, 0.042
	for _, turn := range []float64{40, 20, 10} { // samples
		w := 2 * math.Pi / (turn * h)
		e, err := NewRLS(RLSSpec{Dt: h, K: k, Window: 10 * h, MinVel: 1, Cond: 1e4})
		if err != nil {
			t.Fatal(err)
		}
		for _, sign := range []float64{1, -1, 1, -1} {
			e.Gap()
			angle := func(at float64) float64 { return sign * (20*at + 9*math.Sin(w*at)/w + 4*math.Sin(0.37*w*at)/w) }
			speed := func(at float64) float64 { return sign * (20 + 9*math.Cos(w*at) + 1.48*math.Cos(0.37*w*at)) }
			current := func(at float64) float64 {
				return (sign*(-9*w*math.Sin(w*at)-1.48*0.37*w*math.Sin(0.37*w*at))*j + fv*speed(at) + sign*fc) / k
			}
			for n := range 400 {
				from, to := h*float64(n-1), h*float64(n)
				var b Bow // by Simpson's rule
				for i, weight := range []float64{1, 4, 2, 4, 2, 4, 2, 4, 1} {
					x := float64(i) / 8
					above := weight / 24 * (current(from+x*h) - (1-x)*current(from) - x*current(to))
					b.Fall, b.Rise = b.Fall+(1-x)*above, b.Rise+x*above
				}
				e.Bow(b, nil)
				e.Step(angle(to), speed(to), current(to), true)
			}
		}
		var v [rlsN]float64
		e.Values(v[:])
		for i, want := range []float64{j, fv, fc} {
			if math.Abs(v[i]/want-1) > 1e-3 {
				t.Errorf("%v samples a turn: %s is %.5g, want %g", turn, names[i], v[i], want)
			}
		}
	}
}

// A torque that is held from sample to sample, and a motion in closed form: no polynomial through the positions tells the speeds at the
// samples, and the inertia needs none.
func TestRLSHeldTorque(t *testing.T) {
	const h, j, fc, k = 0.02, 7e-5, 0.015, 0.042
	e, err := NewRLS(RLSSpec{Dt: h, K: k, Window: 10 * h, MinVel: 1, Cond: 1e4})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 5))
	for _, sign := range []float64{1, -1, 1, -1} {
		e.Gap()
		x, w, last := 0.0, sign*30, 0.0
		for range 400 {
			held := (sign*fc + j*(sign*30-w)/0.1 + 0.01*rng.NormFloat64()) / k // A
			a := (k*held - sign*fc) / j
			x, w = x+h*w+h*h*a/2, w+h*a
			e.Bow(Bow{held/2 - last/3 - held/6, held/2 - last/6 - held/3}, nil)
			e.Step(x, w, held, true)
			last = held
		}
	}
	var v [rlsN]float64
	e.Values(v[:])
	if math.Abs(v[PInertia]/j-1) > 1e-6 || math.Abs(v[PCoulomb]/fc-1) > 1e-6 || math.Abs(v[PViscous]) > 1e-9 {
		t.Errorf("J %.7g, Fc %.7g, Fv %.2g, want %g, %g, 0", v[PInertia], v[PCoulomb], v[PViscous], j, fc)
	}
}
