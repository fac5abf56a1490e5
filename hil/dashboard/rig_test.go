package dashboard_test

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hilrig/engine"
	"hilrig/engine/friction"
	"hilrig/hil"
	"hilrig/hil/axis"
	"hilrig/hil/dashboard"
	"hilrig/hil/sink"
)

// A rig for the page: rows of a plausible motor at 1 kHz go through the real stream to the page.
// Only the loop itself is played here; the daemon end to end is tested in cmd/hil.

var (
	axes = map[string]dashboard.Axis{
		"shaft": {
			Name: "shaft", Model: map[string]float64{"J": 2.0e-4, "Fc": 0.024, "Fs": 0.034, "vs": 1.0, "sigma2": 0.9e-3, "offset": 0}, Truth: truth,
			Curve: stribeckCurve(0.024, 0.034, 1.0, 0.9e-3, 0), TruthCurve: stribeckCurve(truth["Fc"], truth["Fs"], truth["vs"], truth["sigma2"],
				truth["offset"]),
		},
		"stage": {Name: "stage", Model: map[string]float64{"M": 77e-6, "Fc": 0.003}, Truth: map[string]float64{"M": 24e-6, "Fc": 0.002},
			Curve: [][2]float64{{-1, -0.003}, {-1e-3, -0.003}, {1e-3, 0.003}, {1, 0.003}}},
	}
	truth = map[string]float64{"J": 2.4e-4, "Fc": 0.020, "Fs": 0.031, "vs": 0.8, "sigma2": 1.1e-3, "offset": 0.001}
)

type rig struct {
	info    hil.Info
	server  *dashboard.Server
	stream  *sink.Stream
	metrics *sink.Metrics
	url     string
	record  string      // the recording
	refused atomic.Bool // nobody answers at /api/stream

	mu       sync.Mutex
	rows     []hil.Row // not yet taken by the publisher
	disk     *backlog  // nor by the recorder; nil: not recorded
	made     uint64    // rows made so far
	drop     int       // rows to lose, to make a gap
	silent   bool      // no rows at all
	mode     hil.Mode
	cause    hil.Cause
	phase    float64 // s of motion so far
	rng      *rand.Rand
	commands []hil.Command
	inForce  hil.Params
	identify string               // {"status": …, "result": …}; "": none
	refuse   string               // why the next accept is refused; empty: it is not
	cut      []context.CancelFunc // end the WebSockets of /api/stream
}

func schema() hil.Schema {
	type ch struct {
		name, unit, axis string
		role             hil.ChannelRole
	}
	of := func(owner string, list ...ch) (out []hil.Channel) {
		for _, c := range list {
			out = append(out, hil.Channel{Signal: engine.Signal{Name: owner + "." + c.name, Unit: c.unit}, Owner: owner, Axis: c.axis, Role: c.role})
		}
		return out
	}
	const x = "shaft"
	return hil.Schema{
		Rig: "bench", Rate: 1000,
		Owners: []hil.Owner{{Name: "drive", Kind: hil.DeviceOwner}, {Name: x, Kind: hil.AxisOwner}},
		Meas: of("drive", ch{"motor.angle", "rad", x, hil.RolePosition}, ch{"motor.current", "A", x, hil.RoleCurrent},
			ch{"motor.temperature", "degC", "", hil.RoleTemperature},
			ch{"status", "", "", hil.RoleStatus}, ch{"age", "s", "", hil.RoleAge}),
		Est: of(x, ch{"est.position", "rad", x, hil.RolePosition}, ch{"est.velocity", "rad/s", x, hil.RoleVelocity},
			ch{"est.current", "A", x, hil.RoleCurrent}, ch{"est.friction", "N·m", x, hil.RoleFriction},
			ch{"rls.J", "kg·m²", x, hil.RoleParameter}, ch{"rls.Fv", "N·m·s/rad", x, hil.RoleParameter},
			ch{"rls.Fc", "N·m", x, hil.RoleParameter},
			ch{"rls.offset", "N·m", x, hil.RoleParameter},
			ch{"rls.J_se", "kg·m²", x, hil.RoleStdErr}, ch{"rls.Fv_se", "N·m·s/rad", x, hil.RoleStdErr},
			ch{"rls.Fc_se", "N·m", x, hil.RoleStdErr},
			ch{"rls.offset_se", "N·m", x, hil.RoleStdErr},
			ch{"rls.windows", "", x, hil.RoleCount}, ch{"rls.cond", "", x, hil.RolePlain}),
		Model: of(x, ch{"ref.position", "rad", x, hil.RolePosition}, ch{"ref.velocity", "rad/s", x, hil.RoleVelocity},
			ch{"ref.acceleration", "rad/s²", x, hil.RoleAcceleration},
			ch{"ctl.error", "rad", x, hil.RoleError}, ch{"ctl.effort", "N·m", x, hil.RoleCommand}, ch{"comp.friction", "N·m", x, hil.RoleEffort},
			ch{"model.friction", "N·m", x, hil.RoleFriction}, ch{"model.bristle", "rad", x, hil.RolePlain}, ch{"heat", "", x, hil.RoleHeat}),
		Cmd: of("drive", ch{"voltage", "V", x, hil.RoleCommand}, ch{"enable", "", "", hil.RolePlain}),
	}
}

// stribeck is a friction torque (N·m) at v (rad/s), smooth around rest.
func stribeck(v, fc, fs, vs, fv, off float64) float64 {
	return (fc+(fs-fc)*math.Exp(-(v/vs)*(v/vs)))*math.Tanh(v/0.02) + fv*v + off
}

// stribeckCurve are points of it.
func stribeckCurve(fc, fs, vs, viscous, offset float64) (points [][2]float64) {
	for i := -400; i <= 400; i++ {
		if v := 0.05 * float64(i); v != 0 {
			points = append(points, [2]float64{v, stribeck(v, fc, fs, vs, viscous, offset)})
		}
	}
	return points
}

// withStage adds an axis on a line, whose signals are a tenth of those of the shaft.
func withStage(s *hil.Schema) {
	s.Owners = append(s.Owners, hil.Owner{Name: "stage", Kind: hil.AxisOwner})
	unit := map[string]string{"rad": "m", "rad/s": "m/s", "rad/s²": "m/s²", "N·m": "N", "kg·m²": "kg", "N·m·s/rad": "N·s/m"}
	for b := hil.Measured; b <= hil.Commanded; b++ {
		list := s.Block(b)
		for _, c := range s.Block(b) {
			if c.Axis != "shaft" {
				continue
			}
			c.Axis = "stage"
			if c.Owner == "shaft" {
				c.Owner, c.Name = "stage", strings.Replace("stage"+strings.TrimPrefix(c.Name, "shaft"), "rls.J", "rls.M", 1)
			} else {
				c.Name = "drive.stage." + strings.TrimPrefix(c.Name, "drive.")
			}
			if u, ok := unit[c.Unit]; ok {
				c.Unit = u
			}
			list = append(list, c)
		}
		s.SetBlock(b, list)
	}
}

// withModels puts two models beside the rig, two more measurements with a range on its device, and switches the recursive least squares
// off.
func withModels(s *hil.Schema) {
	s.Owners = append(s.Owners, hil.Owner{Name: "brushes", Kind: hil.ModelOwner, Title: "brush of a motor"},
		hil.Owner{Name: "laws", Kind: hil.ModelOwner, Title: "rival friction laws"})
	s.Meas[2].Range = [2]float64{-40, 150}
	more := hil.Of("drive", engine.Signal{Name: "bus", Unit: "V"}, engine.Signal{Name: "pressure", Unit: "Pa"}, engine.Signal{Name: "counter"})
	more[0].Range, more[1].Range = [2]float64{0, 48}, [2]float64{0, 1e5}
	s.Meas = append(s.Meas, more...)
	s.Est = s.Est[:4]
	model := func(name string, room float64, signals ...engine.Signal) {
		of := hil.Of(name, append([]engine.Signal{{Name: "busy", Unit: "s"}, {Name: "level"}}, signals...)...)
		of[0].Role, of[1].Role, of[0].Range = hil.RoleBusy, hil.RoleLevel, [2]float64{0, room}
		for i := range of {
			of[i].Axis = "shaft"
		}
		s.Model = append(s.Model, of...)
	}
	model("brushes", 150e-6, engine.Signal{Name: "tilt", Unit: "rad"}, engine.Signal{Name: "force", Unit: "N"},
		engine.Signal{Name: "torque", Unit: "N·m"}, engine.Signal{Name: "drop", Unit: "V"},
		engine.Signal{Name: "loss"}, engine.Signal{Name: "unverified"}, engine.Signal{Name: "sparking", Unit: "A"},
		engine.Signal{Name: "substeps"}, engine.Signal{Name: "room"})
	model("laws", 150e-6, engine.Signal{Name: "lugre", Unit: "N·m"}, engine.Signal{Name: "best"})
}

// newRig starts stream and page, and rows that flow until the test ends. edit changes what the rig has.
func newRig(t *testing.T, edit ...func(*hil.Schema)) *rig {
	t.Helper()
	s := schema()
	for _, e := range edit {
		e(&s)
	}
	r := &rig{mode: hil.Ready, rng: rand.New(rand.NewPCG(1, 2)), metrics: sink.NewMetrics(sink.MetricsOptions{Schema: &s})}
	r.info = hil.Info{Version: "v0.0.0-test", ConfigHash: "0123abcd", Schema: s, Start: time.Now(), Mono: 0,
		Note: "no real-time priority in this test"}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	t.Cleanup(func() { cancel(); running.Wait() })

	opt := dashboard.Options{
		Web: dashboard.Web{Listen: "127.0.0.1:0", Commands: true}, Info: r.info, Command: r.command,
		Health: func() []byte { h := r.metrics.Health(); return h.AppendJSON(nil) }, Params: r.parameters,
		Identify: func() (body []byte) { r.with(func() { body = []byte(r.identify) }); return body }, SteadyCurve: steadyCurve,
		Log: slog.New(slog.DiscardHandler),
	}
	for _, o := range s.Owners {
		if o.Kind == hil.AxisOwner {
			opt.Axes = append(opt.Axes, axes[o.Name])
		}
	}
	health := opt.Health
	stream, err := sink.NewStream(sink.StreamOptions{Info: &r.info, Health: health})
	if err != nil {
		t.Fatal(err)
	}
	r.stream, opt.Stream = stream, stream
	opt.State = func() (body []byte) {
		r.with(func() {
			if r.made > 0 {
				body = fmt.Appendf(nil, `{"timestamp":%.6f,"seq":%d,"mode":"%s"}`, float64(r.info.Start.UnixMicro())/1e6+float64(r.made)*1e-3, r.made,
					r.mode)
			}
		})
		return body
	}
	if s.Rig != notRecorded {
		rec, err := sink.NewRecorder(t.TempDir(), r.info, sink.RecorderOptions{Chunk: 200 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		r.disk, r.record = &backlog{}, rec.Path()
		running.Go(func() {
			if err := rec.Run(ctx, r.disk); err != nil {
				t.Error(err)
			}
		})
		opt.History = sink.NewHistory(rec.Path())
		t.Cleanup(func() { opt.History.Close() })
	}
	if r.server, err = dashboard.New(opt); err != nil {
		t.Fatal(err)
	}
	site := r.server.Handler()
	mux := http.NewServeMux()
	mux.Handle("/", site)
	mux.Handle("/api/stream", r.breakable(site))
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	t.Cleanup(func() { r.server.Close() })
	r.url = web.URL
	running.Go(func() { stream.Run(ctx, r) })
	running.Go(func() { r.spin(ctx) })
	return r
}

// breakable lets a test cut the WebSockets and refuse new ones.
func (r *rig) breakable(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if r.refused.Load() {
			http.Error(w, "no stream", http.StatusServiceUnavailable)
			return
		}
		ctx, cancel := context.WithCancel(q.Context())
		defer cancel()
		r.with(func() { r.cut = append(r.cut, cancel) })
		next.ServeHTTP(w, q.WithContext(ctx))
	})
}

// Pop and Dropped make the rig the publisher's source of rows.
func (r *rig) Pop(row *hil.Row) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.rows) == 0 {
		return false
	}
	*row, r.rows = r.rows[0], r.rows[1:]
	return true
}

func (r *rig) Dropped() uint64 { return 0 }

// notRecorded is the name of a rig without a recording.
const notRecorded = "unrecorded"

func withoutRecording(s *hil.Schema) { s.Rig = notRecorded }

// backlog are rows on their way to the recorder.
type backlog struct {
	mu   sync.Mutex
	rows []hil.Row
}

func (b *backlog) push(r *hil.Row) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rows = append(b.rows, *r)
}

func (b *backlog) Pop(r *hil.Row) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.rows) == 0 {
		return false
	}
	*r, b.rows = b.rows[0], b.rows[1:]
	return true
}

func (b *backlog) Dropped() uint64 { return 0 }

// spin makes the rows that are due, every few milliseconds.
func (r *rig) spin(ctx context.Context) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		r.mu.Lock()
		for due := uint64(time.Since(r.info.Start).Milliseconds()); r.made < due; {
			row := r.next()
			switch {
			case r.silent:
			case r.drop > 0:
				r.drop--
			default:
				r.metrics.Add(&row)
				r.rows = append(r.rows, row)
				r.disk.push(&row)
			}
		}
		if len(r.rows) > 5000 {
			r.rows = r.rows[len(r.rows)-5000:]
		}
		r.mu.Unlock()
	}
}

// next is one row: a sine with slow reversals while running, at rest otherwise.
func (r *rig) next() hil.Row {
	const dt = 1e-3
	r.made++
	row := hil.Row{Seq: r.made, T: int64(r.made) * 1e6, Mode: r.mode, Cause: r.cause,
		Lateness: int32(4000 + 2500*math.Abs(r.rng.NormFloat64())), BusyTime: int32(3200 + 300*r.rng.Float64())}
	if r.cause == hil.CauseStale {
		row.CauseSignal, row.Value, row.Limit = 1, 0.0214, 0.02
	}
	if r.rng.IntN(400) == 0 {
		row.Lateness += int32(r.rng.ExpFloat64() * 60e3)
	}
	w, amp := 2*math.Pi*0.4, 3.0
	var pos, vel, acc float64
	if r.mode == hil.Run {
		r.phase += dt
		fade := 1 - math.Exp(-r.phase/3)
		vel, acc = fade*amp*w*math.Cos(w*r.phase), -fade*amp*w*w*math.Sin(w*r.phase)
	}
	pos = amp * math.Sin(w*r.phase)
	noise := r.rng.NormFloat64
	f := stribeck(vel, truth["Fc"], truth["Fs"], truth["vs"], truth["sigma2"], truth["offset"])
	model := stribeck(vel, 0.024, 0.034, 1.0, 0.9e-3, 0)
	torque := f + truth["J"]*acc
	settle, left := 1-0.4*math.Exp(-r.phase/4), 1/math.Sqrt(1+20*r.phase)
	if r.mode != hil.Run {
		row.Flags |= hil.FlagUnexcited
	}
	values := map[string]float64{
		"drive.motor.angle": math.Round((pos+1e-4*noise())/9.6e-5) * 9.6e-5, "drive.motor.current": torque/0.05 + 0.004*noise(),
		"drive.motor.temperature": 24 + 3*(1-math.Exp(-r.phase/60)),
		"drive.age":               4e-4 + 1e-4*r.rng.Float64(), "shaft.est.position": pos, "shaft.est.velocity": vel + 0.01*noise(),
		"shaft.est.current": torque / 0.05, "shaft.est.friction": f + 6e-4*noise(),
		"shaft.rls.J": truth["J"] * settle, "shaft.rls.Fv": truth["sigma2"] * settle, "shaft.rls.Fc": truth["Fc"] * (2 - settle),
		"shaft.rls.offset": 0.001 + 4e-4*left,
		"shaft.rls.J_se":   1e-5 * left, "shaft.rls.Fv_se": 4e-5 * left, "shaft.rls.Fc_se": 2e-4 * left, "shaft.rls.offset_se": 3e-4 * left,
		"shaft.rls.windows": math.Floor(10 * r.phase), "shaft.rls.cond": 12.4,
		"shaft.ref.position": pos + 0.002*math.Sin(9*r.phase), "shaft.ref.velocity": vel, "shaft.ref.acceleration": acc,
		"shaft.ctl.error": 0.002*math.Sin(9*r.phase) + 1e-4*noise(), "shaft.ctl.effort": torque,
		"drive.bus": 24 + 0.1*noise(), "drive.pressure": 1.2e5, "brushes.busy": 88e-6 + 3e-6*noise(), "brushes.tilt": -4e-3,
		"brushes.force": 2.49, "brushes.torque": 0.011, "brushes.drop": 0.61,
		"brushes.loss": 0.031, "brushes.substeps": 50, "brushes.room": 133, "brushes.sparking": 0.42, "laws.busy": 160e-6, "laws.level": 1,
		"laws.lugre": 1.3e-3, "laws.best": -1,
		"shaft.comp.friction": 0.9 * model, "shaft.model.friction": model, "shaft.model.bristle": math.NaN(), "shaft.heat": 0.1,
		"drive.voltage": 0.05*vel + 2*torque/0.05 + 0.02*noise(),
	}
	for i, s := range r.info.Schema.Signals() {
		if strings.Contains(s.Name, ".rls.") && r.phase == 0 {
			continue // as before the first window
		}
		row.X[i] = values[s.Name]
		if strings.Contains(s.Name, "stage.") {
			row.X[i] = 0.1 * values[strings.NewReplacer("drive.stage.", "drive.", "stage.", "shaft.", "rls.M", "rls.J").Replace(s.Name)]
		}
	}
	return row
}

// command is the guard as far as the page can tell: the transitions of its buttons.
func (r *rig) command(_ context.Context, c hil.Command) hil.Reply {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.commands = append(r.commands, c)
	if c.Name == "set" {
		for i, l := range live {
			if v, given := c.Set[l.Name]; given {
				if err := l.Check(v); err != nil {
					return hil.Reply{ID: c.ID, Error: err.Error()}
				}
				r.inForce.V[i] = v
			}
		}
		r.inForce.Gen++
		return hil.Reply{ID: c.ID, OK: true}
	}
	switch c.Name {
	case "accept":
		if r.refuse != "" {
			return hil.Reply{ID: c.ID, Error: r.refuse}
		}
		r.inForce.Sets[0].Encode(&axis.Set{Law: "lugre",
			Params: map[string]float64{"sigma0": 11.2, "sigma1": 0.02, "sigma2": 0.0011, "Fc": 0.0199, "Fs": 0.0305, "vs": 0.81, "vd": 0,
				"offset": 0, "N0": 0}, Motor: map[string]float64{"J": 2.39e-4}})
	case "rollback":
		r.inForce.Sets[0].Encode(nil)
	}
	if slices.Contains(hil.FitCommands, c.Name) {
		r.inForce.Gen++
		return hil.Reply{ID: c.ID, OK: true}
	}
	to, ok := map[string]hil.Mode{
		"ready arm": hil.Armed, "armed run": hil.Run, "hold run": hil.Run, "run hold": hil.Hold, "trip reset": hil.Ready,
		"estop reset":             hil.Ready,
		r.mode.String() + " stop": hil.Ready, r.mode.String() + " estop": hil.Estop,
	}[r.mode.String()+" "+c.Name]
	if !ok {
		return hil.Reply{ID: c.ID, Error: fmt.Sprintf("%s is not possible in %s", c.Name, r.mode)}
	}
	if to != r.mode {
		r.stream.Event(hil.Event{Time: time.Now(), Seq: r.made, Level: "info", Code: "MODE",
			Text: fmt.Sprintf("mode %s → %s (command)", r.mode, to)})
	}
	r.mode = to
	return hil.Reply{ID: c.ID, OK: true}
}

// steadyCurve is that of a law at a few speeds.
func steadyCurve(_, law string, values map[string]float64) (points [][2]float64, err error) {
	l, err := friction.Build(law, values)
	for v := -12.05; err == nil && v < 13; v += 0.1 {
		points = append(points, [2]float64{v, l.SteadyForce(v)})
	}
	return points, err
}

// live are what may be set.
var live = []axis.Param{{Name: "shaft.control.kp", Unit: "N·m/rad", Lo: 0, Hi: math.Inf(1)},
	{Name: "shaft.reference.scale", Lo: 0, Hi: 10}}

// parameters are those in force.
func (r *rig) parameters() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	law := &axis.Set{Law: "lugre", Params: map[string]float64{"Fc": 0.024, "Fs": 0.034}}
	body, err := sink.ParamsJSON(&r.inForce, live, []string{"shaft"}, []*axis.Set{law}, "file", time.Now())
	if err != nil {
		panic(err)
	}
	return body
}

// with changes the rig under its lock.
func (r *rig) with(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}
