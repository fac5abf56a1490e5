//go:build linux

package main

import "math"

// boardPlant is a motor or a stage with its drive, written from the equations alone:
//
//	voltage:   L·di/dt = u − R·i − drop·tanh(i/0.05) − K·v
//	current:   i follows the command within 1 ms, as far as the supply reaches
//	effort:    the same, the command divided by K
//	velocity:  a speed loop of the drive's own sets the current, from a sensor of its own
//	m·dv/dt = K·i − F(v, z) − load,   dz/dt = v − σ0·|v|/g(v)·z,   F = σ0·z + σ1·dz/dt + σ2·v,   g = Fc + (Fs−Fc)·exp(−(v/vs)²)
//
// What does not turn has m, N, kg in place of rad, N·m, kg·m².
type boardPlant struct {
	drive                                   string  // voltage, current, effort, velocity
	resistance, inductance, constant, drop  float64 // Ω, H, N·m/A, V
	supply, peak                            float64 // V, A
	mass                                    float64 // kg·m²
	sigma0, sigma1, sigma2, coulomb, static float64
	stribeck                                float64 // rad/s
	blocked                                 bool    // something holds the axis
	load                                    float64 // N·m
	brake                                   bool    // it holds the axis while the drive is off

	position, velocity, current, bristle, integral float64
	command                                        float64
	on                                             bool
}

// smallMotor is the demo's motor.
func smallMotor(drive string) boardPlant {
	return boardPlant{drive: drive, resistance: 1.2, inductance: 6e-4, constant: 0.042, drop: 0.6, supply: 24, peak: 25, mass: 7e-5,
		sigma0: 11, sigma1: 0.02, sigma2: 1.5e-4, coulomb: 0.015, static: 0.021, stribeck: 0.5}
}

// gearedMotor is slow enough for a bus.
func gearedMotor(drive string) boardPlant {
	return boardPlant{drive: drive, resistance: 3.4, inductance: 2.1e-3, constant: 0.025, supply: 12, peak: 5, mass: 3.2e-3,
		sigma0: 4, sigma1: 0.01, sigma2: 2e-4, coulomb: 0.009, static: 0.012, stribeck: 0.3}
}

// heavyStage has 95 kg.
func heavyStage(drive string) boardPlant {
	return boardPlant{drive: drive, resistance: 1, inductance: 2e-3, constant: 35.15, supply: 48, peak: 15, mass: 95.1,
		sigma0: 2e6, sigma1: 3000, sigma2: 203.5, coulomb: 20.4, static: 22, stribeck: 2e-3}
}

// step moves the plant by dt (s), in pieces of 20 µs: the bristle moves by itself within 2 ms, the winding within 0.5 ms.
func (p *boardPlant) step(dt float64) {
	n := int(math.Ceil(dt / 20e-6))
	h := dt / float64(n)
	for range n {
		p.electric(h)
		p.mechanic(h)
	}
}

func (p *boardPlant) electric(h float64) {
	limit := func(x, most float64) float64 { return max(-most, min(most, x)) }
	if !p.on {
		p.current, p.integral = 0, 0
		return
	}
	emf := p.constant * p.velocity
	if p.drive == "voltage" {
		u := limit(p.command, p.supply)
		p.current += h / p.inductance * (u - p.resistance*p.current - p.drop*math.Tanh(p.current/0.05) - emf)
		return
	}
	want := p.command
	switch p.drive {
	case "effort":
		want /= p.constant
	case "velocity": // 50 rad/s of bandwidth, without overshoot in current
		e := p.command - p.velocity
		gain := 50 * p.mass / p.constant
		p.integral = limit(p.integral+h*gain*15*e, p.peak)
		want = gain*e + p.integral
	}
	want = limit(want, p.peak)
	reach := func(u float64) float64 { return (u - emf) / p.resistance } // A, what the supply drives through the winding
	want = max(reach(-p.supply), min(reach(p.supply), want))
	p.current += h / 1e-3 * (want - p.current)
}

func (p *boardPlant) mechanic(h float64) {
	if p.blocked || p.brake && !p.on {
		p.velocity = 0
		return
	}
	slow := math.Exp(-p.velocity * p.velocity / (p.stribeck * p.stribeck))
	g := p.coulomb + (p.static-p.coulomb)*slow
	was, bristle := p.velocity, p.bristle
	p.bristle = (bristle + h*was) / (1 + h*p.sigma0*math.Abs(was)/g) // backward: it is stiff at speed
	friction := p.sigma0*p.bristle + p.sigma1*slow*(p.bristle-bristle)/h + p.sigma2*was
	p.velocity += h / p.mass * (p.constant*p.current - p.load - friction)
	p.position += h * (was + p.velocity) / 2
}
