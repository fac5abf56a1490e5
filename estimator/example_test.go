package estimator_test

import (
	"fmt"
	"math"

	"hilrig/engine/plant"
	"hilrig/estimator"
)

// A shaft that swings under a known torque: inertia and friction from angle and current alone.
func ExampleRLS() {
	motor := plant.Motor{R: 1.2, L: 0.6e-3, K: 0.042, J: 1}
	rls, err := estimator.NewRLS(estimator.RLSSpec{Dt: 1e-3, K: motor.K, Window: 0.064, MinVel: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	const j, fv, fc = 7e-5, 1.5e-4, 0.015 // kg·m², N·m·s/rad, N·m
	for k := range 20000 {
		t := float64(k) * 1e-3
		pos, vel, acc := 2*math.Sin(3*t)+math.Sin(11*t), 6*math.Cos(3*t)+11*math.Cos(11*t), -18*math.Sin(3*t)-121*math.Sin(11*t)
		torque := j*acc + fv*vel + math.Copysign(fc, vel)
		rls.Step(pos, vel, torque/motor.K, true)
	}
	v := make([]float64, 4)
	rls.Values(v)
	fmt.Printf("J = %.2e kg·m², Fv = %.2e N·m·s/rad, Fc = %.1f mN·m, excited: %v\n", v[0], v[1], 1e3*v[2], rls.Excited())
	// Output:
	// J = 7.00e-05 kg·m², Fv = 1.50e-04 N·m·s/rad, Fc = 15.0 mN·m, excited: true
}

// A filter follows a shaft that is held at one radian, from the encoder only.
func ExampleKalman() {
	kf, err := estimator.NewKalman(estimator.KalmanSpec{
		Dt: 1e-3, Motor: plant.Motor{R: 1.2, L: 0.6e-3, K: 0.042, J: 7e-5}, Count: 1e-4, CurrentNoise: 0.02, TorqueWalk: 0.05,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	xhat := make([]float64, 4)
	for range 500 {
		kf.Predict(1e-3, 0.6, 0) // 0.6 V on a held shaft
		kf.Correct(&[3]float64{1, 0}, &[3]bool{true, false})
	}
	kf.State(xhat)
	fmt.Printf("θ %.3f rad, i %.2f A, holding torque %.1f mN·m\n", xhat[0], xhat[2], 1e3*xhat[3])
	// Output:
	// θ 1.000 rad, i 0.50 A, holding torque 21.0 mN·m
}

// A carriage of 2 kg under a force drive at 1 kHz; its position comes from another device, every 5 ms and 10 ms late.
func ExampleAxis() {
	axis, err := estimator.NewMechanical(
		estimator.MechanicalSpec{Inertia: 2, PositionNoise: 1e-6, EffortNoise: 0.1, Walk: 10, TopEffort: 50, TopSpeed: 5},
		estimator.AxisSpec{Tick: 1e-3, Linear: true, Groups: []estimator.Group{
			{SamplePeriod: 1e-3, Quantities: []estimator.Quantity{estimator.Effort}},
			{SamplePeriod: 5e-3, Quantities: []estimator.Quantity{estimator.Position}},
		}})
	if err != nil {
		fmt.Println(err)
		return
	}
	at := func(t float64) float64 { return 0.1 * math.Sin(3*t) } // m
	x := make([]float64, 3)
	for k := range 1000 {
		t := float64(k) * 1e-3
		in := estimator.Inputs{DriveActive: true}
		in.Effort = estimator.Sample{Value: -2*9*at(t) + 4, Updated: true} // N; 4 N against friction
		in.Position = estimator.Sample{Value: at(t - 10e-3), Age: 10e-3, Updated: k%5 == 0}
		axis.Step(int64(k+1)*1e6, 0, &in, x)
	}
	for i, s := range axis.Signals() {
		fmt.Printf("%s %.2f %s\n", s.Name, x[i], s.Unit)
	}
	fmt.Printf("true: %.2f m, %.2f m/s\n", at(0.999), 0.3*math.Cos(3*0.999))
	// Output:
	// position 0.01 m
	// velocity -0.30 m/s
	// friction 4.00 N
	// true: 0.01 m, -0.30 m/s
}
