package models

// response is how an estimate follows a change of friction: a Butterworth low-pass of third order, which is what the stationary filter of
// an axis under a random walk of the torque is (hil/axis, Lag). Its corner is ω0 = 2/lag; without a lag it passes everything.
//
//	y1' = ω0·(u − y1),   y2' = ω0·(y1 − y3) − ω0·y2,   y3' = ω0·y2
//
// A step is exact for a constant u.
type response struct {
	dt, lag float64       // s
	a       [3][3]float64 // over a tick
	b       [3]float64
}

// tune makes the step for ticks of dt (s) and a lag (s).
func (f *response) tune(dt, lag float64) {
	if dt == f.dt && lag == f.lag {
		return
	}
	f.dt, f.lag = dt, lag
	f.a, f.b = [3][3]float64{}, [3]float64{1, 0, 1}
	if !(lag > 0) {
		return
	}
	// e^M of M = [A B; 0 0]·dt by its series for M/2ˢ, then squared s times
	const s, terms = 10, 12
	w := 2 / lag * dt / (1 << s)
	type square [4][4]float64
	m := square{{-w, 0, 0, w}, {w, -w, -w, 0}, {0, w, 0, 0}, {}}
	times := func(p, q *square) (r square) {
		for i := range 4 {
			for j := range 4 {
				for k := range 4 {
					r[i][j] += p[i][k] * q[k][j]
				}
			}
		}
		return r
	}
	e, term := square{{1}, {0, 1}, {0, 0, 1}, {0, 0, 0, 1}}, square{{1}, {0, 1}, {0, 0, 1}, {0, 0, 0, 1}}
	for n := 1; n <= terms; n++ {
		term = times(&term, &m)
		for i := range 4 {
			for j := range 4 {
				term[i][j] /= float64(n)
				e[i][j] += term[i][j]
			}
		}
	}
	for range s {
		e = times(&e, &e)
	}
	for i := range 3 {
		copy(f.a[i][:], e[i][:3])
		f.b[i] = e[i][3]
	}
}

// respond takes a tick with the friction u; x[2] is what the estimate shows of it.
func (f *response) respond(x *[3]float64, u float64) {
	x0, x1, x2 := x[0], x[1], x[2]
	a, b, c := &f.a[0], &f.a[1], &f.a[2]
	x[0] = a[0]*x0 + a[1]*x1 + a[2]*x2 + f.b[0]*u
	x[1] = b[0]*x0 + b[1]*x1 + b[2]*x2 + f.b[1]*u
	x[2] = c[0]*x0 + c[1]*x1 + c[2]*x2 + f.b[2]*u
}
