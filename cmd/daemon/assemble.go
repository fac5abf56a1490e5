package daemon

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"hilrig/configs"
	"hilrig/engine"
	"hilrig/engine/reference"
	"hilrig/estimator"
	"hilrig/hil"
	"hilrig/hil/daemon"
	"hilrig/hil/device"
	"hilrig/hil/wire"
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

// Assemble turns a configuration into the parts of a daemon. Supervisor, core and replay all use it.
func Assemble(cfg *configs.Config, h Handover) (*daemon.Assembly, error) {
	opt := rigOptions(cfg, h)
	silent, err := device.NewRig(opt) // checks the frames; nothing is opened
	if err != nil {
		return nil, err
	}
	meas, cmd := silent.Signals()
	spec, err := ControllerSpec(cfg, meas, cmd)
	if err != nil {
		return nil, err
	}
	probe, err := hil.NewController(spec)
	if err != nil {
		return nil, err
	}
	safe, err := device.SafeFrame(opt.Protocol, opt.Command, opt.Safe)
	if err != nil {
		return nil, fmt.Errorf("device: %w", err)
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
		Beat: int64(cfg.Loop.Beat * 1e9), DryRun: h.DryRun, Locked: h.Locked, Port: h.Port, SafeFrame: safe, RealTime: h.RealTime,
	}
	a.Lag = a.Period * 3 / 10 // late enough for every frame to be there, early enough to be fresh
	if cfg.Loop.Overrun.Policy == hil.OverrunCatchUp {
		a.CatchUp = cfg.Loop.Overrun.Max
	}
	a.CPU, a.Free = h.CPU, h.Free
	if h.DryRun {
		a.SafeFrame = nil
	}
	return a, nil
}

// ControllerSpec is the configured controller.
func ControllerSpec(cfg *configs.Config, meas, cmd []engine.Signal) (hil.ControllerSpec, error) {
	motion := cfg.Reference
	motion.Fade = 0 // begins with RUN, from where the axis is then
	gen, err := reference.New(motion)
	if err != nil {
		return hil.ControllerSpec{}, err
	}
	pos, cur := cfg.MeasureRole("position"), cfg.MeasureRole("current")
	e := cfg.Estimator
	count := math.Abs(cfg.Device.Measure[pos].Scale)
	spec := hil.ControllerSpec{
		Rig: cfg.Rig.Name, Rate: cfg.Loop.Rate, Meas: meas, Cmd: cmd, Position: pos, Current: cur, Drive: commandRole(cfg, "drive"),
		Age: len(cfg.Device.Measure), Delay: e.Delay, Applied: cfg.MeasureRole("voltage"), Every: 1 / cfg.DeviceRate(), // link.age follows the declared measurements
		Motor: cfg.Motor, Law: cfg.Friction.LuGre(),
		Kalman: kalmanSpec(cfg, count),
		Ref:    gen, Fade: cfg.Reference.Fade,
		PID: cfg.Control.PID,
		Guard: hil.GuardSpec{
			GuardLimits: cfg.Guard, Beat: cfg.Loop.Beat,
			Overrun: cfg.Loop.Overrun.Policy, OverrunMax: cfg.Loop.Overrun.Max, OverrunLimit: int64(cfg.Loop.Overrun.Limit * 1e9),
		},
	}
	if cfg.Control.Kind == "pd" {
		spec.PID.Ki = 0
	}
	if b := cfg.Brush; b != nil {
		spec.Beside = &hil.BesideSpec{Params: b.Parameters.Of(cfg.Motor), Step: b.Step, Share: b.Share,
			Contact: b.Contact}
	}
	spec.Comp = compSpec(cfg, count)
	for _, m := range cfg.Device.Measure {
		spec.Guard.Meas = append(spec.Guard.Meas, hil.MeasLimit{Stale: m.Stale, Lo: m.Range[0], Hi: m.Range[1], Status: m.Role == "status", Hot: cfg.Hot(m), Needed: cfg.Needs(m)})
	}
	spec.Guard.Meas = append(spec.Guard.Meas, make([]hil.MeasLimit, len(meas)-len(spec.Guard.Meas))...) // what the driver adds, e.g. link.age
	spec.Guard.Meas[spec.Age].Age = true
	for _, c := range cfg.Device.Command {
		spec.Guard.Cmd = append(spec.Guard.Cmd, hil.CmdLimit{Lo: c.Limit[0], Hi: c.Limit[1], Slew: c.Slew, Safe: c.Safe, Enable: c.Role == "enable"})
	}
	if e.RLS.Enabled && cur >= 0 {
		spec.RLS = rlsSpec(cfg, count)
	}
	return spec, nil
}

// compSpec is the configured compensation; count is the resolution of the position in rad.
func compSpec(cfg *configs.Config, count float64) hil.CompSpec {
	s := cfg.Compensation
	if s.Resolution == 0 {
		s.Resolution = count
	}
	if s.Slew == 0 { // from limit to limit within five ticks
		top := s.Limit
		if top == 0 {
			top = 1.2 * max(cfg.Friction.Fs, cfg.Friction.Fc)
		}
		s.Slew = 2 * top * cfg.Loop.Rate / 5
	}
	return s
}

// frictionMap are the parameters under the names that the page draws the friction curve from.
func frictionMap(f configs.Friction, j float64) map[string]float64 {
	return map[string]float64{"J": j, "sigma0": f.Sigma0, "sigma1": f.Sigma1, "sigma2": f.Sigma2, "Fv": f.Sigma2, "Fc": f.Fc, "Fs": f.Fs, "vs": f.Vs, "vd": f.Vd, "offset": f.Offset}
}

// commandRole is the index of the command with a role; −1: none.
func commandRole(cfg *configs.Config, role string) int {
	for i, c := range cfg.Device.Command {
		if c.Role == role {
			return i
		}
	}
	return -1
}

func rangesOf(cfg *configs.Config) map[string][2]float64 {
	out := map[string][2]float64{}
	for _, m := range cfg.Device.Measure {
		if m.Range[1] > m.Range[0] {
			out[m.Name] = m.Range
		}
	}
	for _, c := range cfg.Device.Command {
		if c.Limit[1] > c.Limit[0] {
			out[c.Name] = c.Limit
		}
	}
	return out
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
		for cfg.Device.Baud < need {
			cfg.Device.Baud *= 2
		}
	}
}

// rigOptions describes the serial line.
func rigOptions(cfg *configs.Config, h Handover) device.Options {
	o := device.Options{Name: cfg.Rig.Name, Port: h.Port, Baud: cfg.Device.Baud, Protocol: cfg.Device.Frames(), DryRun: h.DryRun, TxCPU: -1,
		Measure: measureFields(cfg), Command: commandFields(cfg)}
	for _, c := range cfg.Device.Command {
		o.Safe = append(o.Safe, c.Safe)
	}
	return o
}

func measureFields(cfg *configs.Config) (fields []wire.Field) {
	for _, m := range cfg.Device.Measure {
		fields = append(fields, m.Field)
	}
	return fields
}

func commandFields(cfg *configs.Config) (fields []wire.Field) {
	for _, c := range cfg.Device.Command {
		fields = append(fields, c.Field)
	}
	return fields
}

// kalmanSpec is the configured filter; count is the resolution of the position in rad.
func kalmanSpec(cfg *configs.Config, count float64) estimator.KalmanSpec {
	e := cfg.Estimator
	return estimator.KalmanSpec{
		Motor: cfg.Motor, Count: count, PositionNoise: e.PositionNoise,
		CurrentNoise: e.CurrentNoise, TorqueWalk: e.TorqueWalk, VoltageNoise: e.VoltageNoise,
	}
}

// rlsSpec is the configured recursive least squares.
func rlsSpec(cfg *configs.Config, count float64) *estimator.RLSSpec {
	r := cfg.Estimator.RLS
	return &estimator.RLSSpec{
		Dt: 1 / cfg.DeviceRate(), K: cfg.Motor.K, Window: r.Window, MinVel: r.MinVel, Memory: r.Memory, Count: count,
	}
}
