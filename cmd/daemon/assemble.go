package daemon

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"hilrig/configs"
	"hilrig/engine/reference"
	"hilrig/estimator"
	"hilrig/hil"
	"hilrig/hil/daemon"
	"hilrig/hil/device"
	"hilrig/hil/protocol"
)

// Handover is what the core must know beside the configuration.
type Handover struct {
	DryRun   bool   `json:"dry_run"`
	Locked   bool   `json:"locked"` // arming is refused
	RealTime bool   `json:"real_time"`
	Port     string `json:"port"` // the port to open, where the configuration says virtual
	CPU      int    `json:"cpu"`  // processor of the tick
	Free     int    `json:"free"` // processor that everything but tick and sender leaves free: the tick's, unless something else is measured
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
	opt := rigOptions(cfg, h)
	silent, err := device.NewRig(opt) // checks the frames; nothing is opened
	if err != nil {
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
		NewRig: func(edit func(*device.Options)) (daemon.Rig, error) {
			o := opt
			edit(&o)
			return device.NewRig(o)
		},
		Params: spec.Params(), Names: hil.ParamNames, Check: hil.CheckParam,
		Period: int64(1e9/cfg.Loop.Rate + 0.5), Spin: int64(cfg.Loop.Spin * 1e9), DevicePaced: cfg.Loop.Clock == "device",
		Beat: int64(cfg.Loop.Beat * 1e9), DryRun: h.DryRun, Locked: h.Locked, Port: h.Port, Safe: silent.SafeFrames(), RealTime: h.RealTime,
	}
	a.Lag = a.Period * 3 / 10 // late enough for every frame to be there, early enough to be fresh
	if cfg.Loop.Overrun.Policy == hil.OverrunCatchUp {
		a.CatchUp = cfg.Loop.Overrun.Max
	}
	a.CPU, a.Free = h.CPU, h.Free
	if h.DryRun {
		a.Safe = protocol.SafeFrames{}
	}
	return a, nil
}

// ControllerSpec is the configured controller.
func ControllerSpec(cfg *configs.Config) (hil.ControllerSpec, error) {
	dev, axis := &cfg.Devices[0], &cfg.Axes[0]
	motion := axis.Reference
	motion.Fade = 0 // begins with RUN, from where the axis is then
	gen, err := reference.New(motion)
	if err != nil {
		return hil.ControllerSpec{}, err
	}
	plan, err := cfg.Plan(dev)
	if err != nil {
		return hil.ControllerSpec{}, err
	}
	ages := hil.Of(dev.Name, device.Ages(plan.Groups)...)
	for i := range ages {
		ages[i].Role = hil.RoleAge
	}
	pos, cur := cfg.Measured(dev, axis, hil.RolePosition), cfg.Measured(dev, axis, hil.RoleCurrent)
	drive, enable := cfg.Driving(dev, axis)
	e := axis.Estimator
	count := math.Abs(dev.Measure[pos].Scale)
	spec := hil.ControllerSpec{
		Rig: cfg.Rig.Name, Axis: axis.Name, Owners: cfg.Owners(), Rate: cfg.Loop.Rate, Meas: append(cfg.MeasuredChannels(dev), ages...), Cmd: cfg.CommandedChannels(dev),
		Position: pos, Current: cur, Drive: drive,
		Age: len(dev.Measure) + plan.GroupOf(pos), Delay: e.Delay, Applied: cfg.Measured(dev, axis, hil.RoleVoltage), Every: 1 / cfg.DeviceRate(dev),
		Motor: axis.Motor, Law: axis.Friction.LuGre(),
		Kalman: kalmanSpec(axis, count),
		Ref:    gen, Fade: axis.Reference.Fade,
		PID: axis.Control.PID,
		Guard: hil.GuardSpec{
			GuardLimits: cfg.Guard, AxisLimits: axis.Guard, Beat: cfg.Loop.Beat,
			Overrun: cfg.Loop.Overrun.Policy, OverrunMax: cfg.Loop.Overrun.Max, OverrunLimit: int64(cfg.Loop.Overrun.Limit * 1e9),
		},
	}
	if axis.Control.Kind == "pd" {
		spec.PID.Ki = 0
	}
	for _, m := range cfg.Models {
		spec.Beside = &hil.BesideSpec{Name: m.Name, Axis: m.Axis, Params: m.Parameters.Of(axis.Motor), Step: m.Step, Share: m.Share, Contact: m.Contact}
	}
	spec.Comp = compSpec(cfg, axis, count)
	for i, m := range dev.Measure {
		spec.Guard.Meas = append(spec.Guard.Meas, hil.MeasLimit{Stale: m.Stale, Lo: m.Range[0], Hi: m.Range[1], Status: i == dev.StatusAt(), Hot: cfg.Hot(dev, m), Needed: cfg.Needs(dev, m)})
	}
	for i := range ages {
		spec.Guard.Meas = append(spec.Guard.Meas, hil.MeasLimit{Age: len(dev.Measure)+i == spec.Age})
	}
	for i, c := range dev.Command {
		spec.Guard.Cmd = append(spec.Guard.Cmd, hil.CmdLimit{Lo: c.Limit[0], Hi: c.Limit[1], Slew: c.Slew, Safe: c.Safe, Enable: i == enable})
	}
	if e.RLS.Enabled && cur >= 0 {
		spec.RLS = rlsSpec(cfg, dev, axis, count)
	}
	return spec, nil
}

// compSpec is the configured compensation; count is the resolution of the position in rad.
func compSpec(cfg *configs.Config, axis *configs.Axis, count float64) hil.CompSpec {
	s := axis.Compensation
	if s.Resolution == 0 {
		s.Resolution = count
	}
	if s.Slew == 0 { // from limit to limit within five ticks
		top := s.Limit
		if top == 0 {
			top = 1.2 * max(axis.Friction.Fs, axis.Friction.Fc)
		}
		s.Slew = 2 * top * cfg.Loop.Rate / 5
	}
	return s
}

// frictionMap are the parameters under the names that the page draws the friction curve from.
func frictionMap(f configs.Friction, j float64) map[string]float64 {
	return map[string]float64{"J": j, "sigma0": f.Sigma0, "sigma1": f.Sigma1, "sigma2": f.Sigma2, "Fv": f.Sigma2, "Fc": f.Fc, "Fs": f.Fs, "vs": f.Vs, "vd": f.Vd, "offset": f.Offset}
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

// rigOptions describes the serial line of the device.
func rigOptions(cfg *configs.Config, h Handover) device.Options {
	section, t := cfg.Protocol(&cfg.Devices[0])
	return device.Options{Name: cfg.Rig.Name, Port: h.Port, Baud: t.Baud, Protocol: section, DryRun: h.DryRun, TxCPU: -1,
		Measure: t.Measure, Command: t.Command, Safe: t.Safe, Rate: t.Rate, Loop: t.Loop}
}

// kalmanSpec is the configured filter; count is the resolution of the position in rad.
func kalmanSpec(axis *configs.Axis, count float64) estimator.KalmanSpec {
	e := axis.Estimator
	return estimator.KalmanSpec{
		Motor: axis.Motor, Count: count, PositionNoise: e.PositionNoise,
		CurrentNoise: e.CurrentNoise, TorqueWalk: e.TorqueWalk, VoltageNoise: e.VoltageNoise,
	}
}

// rlsSpec is the configured recursive least squares.
func rlsSpec(cfg *configs.Config, dev *configs.Device, axis *configs.Axis, count float64) *estimator.RLSSpec {
	r := axis.Estimator.RLS
	return &estimator.RLSSpec{
		Dt: 1 / cfg.DeviceRate(dev), K: axis.Motor.K, Window: r.Window, MinVel: r.MinVel, Memory: r.Memory, Count: count,
	}
}
