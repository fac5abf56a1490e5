//go:build linux

package brush

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"unsafe"
)

// cpuTime is the processor time of this thread (s): what the host takes away is not in it.
func cpuTime() float64 {
	const clockThread = 3
	var ts syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockThread, uintptr(unsafe.Pointer(&ts)), 0)
	return float64(ts.Sec) + 1e-9*float64(ts.Nsec)
}

// ticks are the processor times (s) of n periods of 1 ms in 50 sub-steps at 3000 rpm, sorted, after a settling of 0.2 s.
func ticks(t testing.TB, p Params, n int) ([]float64, *Beside) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	b := beside(t, p)
	took := make([]float64, 0, n)
	var out BesideOut
	theta := 0.0
	const omega = 3000 * math.Pi / 30
	for k := range n + 200 {
		theta += omega * 1e-3
		from := cpuTime()
		b.Step(1e-3, theta, omega, 2, 50, &out)
		if d := cpuTime() - from; k >= 200 {
			took = append(took, d)
		}
	}
	slices.Sort(took)
	return took, b
}

func meanOf(x []float64) (m float64) {
	for _, v := range x {
		m += v / float64(len(x))
	}
	return m
}

func quantileOf(x []float64, q float64) float64 { return x[min(len(x)-1, int(q*float64(len(x))))] }

// costly are brushes by what a sub-step costs: new, worn, and the dearest ones found in the hypercube of the eleven parameters.
var costly = []struct {
	name   string
	change func(*Params)
}{
	{"new", func(*Params) {}},
	{"worn", length(0.012)},
	{"dearest of the design", shares(1165, 0.938, 0.016, 0.898, 0.876, 0.075, 0.040, 0.697, 0.004, 0.307, 0.348, 0.984)},
	{"dearest wedged", shares(7091, 0.645, 0.176, 0.214, 0.891, 0.087, 0.038, 0.751, 0.984, 0.136, 0.116, 0.783)},
}

// shares are the eleven parameters of the length study as places in their ranges, with the seed of both surfaces.
func shares(seed float64, x ...float64) func(*Params) {
	return func(p *Params) {
		eleven(p, x)
		p.Commutator.Seed, p.Face.Seed = seed, seed
	}
}

// The dearest brushes of the hypercube cost a small multiple of the default one, and every step of theirs is verified.
func TestCostInTheLoop(t *testing.T) {
	p := DefaultParams()
	base, _ := ticks(t, p, 400)
	for _, c := range costly[1:] {
		p := DefaultParams()
		c.change(&p)
		took, b := ticks(t, p, 400)
		t.Logf("%-22s %s, %.2f of the default", c.name, describeCost(took, b), quantileOf(took, 0.5)/quantileOf(base, 0.5))
		if quantileOf(took, 0.5) > 5*quantileOf(base, 0.5) {
			t.Errorf("%s: %.3g µs a tick, the default %.3g µs", c.name, 1e6*quantileOf(took, 0.5), 1e6*quantileOf(base, 0.5))
		}
		if v := float64(b.Counts.Unverified) / float64(b.Counts.Sub); v > 1e-4 || b.Counts.Restarts != 0 {
			t.Errorf("%s: %g of the sub-steps not verified, %d restarts", c.name, v, b.Counts.Restarts)
		}
	}
}

func BenchmarkBeside(b *testing.B) {
	for _, c := range costly {
		b.Run(c.name, func(b *testing.B) {
			p := DefaultParams()
			c.change(&p)
			var took []float64
			var m *Beside
			for b.Loop() {
				took, m = ticks(b, p, 5000)
			}
			for _, f := range []struct {
				name string
				v    float64
			}{{"mean", meanOf(took)}, {"p50", quantileOf(took, 0.5)}, {"p99", quantileOf(took, 0.99)}, {"p99.9", quantileOf(took, 0.999)},
				{"max", took[len(took)-1]}} {
				b.ReportMetric(1e6*f.v, f.name+"-µs/tick")
			}
			b.ReportMetric(float64(m.Counts.Unverified)/float64(m.Counts.Sub), "unverified")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func describeCost(took []float64, b *Beside) string {
	return fmt.Sprintf("mean %5.1f  p50 %5.1f  p99 %5.1f  p99.9 %5.1f  max %5.1f µs a tick of 50 sub-steps, unverified %.2g",
		1e6*meanOf(took), 1e6*quantileOf(took, 0.5),
		1e6*quantileOf(took, 0.99), 1e6*quantileOf(took, 0.999), 1e6*took[len(took)-1], float64(b.Counts.Unverified)/float64(b.Counts.Sub))
}
