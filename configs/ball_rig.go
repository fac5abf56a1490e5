package configs

import (
	"fmt"
	"slices"
	"strings"

	"hilrig/configs/schema"
	"hilrig/engine"
	"hilrig/engine/plant"
	"hilrig/engine/plant/ball"
	"hilrig/hil/wire/tracker"
)

// BallRig makes the plant a ball that rolls in front of a motion-capture system.
type BallRig struct {
	Body   ball.Params `yaml:"body" doc:"ball, plane and friction; left out: the hollow sphere with weights of [KKK17], on paper"`
	Start  ball.Start  `yaml:"start" doc:"how each trial begins"`
	Camera ball.Camera `yaml:"camera" doc:"what sees the markers. The sensors fit the pose of the ball to those that are seen"`
}

// SetDefaults are the body of the source and a camera like its own.
func (b *BallRig) SetDefaults() {
	b.Body = ball.Paper()
	b.Start.SetDefaults()
	b.Camera.Noise = 1e-4
}

// Units are what tags say: lengths are in m though the ball turns.
func (*BallRig) Units() func(tag string) string { return func(tag string) string { return tag } }

// AllUnits is that one.
func (*BallRig) AllUnits(tag string) []string { return []string{tag} }

// ballName is in front of the signals of a ball.
const ballName = "ball"

// fillDefaults puts markers on the ball where the file names none.
func (b *BallRig) fillDefaults() {
	if len(b.Camera.Markers) == 0 {
		b.Camera.Markers = ball.OnSurface(b.Body.Radius)
	}
}

func (v *Virtual) ballSpec() ball.MachineSpec {
	b := v.Plant.Ball
	return ball.MachineSpec{Name: ballName, Params: b.Body, Start: b.Start, Camera: b.Camera, Seed: v.Seed}
}

// ballOutputs are those of the plant; none where its section has problems.
func (v *Virtual) ballOutputs() []engine.Signal {
	m, err := ball.NewMachine(v.ballSpec())
	if err != nil {
		return nil
	}
	return m.Layout().Outputs
}

// seenAs is the output of a ball that a quantity of a tracker asks for.
var seenAs = map[tracker.Quantity]int{
	tracker.X: ball.OutSeenX, tracker.Y: ball.OutSeenY, tracker.Z: ball.OutSeenZ,
	tracker.QW: ball.OutSeenQW, tracker.QX: ball.OutSeenQX, tracker.QY: ball.OutSeenQY, tracker.QZ: ball.OutSeenQZ,
	tracker.Error: ball.OutSeenError, tracker.Missing: ball.OutSeenMissing, tracker.WX: ball.OutWX, tracker.WY: ball.OutWY,
	tracker.WZ: ball.OutWZ,
}

// farEndSays are the quantities that the far end of the line makes itself.
var farEndSays = []tracker.Quantity{tracker.Time, tracker.Count, tracker.Status, tracker.System}

// ballOutput is what a measurement of a tracker asks of the ball: of the body, or of the marker that its part is called by; −1: nothing.
// own tells that the far end knows it without the ball.
func (v *Virtual) ballOutput(d *Device, m Measure) (output int, own bool) {
	if !d.Protocol.Kind().Tracker {
		return -1, false
	}
	part, name := "", m.Name
	q, ok := tracker.QuantityOf(name)
	if !ok {
		part, name, _ = strings.Cut(m.Name, ".")
		if q, ok = tracker.QuantityOf(name); !ok {
			return -1, false
		}
	}
	if slices.Contains(farEndSays, q) {
		return -1, true
	}
	for k := range v.Plant.Ball.Camera.Markers {
		if part != ball.MarkerName(k) {
			continue
		}
		if q < tracker.X || q > tracker.Z {
			return -1, q == tracker.Missing // a marker that is not seen has no position
		}
		return ball.OutMarkers + 3*k + int(q-tracker.X), false
	}
	if k, known := seenAs[q]; known {
		return k, false
	}
	return -1, false
}

// checkBallPlant looks at a ball and what the file wants of it.
func (c *Config) checkBallPlant(r *schema.Report) {
	p := &c.Virtual.Plant
	const at = "virtual.plant"
	r.ErrorIf(len(p.Axes) > 0, at+".axes", "a ball has no axes; its numbers are %s.x, %s.qw and so on (docs/howto/ball-rig.md)", ballName,
		ballName)
	r.WarnIf(r.HasKey(at+".supply"), at+".supply", "not used by a plant of kind ball")
	for i := range c.Axes {
		a := &c.Axes[i]
		r.ErrorIf(a.Drive.Kind != plant.NoDrive && !r.HasProblem(a.path()+".drive"), a.path()+".drive.kind",
			"%s, but the plant is a ball, which nothing drives; want none", a.Drive.Kind)
	}
	for i := range c.Devices {
		d := &c.Devices[i]
		r.ErrorIf(d.Name == ballName, d.path(), "a plant of kind ball calls its own numbers %s.x and so on; give the device another name",
			ballName)
	}
	b := p.Ball
	for _, s := range []struct {
		key      string
		problems []engine.Problem
	}{{"body", b.Body.Check()}, {"start", b.Start.Check()}, {"camera", b.Camera.Check(b.Body.Radius)}} {
		for _, bad := range s.problems {
			r.SectionError(at+".ball."+s.key, bad.Path, bad.Text)
		}
	}
	s := b.Start
	r.ErrorIf(s.RestartPeriod > 0 && s.RestartPeriod*c.FastestRate() < 2, at+".ball.start.every", "%s s, want at least two frames, %s s",
		schema.Short(s.RestartPeriod), schema.Short(2/c.FastestRate()))
}

// checkSeen wants something behind every measurement of a ball's rig.
func (c *Config) checkSeen(r *schema.Report) {
	v := c.Virtual
	if v.Plant.Kind != ballPlant {
		return
	}
	outputs := listOf(v.ballOutputs(), func(s engine.Signal) string { return s.Name })
	at := map[string]int{}
	c.eachReading(func(d *Device, m Measure, reading plant.Reading, s *VirtualSensor) {
		k := at[d.Name]
		at[d.Name]++
		if _, own := v.ballOutput(d, m); reading.Output >= 0 || own || s != nil && s.Quantity != "" {
			return // a name that is none of the plant is told of elsewhere
		}
		name := d.Name + "." + m.Name
		p := fmt.Sprintf("%s.measure[%d]", d.path(), k)
		r.KeyErrorf(p+".name", "nothing of the ball is %s; want virtual.sensors: {%s: {of: …}} with one of %s, or leave it out",
			m.Name,
			name, strings.Join(outputs, ", "))
	})
}
