package daemon

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"hilrig/configs"
	"hilrig/hil"
	"hilrig/hil/daemon"
	"hilrig/hil/device"
	"hilrig/hil/protocol"
)

// Handover is what the core must know beside the configuration.
type Handover struct {
	DryRun   bool `json:"dry_run"`
	Locked   bool `json:"locked"` // arming is refused
	RealTime bool `json:"real_time"`
	// the ports to open, in the order of the devices; where the configuration says virtual, those of the rig
	Ports []string `json:"ports"`
	Plant bool     `json:"plant"` // the rows are those of the virtual rig; ports are the links to make
	CPU   int      `json:"cpu"`   // processor of the tick; −1: any
	// processor that everything but tick and sender leaves free: the tick's, unless something else is measured
	ReservedCPU int `json:"free"`
}

// packHandover puts it in front of the configuration, as one line of JSON.
func packHandover(config []byte, h Handover) []byte {
	head, _ := json.Marshal(h) // a struct of two bools and a string always encodes
	return append(append(head, '\n'), config...)
}

func unpackHandover(data []byte) (*configs.Config, Handover, error) {
	var h Handover
	head, config, ok := bytes.Cut(data, []byte("\n"))
	if !ok {
		return nil, h, errors.New("configuration from the supervisor: no header")
	}
	if err := json.Unmarshal(head, &h); err != nil {
		return nil, h, fmt.Errorf("configuration from the supervisor: %w", err)
	}
	cfg, err := configs.LoadBytes("configuration from the supervisor", config)
	return cfg, h, err
}

// RunID is the id of a run that begins now: UTC, to the microsecond.
func RunID(now time.Time) string { return now.UTC().Format("20060102T150405.000000Z") }

// Assemble turns a configuration into the parts of a daemon. Supervisor, core and replay all use it.
func Assemble(cfg *configs.Config, h Handover) (*daemon.Assembly, error) {
	if h.Ports == nil {
		h.Ports = Ports(cfg)
	}
	safe := make([]protocol.SafeFrames, len(cfg.Devices))
	newRig := func(edit func(i int, o *device.Options)) (daemon.Rig, error) {
		var parts []device.Part
		for i := range cfg.Devices {
			d := &cfg.Devices[i]
			o := rigOptions(cfg, i, h)
			edit(i, &o)
			rig, err := device.NewRig(o)
			if err != nil {
				return nil, err
			}
			safe[i] = rig.SafeFrames()
			parts = append(parts, device.Part{Name: d.Name, Member: rig, Optional: !d.Required})
		}
		return device.NewSet(max(0, cfg.Pacer()), parts...)
	}
	if _, err := newRig(func(int, *device.Options) {}); err != nil { // checks the frames; nothing is opened
		return nil, err
	}
	spec, err := ControllerSpec(cfg)
	if err != nil {
		return nil, err
	}
	probe, err := hil.NewController(spec)
	if err != nil {
		return nil, err
	}
	a := &daemon.Assembly{
		Schema: probe.Schema(),
		NewRole: func() hil.Role {
			c, err := hil.NewController(spec)
			if err != nil {
				panic("hil: a specification that was good is bad: " + err.Error())
			}
			return c
		},
		NewRig: newRig,
		Params: probe.Params(), LiveParams: liveOf(probe, cfg), Check: probe.Check, Review: reviewOf(cfg, probe),
		Period: int64(1e9/cfg.Loop.Rate + 0.5), Spin: int64(cfg.Loop.Spin * 1e9), DevicePaced: cfg.Pacer() >= 0,
		Limit: int64(cfg.Loop.Overrun.Limit * 1e9), Beat: int64(cfg.Loop.Beat * 1e9), DryRun: h.DryRun, Locked: h.Locked, RealTime: h.RealTime,
		CPU: h.CPU, ReservedCPU: h.ReservedCPU,
	}
	for i := range cfg.Axes {
		constant := 0.0
		if g := &cfg.Axes[i].Guard; g.RatedI > 0 {
			constant = g.Thermal
		}
		a.Thermal = append(a.Thermal, constant)
	}
	for i := range cfg.Devices {
		port := daemon.Port{Name: cfg.Devices[i].Name, Path: h.Ports[i], Optional: !cfg.Devices[i].Required}
		if !h.DryRun {
			port.Safe = safe[i]
		}
		a.Ports = append(a.Ports, port)
	}
	a.Lag = a.Period * 3 / 10 // late enough for every frame to be there, early enough to be fresh
	if cfg.Loop.Overrun.Policy == hil.OverrunCatchUp {
		a.CatchUp = cfg.Loop.Overrun.Max
	}
	return a, nil
}

// Buildable builds what a run of a configuration consists of, the virtual rig too, and opens nothing.
func Buildable(cfg *configs.Config) error {
	h := Handover{Ports: Ports(cfg), CPU: -1, ReservedCPU: -1}
	_, err := Assemble(cfg, h)
	if err == nil && cfg.Virtual != nil {
		_, err = AssembleRig(cfg, h)
	}
	return err
}

// Ports are the ports of the file, in the order of its devices.
func Ports(cfg *configs.Config) (ports []string) {
	for _, d := range cfg.Devices {
		ports = append(ports, d.Port)
	}
	return ports
}

// ControllerSpec is the configured controller.
func ControllerSpec(cfg *configs.Config) (hil.ControllerSpec, error) {
	spec := hil.ControllerSpec{Rig: cfg.Rig.Name, Owners: cfg.Owners(), Rate: cfg.Loop.Rate, Guard: hil.GuardSpec{
		GuardLimits: cfg.Guard, Beat: cfg.Loop.Beat,
		Overrun: cfg.Loop.Overrun.Policy, OverrunMax: cfg.Loop.Overrun.Max, OverrunLimit: int64(cfg.Loop.Overrun.Limit * 1e9),
	}}
	var every []float64 // s  from sample to sample, of each measured signal
	enable := func(name string) bool {
		return slices.ContainsFunc(cfg.Axes, func(a configs.Axis) bool { return a.Drive.Enable == name })
	}
	for i := range cfg.Devices {
		d := &cfg.Devices[i]
		plan, err := cfg.Plan(d)
		if err != nil {
			return spec, err
		}
		ages := hil.Of(d.Name, device.Ages(plan.Groups)...)
		first := len(spec.Meas) + len(d.Measure)
		for k := range d.Measure {
			g := plan.GroupOf(k)
			spec.Ages, every = append(spec.Ages, first+g), append(every, 1/plan.Groups[g].Rate)
		}
		for k := range ages {
			ages[k].Role = hil.RoleAge
			spec.Ages, every = append(spec.Ages, first+k), append(every, 0)
		}
		measured := cfg.MeasuredChannels(d)
		for k := range measured {
			measured[k].Age = ages[plan.GroupOf(k)].Name
		}
		spec.Meas = append(append(spec.Meas, measured...), ages...)
		spec.Cmd = append(spec.Cmd, cfg.CommandedChannels(d)...)
		for k, m := range d.Measure {
			spec.Guard.Meas = append(spec.Guard.Meas, hil.MeasLimit{Stale: m.Stale, Lo: m.Range[0], Hi: m.Range[1], Status: k == d.StatusAt(),
				Hot: cfg.Hot(d, m), Needed: cfg.Needs(d, m), RequiredForReady: d.Required && !m.Optional})
		}
		for range ages {
			spec.Guard.Meas = append(spec.Guard.Meas, hil.MeasLimit{Age: true})
		}
		for _, c := range d.Command {
			spec.Guard.Cmd = append(spec.Guard.Cmd, hil.CmdLimit{Lo: c.Limit[0], Hi: c.Limit[1], Slew: c.Slew, Safe: c.Safe,
				Enable: enable(d.Name + "." + c.Name)})
		}
	}
	for i := range cfg.Axes {
		a, err := axisSpec(cfg, &cfg.Axes[i], &spec, every)
		if err != nil {
			return spec, fmt.Errorf("axes.%s: %w", cfg.Axes[i].Name, err)
		}
		spec.Axes = append(spec.Axes, a)
	}
	if cfg.Mechanism != nil {
		m, joints, err := cfg.MechanismModel()
		if err != nil {
			return spec, err
		}
		spec.Mechanism = &hil.MechanismSpec{Model: m, Joint: joints}
	}
	for i := range cfg.Models {
		spec.Models = append(spec.Models, modelSpec(cfg, &cfg.Models[i], spec.Meas))
	}
	return spec, nil
}

// ScaleToRate moves a configuration to another loop rate: the virtual plant keeps a whole number of steps per tick, and
// the line gets a speed that can carry the frames.
func ScaleToRate(cfg *configs.Config, rate float64) {
	cfg.SetRate(rate)
	if v := cfg.Virtual; v != nil {
		v.InnerRate = rate * math.Max(1, math.Ceil(v.InnerRate/rate-1e-9))
	}
	if cfg.IsVirtual() {
		need := int(rate * 10 * 64) // frames of up to 64 bytes
		for i := range cfg.Devices {
			for d := &cfg.Devices[i]; d.Baud < need; {
				d.Baud *= 2
			}
		}
	}
}

// rigOptions describes the serial line of a device.
func rigOptions(cfg *configs.Config, i int, h Handover) device.Options {
	d := &cfg.Devices[i]
	section, t := cfg.Protocol(d)
	keep := make([]float64, len(d.Measure))
	for k, m := range d.Measure {
		keep[k] = m.Stale
	}
	return device.Options{Name: d.Name, Port: h.Ports[i], Baud: t.Baud, Protocol: section, DryRun: h.DryRun, WaitForPort: !d.Required,
		TxCPU:   -1,
		Measure: t.Measure, MaxAges: keep, Command: t.Command, Safe: t.Safe, Rate: t.Rate, Loop: t.Loop}
}
