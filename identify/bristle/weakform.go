package bristle

// bump is the test function of the weak form on −1 … 1, φ = (1 − s²)⁵, with its first two derivatives. Its ends are so smooth
// that sums over samples stand for integrals from a half width of ten samples on.
func bump(s float64) (p, dp, ddp float64) {
	c := 1 - s*s
	return c * c * c * c * c, -10 * s * c * c * c * c, c * c * c * (90*s*s - 10)
}

const narrowest = 10 // half width in samples

// windows turns samples into rows of the weak form: every row is the mean under a test function of half width w samples,
// the rows w/2 samples apart.
type windows struct {
	h          float64
	w, rows    int
	p, dp, ddp []float64 // with the sum of φ equal to one
}

func newWindows(n, w int, h float64) *windows {
	f := &windows{h: h, w: w, rows: (n-2*w-1)/max(1, w/2) + 1}
	sum := 0.0
	for i := -w; i <= w; i++ {
		s := float64(i) / float64(w)
		p, dp, ddp := bump(s)
		sum += p
		f.p, f.dp, f.ddp = append(f.p, p), append(f.dp, dp), append(f.ddp, ddp)
	}
	span := float64(w) * h
	for i := range f.p {
		f.p[i] /= sum
		f.dp[i] /= sum * span
		f.ddp[i] /= sum * span * span
	}
	return f
}

// columns are the terms of M, σ1, σ0 and offset for the motion x and the deflection z of the bristles: integration by parts
// moves the derivatives to the test function.
func (f *windows) columns(x, z []float64) []float64 {
	out := make([]float64, 4*f.rows)
	for r := range f.rows {
		at := r * max(1, f.w/2)
		a, v, s := 0.0, 0.0, 0.0
		for i := range f.p {
			a += f.ddp[i] * x[at+i]
			v -= f.dp[i] * z[at+i]
			s += f.p[i] * z[at+i]
		}
		copy(out[4*r:], []float64{a, v, s, 1})
	}
	return out
}

// slopes of a signal under the test functions.
func (f *windows) slopes(x []float64) []float64 {
	out := make([]float64, f.rows)
	for r := range f.rows {
		at := r * max(1, f.w/2)
		for i, dp := range f.dp {
			out[r] -= dp * x[at+i]
		}
	}
	return out
}

// means of a signal under the test functions.
func (f *windows) means(u []float64) []float64 {
	out := make([]float64, f.rows)
	for r := range f.rows {
		at := r * max(1, f.w/2)
		for i, p := range f.p {
			out[r] += p * u[at+i]
		}
	}
	return out
}
