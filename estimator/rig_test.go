package estimator

import (
	"math"
	"testing"

	"hilrig/engine/friction"
	"hilrig/engine/plant"
)

// The motor of the demonstration under a PD controller at 1 kHz, simulated at 10 kHz, seen through a 16-bit encoder and a
// noisy current sensor: the same loop for all tests of this package.

const (
	tick  = 1e-3 // s
	inner = 10
	count = 2 * math.Pi / 65536 // rad
)

func demoMotor() plant.Motor {
	return plant.Motor{R: 1.2, L: 0.6e-3, K: 0.042, BrushDrop: 0.6, DropScale: 0.05, J: 7e-5}
}

func demoLaw() friction.LuGre {
	return friction.LuGre{Sigma0: 11, Sigma1: 0.02, Sigma2: 1.5e-4, Fc: 0.015, Fs: 0.021, Vs: 0.5, Vd: 0.3}
}

func demoKalman() KalmanSpec {
	return KalmanSpec{Dt: tick, Motor: demoMotor(), Count: count, CurrentNoise: 0.02, TorqueWalk: 0.05, VoltageNoise: 0.05}
}

func demoRLS() RLSSpec {
	return RLSSpec{Dt: tick, K: demoMotor().K, Window: 0.064, MinVel: 1.6, Count: count}
}

// multisine is the desired motion: position (rad) and speed (rad/s).
func multisine(t float64) (pos, vel float64) {
	a, b := 2*math.Pi*0.4, 2*math.Pi*2.3
	return 3*math.Sin(a*t) + 0.6*math.Sin(b*t), 3*a*math.Cos(a*t) + 0.6*b*math.Cos(b*t)
}

// follow carries a filter over dt (s) to samples and writes the state there.
func follow(k *Kalman, dt float64, y [3]float64, fresh [3]bool, u float64, xhat []float64) {
	k.Predict(dt, u, 0)
	k.Correct(&y, &fresh)
	k.State(xhat)
}

// rig is one simulated run.
type rig struct {
	plant    *plant.Rig
	kf       *Kalman
	ref      func(t float64) (pos, vel float64) // nil: drive at zero volts
	x, y     []float64
	u        []float64 // V, enable
	reads    []float64 // rad, A
	xhat     []float64
	k        int
	kp, kd   float64
	bow      Bow            // A  of the current in the last tick, as the filter predicts it
	wind     float64        // A  current of a winding that nothing measures …
	voltsErr func() float64 // V  error of the voltage in this tick, held over it
}

func newRig(t testing.TB, seed uint64, kalman KalmanSpec) *rig {
	t.Helper()
	law := demoLaw()
	motor, err := plant.New(plant.Spec{Kind: "motor", Axes: []plant.AxisSpec{{Motor: demoMotor(), Friction: &law,
		Thermal: plant.Thermal{Ambient: 20}}}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := plant.NewRig(motor, plant.SensorSpec{Readings: []plant.Reading{{Output: plant.OutPosition, Count: count},
		{Output: plant.OutCurrent, Noise: 0.02, Offset: 0.03}}, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	kf, err := NewKalman(kalman)
	if err != nil {
		t.Fatal(err)
	}
	return &rig{plant: p, kf: kf, ref: multisine, x: p.NewState(), y: make([]float64, plant.Outputs), u: []float64{0, 1},
		reads: make([]float64, 2),
		xhat:  make([]float64, 4), kp: 0.25, kd: 0.006}
}

// step runs one tick: read, estimate, control, and the plant until the next tick.
func (r *rig) step() {
	r.plant.Read(r.y, r.reads)
	to := [4]float64{r.xhat[XPos], r.xhat[XVel], r.wind, r.xhat[XTorque]}
	from := to
	r.kf.Extrapolate(to[:], tick, r.u[0])
	r.wind, r.bow = to[XCur], bowBetween(demoMotor(), from[:], to[:], tick)
	follow(r.kf, tick, [3]float64{r.reads[0], r.reads[1]}, [3]bool{true, true}, r.u[0], r.xhat)
	if r.ref != nil {
		pos, vel := r.ref(float64(r.k) * tick)
		m := demoMotor()
		tau := r.kp*(pos-r.xhat[XPos]) + r.kd*(vel-r.xhat[XVel])
		r.u[0] = min(24, max(-24, m.Voltage(tau, vel)))
	} else {
		r.u[0] = 0
	}
	cmd := r.u[0]
	if r.voltsErr != nil {
		r.u[0] += r.voltsErr()
	}
	for range inner {
		r.plant.Step(tick/inner, r.x, r.u, r.y)
	}
	r.u[0] = cmd
	r.k++
}
