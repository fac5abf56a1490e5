package brush

import "hilrig/engine/plant"

// Rig is a machine with its sensors: all that a virtual rig needs.
type Rig struct {
	*Machine
	*plant.Sensors
}

// NewRig builds both.
func NewRig(d MachineSpec, s plant.SensorSpec) (*Rig, error) {
	m, err := NewMachine(d)
	if err != nil {
		return nil, err
	}
	n, err := plant.NewSensors(s)
	if err != nil {
		return nil, err
	}
	return &Rig{m, n}, nil
}
