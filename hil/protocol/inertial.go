package protocol

import (
	"errors"
	"math/bits"

	"hilrig/engine"
	"hilrig/hil/wire/tracker"
)

// VectorNav is a VectorNav that sends what its manufacturer's program told it. It has no section.
type VectorNav struct{}

// WitMotion is a WitMotion in its standard protocol. It has no section.
type WitMotion struct{}

// BNO08x is a BNO08x in its mode UART-RVC. It has no section.
type BNO08x struct{}

// Check finds nothing.
func (VectorNav) Check() []engine.Problem { return nil }

// Check finds nothing.
func (WitMotion) Check() []engine.Problem { return nil }

// Check finds nothing.
func (BNO08x) Check() []engine.Problem { return nil }

// Plan describes the messages.
func (VectorNav) Plan(t *Table) (*Plan, error) {
	return silent(t, "vectornav", func() tracker.Decoder { return tracker.NewVectorNav() }, (&tracker.VectorNavEncoder{}).Append,
		14+4*len(t.Measure), true)
}

// Plan describes the packets: quantities of one packet are of one age.
func (WitMotion) Plan(t *Table) (*Plan, error) {
	p, err := silent(t, "witmotion", func() tracker.Decoder { return tracker.NewWitMotion() }, tracker.WitMotionEncoder{}.Append, 11, false)
	if err != nil {
		return nil, err
	}
	list := p.Decoder.(*samples).slots
	all := p.Groups[0]
	p.Groups = nil
	left := all.Fields
	for _, packet := range []struct {
		name       string
		quantities tracker.Set
	}{
		{"acceleration", tracker.Run(tracker.AX, 3) | tracker.Of(tracker.Temperature)}, {"rate", tracker.Run(tracker.WX, 3)},
		{"angle", tracker.Run(tracker.Yaw, 3)},
		{"field", tracker.Run(tracker.FieldX, 3)}, {"quaternion", tracker.Run(tracker.QW, 4)},
		{"pressure", tracker.Of(tracker.Pressure, tracker.Altitude)},
	} {
		g := Group{Name: packet.name, Flow: Flow{Data: 8, Bytes: 11, Rate: t.Rate}}
		for k := range list {
			if packet.quantities.Contains(list[k].q) {
				g.Fields |= 1 << k
			}
		}
		if g.Fields &= left; g.Fields != 0 {
			p.Groups = append(p.Groups, g)
			left &^= g.Fields
		}
	}
	switch {
	case len(p.Groups) == 0 || len(p.Groups) == 1 && left == 0:
		p.Groups = []Group{all}
	case left != 0:
		p.Groups = append(p.Groups, Group{Name: "other", Fields: left,
			Flow: Flow{Data: 8 * bits.OnesCount64(uint64(left)), Bytes: 11, Rate: t.Rate}})
	}
	return p, nil
}

// Plan describes the reports.
func (BNO08x) Plan(t *Table) (*Plan, error) {
	return silent(t, "bno08x", func() tracker.Decoder { return tracker.NewBNO08x() }, tracker.BNO08xEncoder{}.Append, 19, false)
}

// silent is the plan of a device that sends by itself and is told nothing.
func silent(t *Table, kind string, decoder func() tracker.Decoder, write func([]byte, *tracker.Frame) []byte, bytes int,
	clocked bool) (*Plan, error) {
	list, bad := slots(t, kind, nil, 0)
	if len(bad) > 0 {
		return nil, errors.Join(bad...)
	}
	p := streaming(t, decoder(), list, nil, bytes)
	p.Clocked = clocked
	p.FarEnd = func() Far {
		return Far{Decoder: &deaf{}, Encoder: &poses{slots: list, parts: []int{0}, write: write, max: 600}}
	}
	return p, nil
}
