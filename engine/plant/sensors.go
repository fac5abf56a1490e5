package plant

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Channel is what one sensor reads.
type Channel uint8

const (
	Skip          Channel = iota // not a sensor of the motor: Read leaves the number alone
	Encoder                      // rad   shaft angle, rounded to counts, multi-turn
	CurrentSensor                // A     armature current with noise and offset
	Thermometer                  // °C
)

// SensorSpec describes the sensors of a drive.
type SensorSpec struct {
	Channels     []Channel // what is read, in the order of the readings
	Counts       int       // per turn; 0: the angle is not rounded
	CurrentNoise float64   // A  standard deviation, white
	CurrentOff   float64   // A  offset of the current sensor
	Seed         uint64    // the same seed gives the same noise
}

// Sensors turns the state of a MotorDrive into readings.
type Sensors struct {
	s     SensorSpec
	count float64 // rad
	rng   *rand.Rand
}

// NewSensors checks the description.
func NewSensors(s SensorSpec) (*Sensors, error) {
	if s.Counts < 0 {
		return nil, fmt.Errorf("sensors: encoder counts: %d per turn, want ≥ 0", s.Counts)
	}
	if !(s.CurrentNoise >= 0) || math.IsInf(s.CurrentNoise, 0) {
		return nil, fmt.Errorf("sensors: current noise: %g A, want ≥ 0", s.CurrentNoise)
	}
	if math.IsNaN(s.CurrentOff) || math.IsInf(s.CurrentOff, 0) {
		return nil, fmt.Errorf("sensors: current offset: %g A, want a finite number", s.CurrentOff)
	}
	for i, c := range s.Channels {
		if c > Thermometer {
			return nil, fmt.Errorf("sensors: channel %d: no sensor number %d", i, c)
		}
	}
	n := &Sensors{s: s, rng: rand.New(rand.NewPCG(s.Seed, 0x6d6f746f72))}
	if s.Counts > 0 {
		n.count = 2 * math.Pi / float64(s.Counts)
	}
	return n, nil
}

// Read fills one reading per channel from the state x of the drive. y, its outputs, is not needed here. It allocates
// nothing; the noise advances with every call.
func (n *Sensors) Read(x, _, readings []float64) {
	for k, c := range n.s.Channels {
		switch c {
		case Encoder:
			readings[k] = x[Theta]
			if n.count > 0 {
				readings[k] = math.Round(x[Theta]/n.count) * n.count
			}
		case CurrentSensor:
			readings[k] = x[Current] + n.s.CurrentOff + n.s.CurrentNoise*n.rng.NormFloat64()
		case Thermometer:
			readings[k] = x[Temperature]
		}
	}
}

// Rig is a drive with its sensors: all that a virtual rig needs.
type Rig struct {
	*MotorDrive
	*Sensors
}

// NewRig builds both.
func NewRig(d DriveSpec, s SensorSpec) (*Rig, error) {
	m, err := NewMotorDrive(d)
	if err != nil {
		return nil, err
	}
	n, err := NewSensors(s)
	if err != nil {
		return nil, err
	}
	return &Rig{m, n}, nil
}
