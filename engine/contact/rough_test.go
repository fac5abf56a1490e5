package contact

import (
	"bytes"
	"fmt"
	"math"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"hilrig/engine/peer"
)

// runPython feeds numbers to a script of SciPy's system Python and returns the numbers that it prints.
func runPython(t *testing.T, script string, in []float64) []float64 {
	t.Helper()
	python := peer.Python(t, "numpy", "scipy")
	var b bytes.Buffer
	for _, v := range in {
		fmt.Fprintf(&b, "%.17g\n", v)
	}
	cmd := exec.Command(python, "-c", script)
	cmd.Stdin = &b
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("python: %v\n%s", err, out)
	}
	var vals []float64
	for _, f := range strings.Fields(string(out)) {
		v, err := strconv.ParseFloat(f, 64)
		if err != nil {
			t.Fatalf("python printed %q", out)
		}
		vals = append(vals, v)
	}
	return vals
}

func TestRzOfAHandMadeProfile(t *testing.T) {
	// 10 points per sampling length of 0.8 mm; the peaks of each length are put in by hand, 3 points are left over
	const dx = 0.08e-3
	h := make([]float64, 33)
	h[0], h[9] = 2e-6, -1e-6 // first length: 3 µm, both its first and last point count
	h[10], h[15] = 5e-6, 1e-6
	h[25], h[26] = -4e-6, 3e-6 // third: 7 µm
	h[31] = 50e-6              // beyond the last whole length
	if got, want := RzRing(h, dx), (3e-6+5e-6+7e-6)/3; math.Abs(got-want) > 1e-18 {
		t.Errorf("Rz of the ring %g, want %g", got, want)
	}
	// 11 points: five lengths of two, the last one with three
	face := []float64{0, 1, 0, 3, 0, 0, 2, 0, 0, 0, 9}
	if got, want := RzFace(face), (1.0+3+0+2+9)/5; got != want {
		t.Errorf("Rz of the face %g, want %g", got, want)
	}
}

func TestRoughnessHasTheRzAskedForAndNoMean(t *testing.T) {
	for seed := range uint64(5) {
		h, err := RoughRing(2765, 25e-6, 5e-4, 5e-6, seed)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, v := range h {
			sum += v
		}
		if rz := RzRing(h, 25e-6); math.Abs(rz-5e-6) > 1e-18 || math.Abs(sum) > 1e-15 {
			t.Errorf("seed %d: Rz %g, sum %g", seed, rz, sum)
		}
		p, err := FaceProfile(6.3e-3, 0, 5e-4, 6e-6, seed)
		if err != nil {
			t.Fatal(err)
		}
		if rz := RzFace(p.H); math.Abs(rz-6e-6) > 1e-18 {
			t.Errorf("seed %d: Rz of the face %g", seed, rz)
		}
		if last := p.X0 + p.Dx*float64(len(p.H)-1); math.Abs(last-3.15e-3) > 1e-15 || p.Dx > 25e-6*(1+1e-12) {
			t.Errorf("face ends at %g, spacing %g", last, p.Dx)
		}
		if p.At(-1) != p.H[0] || p.At(1) != p.H[len(p.H)-1] || math.Abs(p.At(p.X0+1.5*p.Dx)-(p.H[1]+p.H[2])/2) > 1e-15 {
			t.Error("At does not follow the points")
		}
	}
}

// The convolution and Rz again in NumPy: FFT of the same noise, sampling lengths cut with searchsorted.
func TestRoughnessAgainstNumPy(t *testing.T) {
	const n, dx, l, rz = 2765, 25e-6, 5e-4, 5e-6
	h, err := RoughRing(n, dx, l, rz, 7)
	if err != nil {
		t.Fatal(err)
	}
	got := runPython(t, `
import sys, numpy as np
w = np.array([float(s) for s in sys.stdin]); n = len(w); dx, l, rz = 25e-6, 5e-4, 5e-6
x = np.minimum(np.arange(n), n - np.arange(n))*dx
h = np.fft.irfft(np.fft.rfft(w)*np.fft.rfft(np.exp(-2*(x/l)**2)), n)
h -= h.mean()
s = np.arange(n)*dx
m = int(n*dx/0.8e-3)
cut = np.searchsorted(s, np.arange(m+1)*0.8e-3 - 1e-12)
h *= rz/np.mean([np.ptp(h[a:b]) for a, b in zip(cut[:-1], cut[1:])])
print(*h)
`, whiteNoise(n, streamRing, 7))
	for i := range h {
		if math.Abs(h[i]-got[i]) > 1e-12*rz*1e3 {
			t.Fatalf("point %d: %g, NumPy %g", i, h[i], got[i])
		}
	}
}

// The autocorrelation of the folded noise, averaged over seeds, follows exp(−(x/l)²). With N independent lengths l in all, its
// standard error is about 1/√N.
func TestRoughnessAutocorrelation(t *testing.T) {
	const n, dx, l, seeds = 2765, 25e-6, 5e-4, 40
	lags := []int{0, 5, 10, 20, 30, 40, 60}
	sum := make([]float64, len(lags))
	for seed := range uint64(seeds) {
		h, err := RoughRing(n, dx, l, 5e-6, seed)
		if err != nil {
			t.Fatal(err)
		}
		for j, lag := range lags {
			for i := range h {
				sum[j] += h[i] * h[(i+lag)%n]
			}
		}
	}
	bound := 4 / math.Sqrt(seeds*n*dx/l)
	for j, lag := range lags {
		x := float64(lag) * dx / l
		if rho := sum[j] / sum[0]; math.Abs(rho-math.Exp(-x*x)) > bound {
			t.Errorf("lag %g l: %.4f, want %.4f ± %.4f", x, rho, math.Exp(-x*x), bound)
		}
	}
}

func TestFaceEndsAreIndependent(t *testing.T) {
	var ab, aa float64
	const seeds = 400
	for seed := range uint64(seeds) {
		p, err := FaceProfile(6.3e-3, 0, 5e-4, 6e-6, seed)
		if err != nil {
			t.Fatal(err)
		}
		a, b := p.H[0], p.H[len(p.H)-1]
		ab, aa = ab+a*b, aa+(a*a+b*b)/2
	}
	// removing the mean over 6.3 mm leaves a correlation of about −√π·l/w = −0.14
	if rho := ab / aa; math.Abs(rho+0.14) > 4/math.Sqrt(seeds) {
		t.Errorf("correlation of the two ends %.3f", rho)
	}
}

func TestRoughnessRefusals(t *testing.T) {
	for _, c := range []struct {
		n         int
		dx, l, rz float64
		want      string
	}{
		{2, 25e-6, 5e-4, 5e-6, "points"},
		{100, 0, 5e-4, 5e-6, "spacing"},
		{100, 25e-6, 0, 5e-6, "correlation length"},
		{100, 26e-6, 5e-4, 5e-6, "twentieth"},
		{100, 25e-6, 5e-4, math.NaN(), "Rz"},
		{100, 25e-6, 10, 5e-6, "longer"},
		{170, 0.02, 0.5, 1e-3, "sampling length"},
	} {
		if _, err := RoughRing(c.n, c.dx, c.l, c.rz, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
