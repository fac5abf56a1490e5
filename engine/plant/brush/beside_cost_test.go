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
			}{{"mean", meanOf(took)}, {"p50", quantileOf(took, 0.5)}, {"p99", quantileOf(took, 0.99)}, {"p99.9", quantileOf(took, 0.999)}, {"max", took[len(took)-1]}} {
				b.ReportMetric(1e6*f.v, f.name+"-µs/tick")
			}
			b.ReportMetric(float64(m.Counts.Unverified)/float64(m.Counts.Sub), "unverified")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func describeCost(took []float64, b *Beside) string {
	return fmt.Sprintf("mean %5.1f  p50 %5.1f  p99 %5.1f  p99.9 %5.1f  max %5.1f µs a tick of 50 sub-steps, unverified %.2g", 1e6*meanOf(took), 1e6*quantileOf(took, 0.5),
		1e6*quantileOf(took, 0.99), 1e6*quantileOf(took, 0.999), 1e6*took[len(took)-1], float64(b.Counts.Unverified)/float64(b.Counts.Sub))
}
