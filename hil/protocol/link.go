package protocol

import (
	"errors"
	"fmt"

	"hilrig/engine"
	"hilrig/hil/wire"
)

// Link is the binary protocol. It has no section.
type Link struct{}

// Check finds nothing.
func (Link) Check() []engine.Problem { return nil }

// Plan describes the frames.
func (Link) Plan(t *Table) (*Plan, error) {
	p, err := push(t,
		func(fields []wire.Field, kinds ...wire.Kind) (wire.Decoder, error) {
			return wire.NewLinkDecoder(fields, kinds...)
		},
		func(fields []wire.Field, _ wire.Kind) (wire.Encoder, error) { return wire.NewLinkEncoder(fields) },
		func(fields []wire.Field, _ wire.Kind) (data, head int) { return linkBytes(fields) })
	if err == nil {
		p.Opens, p.Clocked = true, true
	}
	return p, err
}

// linkBytes counts the opening zero 1, kind 1, sequence 1, time 4, CRC 2, COBS and its zero 2 bytes, and one more for COBS in
// every 254.
func linkBytes(fields []wire.Field) (data, head int) {
	for _, f := range fields {
		data += f.Type.Size()
	}
	head = 1 + 1 + 1 + 4 + 2 + 2
	return data, head + (data+head-2)/254
}

// push is the plan of a protocol in which both ends speak by themselves.
func push(t *Table, receiver func([]wire.Field, ...wire.Kind) (wire.Decoder, error),
	sender func([]wire.Field, wire.Kind) (wire.Encoder, error),
	bytes func([]wire.Field, wire.Kind) (data, head int)) (*Plan, error) {
	p := &Plan{Meas: t.Measure, Cmd: t.Command, Port: PortSpec{Baud: t.Baud}}
	var err1, err2, err3 error
	if p.Decoder, err1 = receiver(t.Measure, wire.Measurement); err1 != nil {
		err1 = fmt.Errorf("measure: %w", err1)
	}
	if p.Encoder, err2 = sender(t.Command, wire.Command); err2 != nil {
		err2 = fmt.Errorf("command: %w", err2)
	} else if t.Safe != nil {
		err3 = p.keepSafe(t, sender)
	}
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	flow := func(fields []wire.Field, kind wire.Kind, rate float64) Flow {
		data, head := bytes(fields, kind)
		return Flow{Data: data, Bytes: data + head, Rate: rate}
	}
	p.Groups = []Group{{Fields: Fields(wire.AllFields(len(t.Measure))), Flow: flow(t.Measure, wire.Measurement, t.Rate)}}
	p.Commands = flow(t.Command, wire.Command, t.Loop)
	p.FarEnd = func() Far {
		dec, err1 := receiver(t.Command, wire.Command, wire.Safe)
		enc, err2 := sender(t.Measure, wire.Measurement)
		if err := errors.Join(err1, err2); err != nil {
			panic("protocol: a table that was good is bad: " + err.Error())
		}
		return Far{Decoder: dec, Encoder: enc, Opens: p.Opens}
	}
	return p, nil
}

// keepSafe encodes the safe frame, preceded by what ends a torn one.
func (p *Plan) keepSafe(t *Table, sender func([]wire.Field, wire.Kind) (wire.Encoder, error)) error {
	enc, err := sender(t.Command, wire.Safe)
	if err != nil {
		return err
	}
	b, ok := enc.Append(enc.Resync(nil), wire.Header{Kind: wire.Safe, HasTime: true, FreshFields: wire.AllFields(len(t.Command))}, t.Safe)
	if !ok {
		return fmt.Errorf("safe state %v: every value must be finite", t.Safe)
	}
	p.Safe.Frames = [][]byte{b}
	return nil
}
