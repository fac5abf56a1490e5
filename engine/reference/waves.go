package reference

import "math"

// Sine is Offset + Amplitude·sin(2π·Frequency·t + Phase).
type Sine struct {
	Offset float64 // rad
	Tone
}

// At returns the motion at t (s).
func (s Sine) At(t float64) (pos, vel, acc float64) {
	pos, vel, acc = s.Tone.at(math.Max(t, 0))
	return s.Offset + pos, vel, acc
}

// at is one tone. Whole turns are removed before the multiplication by 2π, so that hours of run time cost no precision
// beyond that of t·f itself.
func (tone Tone) at(t float64) (pos, vel, acc float64) {
	w := 2 * math.Pi * tone.Frequency
	cycles := t * tone.Frequency
	sin, cos := math.Sincos(2*math.Pi*(cycles-math.Floor(cycles)) + tone.Phase)
	pos = tone.Amplitude * sin
	return pos, tone.Amplitude * w * cos, -w * w * pos
}

// Multisine is a sum of tones: rich excitation with a chosen spectrum.
type Multisine struct {
	Offset float64 // rad
	Tones  []Tone
}

// At returns the motion at t (s).
func (m Multisine) At(t float64) (pos, vel, acc float64) {
	t = math.Max(t, 0)
	pos = m.Offset
	for i := range m.Tones {
		p, v, a := m.Tones[i].at(t)
		pos, vel, acc = pos+p, vel+v, acc+a
	}
	return pos, vel, acc
}

// Chirp is a sine whose frequency runs linearly from F0 to F1 in Sweep seconds, then back from F1 to F0, and so on. The
// way back, instead of a jump to F0, keeps velocity continuous. The phase is the integral of the frequency:
//
//	up:    φ(τ)/2π = F0·τ + r·τ²/2,  r = (F1−F0)/Sweep,  0 ≤ τ < Sweep
//	down:  φ(τ)/2π = F1·τ − r·τ²/2
//
// and each sweep adds (F0+F1)/2·Sweep cycles to those that follow.
type Chirp struct {
	Offset    float64 // rad
	Amplitude float64 // rad
	F0, F1    float64 // Hz
	Sweep     float64 // s
}

// At returns the motion at t (s).
func (c Chirp) At(t float64) (pos, vel, acc float64) {
	t = math.Max(t, 0)
	n := math.Floor(t / c.Sweep)
	tau := t - n*c.Sweep

	// the sweep that t falls into: start frequency and rate
	f, r := c.F0, (c.F1-c.F0)/c.Sweep // Hz, Hz/s
	if math.Mod(n, 2) == 1 {
		f, r = c.F1, -r
	}
	cycles := math.Mod(n*(c.F0+c.F1)/2*c.Sweep, 1) + tau*(f+r*tau/2)
	sin, cos := math.Sincos(2 * math.Pi * (cycles - math.Floor(cycles)))

	// d/dt sin φ = φ̇ cos φ;  d²/dt² sin φ = φ̈ cos φ − φ̇² sin φ
	dphi, ddphi := 2*math.Pi*(f+r*tau), 2*math.Pi*r
	return c.Offset + c.Amplitude*sin, c.Amplitude * dphi * cos, c.Amplitude * (ddphi*cos - dphi*dphi*sin)
}
