package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/engine/failure"
	"hilrig/hil"
	"hilrig/hil/axis"
	"hilrig/hil/daemon"
	"hilrig/hil/dashboard"
	"hilrig/hil/device"
	"hilrig/hil/ring"
	"hilrig/hil/rt"
	"hilrig/hil/sink"
)

// services are the sinks and servers around the supervisor.
type services struct {
	cfg  *configs.Config
	info *hil.Info
	bus  *eventBus
	log  *slog.Logger
	a    *daemon.Assembly
	file rigFile // that runs

	plant bool                              // the rows are those of a virtual rig
	sup   atomic.Pointer[daemon.Supervisor] // set a moment after the servers are up

	metrics   *sink.Metrics
	recorder  *sink.Recorder
	broker    sink.Broker
	pub       *sink.Publisher
	page      *dashboard.Server
	stream    atomic.Pointer[sink.Stream] // of the page; nil: there is no page
	ledger    *daemon.Ledger
	share     *rt.Share // of one processor, for those who ask from outside
	sinks     []daemon.Sink
	fifo      atomic.Bool
	mu        sync.Mutex
	newestRow hil.Row
	liveRows  []*sink.LiveRows       // the last estimates of each axis
	inForce   atomic.Pointer[[]byte] // parameters, as the topic params has them
	block     atomic.Pointer[hil.Params]
	fitter    atomic.Pointer[fitter] // nil: not there yet, or a virtual rig
	handOvers atomic.Uint64          // parameter blocks that came into force
	broken    interrupted            // when the rig ceased to be known as the same
	firstTime int64                  // ns  of the first row
	onFrom    int64                  // ns  of the first row of those with the drive on; 0: it is off
	channels  *channels              // of a dry run; nil otherwise
	closers   []func()
}

// open starts everything but the core. What listens prints where.
func (d *services) open(ctx context.Context, ready *ReadyLine) error {
	cfg := d.cfg
	d.metrics = sink.NewMetrics(sink.MetricsOptions{Schema: &d.info.Schema, WarmUp: 200 * time.Millisecond, Link: d.link, Extra: d.losses})

	if cfg.Record.Enabled {
		rec, err := sink.NewRecorder(cfg.Record.Dir, *d.info,
			sink.RecorderOptions{Chunk: seconds(cfg.Record.Chunk), Event: func(e hil.Event) { logEvent(d.log, e) }})
		if err != nil {
			return report.ExitWith(report.Invalid, err)
		}
		d.recorder = rec
		d.bus.subscribe(rec.Event)
		d.sinks = append(d.sinks, func(ctx context.Context, rows *ring.Reader[hil.Row]) error { return rec.Run(ctx, rows) })
		ready.Run = rec.Dir()
		if cfg.Record.MaxBytes > 0 {
			if _, err := sink.Prune(cfg.Record.Dir, int64(cfg.Record.MaxBytes), rec.Dir()); err != nil {
				d.log.Warn("old recordings could not be removed: " + err.Error())
			}
		}
		ledger, before, err := daemon.OpenLedger(cfg.Record.Dir, cfg.Rig.Name, rec.Dir())
		if err != nil {
			return report.ExitWith(report.Invalid, err)
		}
		d.ledger = ledger
		if before != "" {
			d.bus.emit(hil.Event{Time: time.Now(), Level: "warn", Code: "LAST_RUN", Text: before})
		}
		d.log.Info("recording", "file", rec.Path())
	}
	if cfg.MQTT.Enabled {
		if err := d.openMQTT(ctx, ready); err != nil {
			return err
		}
	}
	if cfg.Web.Enabled {
		return d.openPage(ctx, ready)
	}
	return nil
}

// openMQTT starts the embedded broker, unless another is configured, and connects the publisher.
func (d *services) openMQTT(ctx context.Context, ready *ReadyLine) error {
	m := d.cfg.MQTT
	opt := sink.PublisherOptions{
		MQTT: m, Info: d.info,
		Heard: func(topic string, body []byte) { // a fit that runs elsewhere
			if s := d.stream.Load(); s != nil {
				s.PublishRetained(topic, body)
			}
		},
		Commander: d.command, Metrics: d.metrics, Emit: d.bus.emit, Log: d.log,
	}
	if m.Broker == "" {
		b, err := sink.StartBroker(sink.BrokerOptions{Listen: m.Listen, Prefix: m.Prefix, Rig: d.cfg.Rig.Name, Operator: m.Operator,
			Share: d.share, Log: d.log})
		if err != nil {
			return report.ExitWith(report.Unavailable, err)
		}
		d.broker = b
		d.closers = append(d.closers, func() { b.Close() })
		opt.Broker, opt.Sole = b.URL(), true
		opt.User, opt.Password = b.Login()
		if m.Operator == "" {
			d.log.Info("MQTT broker", "address", b.Addr(), "read", "user viewer, no password", "commands", "user operator, password "+b.Operator())
		} else {
			d.log.Info("MQTT broker", "address", b.Addr())
		}
	}
	ready.MQTT = opt.Broker
	pub, err := sink.NewPublisher(opt)
	if err != nil {
		return report.ExitWith(report.Invalid, err)
	}
	if err := pub.Connect(ctx); err != nil {
		return report.ExitWith(report.Unavailable, err)
	}
	d.pub = pub
	d.closers = append(d.closers, pub.Close)
	d.bus.subscribe(pub.Event)
	d.sinks = append(d.sinks, func(ctx context.Context, rows *ring.Reader[hil.Row]) error { return pub.Run(ctx, rows) })
	return nil
}

// openPage starts the HTTP server.
func (d *services) openPage(ctx context.Context, ready *ReadyLine) error {
	opt := dashboard.Options{
		Web: d.cfg.Web, Info: *d.info, Prefix: d.cfg.MQTT.Prefix, Command: d.command, Share: d.share, Log: d.log,
		Params: d.params,
		Health: func() []byte { h := d.metrics.Health(); return h.AppendJSON(nil) },
	}
	opt.State, opt.Identify = d.state, d.fitJSON
	opt.SteadyCurve = func(axis, law string, values map[string]float64) ([][2]float64, error) {
		return axisSteadyCurve(d.cfg, axis, law, values)
	}
	health := d.metrics.Health
	if d.pub != nil {
		opt.State, opt.Health, health = d.pub.State, d.pub.HealthJSON, d.pub.Health
	}
	opt.Metrics = sink.PrometheusHandler(d.info, d.metrics, health)
	if d.recorder != nil {
		opt.History = sink.NewHistory(d.recorder.Path())
		d.closers = append(d.closers, func() { opt.History.Close() })
	}
	for i := range d.cfg.Axes {
		opt.Axes = append(opt.Axes, pageAxis(d.cfg, &d.cfg.Axes[i], d.plant))
	}
	if d.broker != nil {
		opt.MQTT = d.broker.Handler()
	}
	stream, err := sink.NewStream(sink.StreamOptions{Info: d.info, Batch: d.cfg.MQTT.Batch, Estimate: d.cfg.MQTT.Estimate, Health: opt.Health})
	if err != nil {
		return report.ExitWith(report.Invalid, err)
	}
	d.stream.Store(stream)
	opt.Stream = stream
	d.bus.subscribe(stream.Event)
	d.sinks = append(d.sinks, func(ctx context.Context, rows *ring.Reader[hil.Row]) error { return stream.Run(ctx, rows) })
	page, err := dashboard.New(opt)
	if err != nil {
		return report.ExitWith(report.Unavailable, err)
	}
	d.page = page
	ready.Page = "http://" + page.Addr()
	d.log.Info("page", "open", ready.Page)
	done := make(chan struct{})
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer failure.Report()
		defer close(done)
		if err := page.Run(own); err != nil {
			d.log.Error("page: " + err.Error())
		}
	}()
	d.closers = append(d.closers, func() { cancel(); <-done })
	return nil
}

// row sees every row in the supervisor's pump.
func (d *services) row(r *hil.Row) {
	d.metrics.Add(r)
	if d.channels != nil {
		d.channels.see(r)
	}
	d.mu.Lock()
	if d.newestRow.Seq == 0 {
		d.firstTime = r.T
	}
	switch on := r.Mode.Energised(); {
	case !on:
		d.onFrom = 0
	case d.onFrom == 0:
		d.onFrom = r.T
	}
	switch at := float64(r.T-d.firstTime) * 1e-9; {
	case d.newestRow.Seq > 0 && r.Epoch != d.newestRow.Epoch:
		d.broken = interrupted{at, "the core was started anew"}
	case r.Flags&hil.FlagLinkDown != 0:
		d.broken = interrupted{at, "the port was away"}
	}
	trips := (r.Mode == hil.Trip || r.Mode == hil.Estop) && r.Mode != d.newestRow.Mode && !d.plant
	d.newestRow = *r
	for _, l := range d.liveRows {
		l.See(r)
	}
	d.mu.Unlock()
	if trips {
		d.log.Info("what to do: " + report.AsStarted(d.afterTrip(r.Cause, false)))
	}
}

// driveOnTime is the time of the newest row and for how long the drive has been on, s; on is −1 while it is off, and all of the run where
// nothing is driven.
func (d *services) driveOnTime() (now, on float64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now = float64(d.newestRow.T-d.firstTime) * 1e-9
	switch {
	case d.info.DryRun || !d.cfg.HasDrive():
		return now, now
	case d.onFrom == 0:
		return now, -1
	}
	return now, float64(d.newestRow.T-d.onFrom) * 1e-9
}

// recordNow is a part of the run, and what has become of the run since.
func (d *services) recordNow(part [2]float64) record {
	d.mu.Lock()
	defer d.mu.Unlock()
	return record{startTime: part[0], endTime: part[1], newestTime: float64(d.newestRow.T-d.firstTime) * 1e-9, broken: d.broken}
}

// state is the newest row as the page polls it when there is no MQTT.
func (d *services) state() []byte {
	d.mu.Lock()
	r := d.newestRow
	d.mu.Unlock()
	if r.Seq == 0 {
		return nil
	}
	m := map[string]any{
		"timestamp": float64(d.info.Wall(r.T).UnixMicro()) / 1e6, "seq": r.Seq, "mode": r.Mode.String(), "armed": r.Mode == hil.Armed ||
			r.Mode.Energised(), "late_us": float64(r.Lateness) / 1e3,
	}
	for i, s := range d.info.Schema.Signals() {
		if x := r.X[i]; x-x == 0 {
			m[s.Name] = x
		} else {
			m[s.Name] = nil
		}
	}
	data, err := json.Marshal(m)
	if err != nil {
		return nil
	}
	return data
}

// command carries a command to the supervisor, which exists a moment after the servers do.
func (d *services) command(ctx context.Context, c hil.Command) hil.Reply {
	if d.plant {
		return hil.Reply{ID: c.ID, Error: "this is the virtual rig; commands are for the controller on its port"}
	}
	if slices.Contains(hil.FitCommands, c.Name) {
		if f := d.fitter.Load(); f != nil {
			return f.command(ctx, c)
		}
		return hil.Reply{ID: c.ID, Error: "the run has only begun"}
	}
	if d.sup.Load() == nil {
		return hil.Reply{ID: c.ID, Error: "the core is not running yet"}
	}
	return d.sup.Load().Command(ctx, c)
}

// offered records a parameter block before the tick takes it: rows name its generation when it did.
func (d *services) offered(p hil.Params, t int64) {
	if d.recorder != nil {
		d.recorder.Params(p, d.a.Names(), t)
	}
}

// inForceNow counts and tells a parameter block that came into force.
func (d *services) inForceNow(p hil.Params, from string) {
	d.handOvers.Add(1)
	d.publishParams(&p, from)
}

// fit is status and result of the identification beside the loop, as its topics have them; nil: there is none.
func (d *services) fit() (status, result []byte) {
	if f := d.fitter.Load(); f != nil {
		return f.texts()
	}
	return nil, nil
}

// fitJSON is what the page asks for: status and result in one.
func (d *services) fitJSON() []byte {
	status, result := d.fit()
	if status == nil {
		return nil
	}
	return fmt.Appendf(nil, `{"status":%s,"result":%s}`, status, result)
}

// params are those in force, as the topic params has them; nil: not known yet.
func (d *services) params() []byte {
	if body := d.inForce.Load(); body != nil {
		return *body
	}
	return nil
}

// publishParams publishes the parameters in force.
func (d *services) publishParams(p *hil.Params, from string) {
	models := make([]*axis.Set, len(d.cfg.Axes))
	for i := range d.cfg.Axes {
		if law := d.cfg.Axes[i].Friction.Model; law != nil {
			models[i] = axis.SetOf(law)
		}
	}
	body, err := sink.ParamsJSON(p, d.a.LiveParams, d.a.Schema.Axes(), models, from, time.Now())
	if err != nil {
		d.log.Error(fmt.Sprintf("parameters in force: %v", err))
		return
	}
	d.inForce.Store(&body)
	d.block.Store(p)
	d.publish(sink.RetainedParams, body)
}

// publish sends a message on a topic that is kept, to the broker and to the pages.
func (d *services) publish(topic sink.RetainedTopic, body []byte) {
	if d.pub != nil {
		d.pub.PublishRetained(topic, body)
	}
	if s := d.stream.Load(); s != nil {
		s.PublishRetained(topic.String(), body)
	}
}

// link are the counters of the devices for the health report, each under the name of its device.
func (d *services) link() map[string]float64 {
	if d.sup.Load() == nil {
		return nil
	}
	all := map[string]float64{}
	for i, p := range d.a.Ports {
		st := d.sup.Load().Link(i)
		for key, x := range linkMap(&st) {
			all[p.Name+"."+key] = x
		}
	}
	return all
}

// losses are what did not get through, for the health report.
func (d *services) losses(add func(string, float64)) {
	if d.bus.outlets != nil {
		add("log_lines_lost", float64(d.bus.outlets.State().LostLines))
	}
	if d.sup.Load() != nil {
		add("rows_dropped", float64(d.sup.Load().LostRows()))
		add("supervisor_gap_max_ms", float64(d.sup.Load().Gap().Microseconds())/1e3)
		add("core_heap_bytes", d.sup.Load().CoreHeap())
	}
	add("hand_overs", float64(d.handOvers.Load()))
	if d.recorder != nil {
		add("record_rows_lost", float64(d.recorder.Stats().LostRows))
	}
	if d.broker != nil {
		st := d.broker.Stats()
		add("broker_messages_dropped", float64(st.Dropped))
		add("broker_full", float64(st.RefusedConnections))
	}
}

// linkMap names the counters of a device.
func linkMap(st *device.Stats) map[string]float64 {
	return map[string]float64{
		"connected": float64(st.Connected), "bytes": float64(st.Bytes), "frames": float64(st.Frames),
		"bad": float64(st.Malformed), "misfits": float64(st.Misfits), "resync_bytes": float64(st.Resync), "oversize": float64(st.Oversize),
		"foreign": float64(st.Foreign), "gaps": float64(st.Gaps), "repeats": float64(st.Repeats), "restarts": float64(st.Restarts),
		"nonfinite": float64(st.NonFinite), "reconnects": float64(st.Reconnects), "begun": float64(st.DeviceRestarts),
		"age_us":    knownDuration(st.Age) / 1e3,
		"tx_frames": float64(st.TxFrames), "tx_bytes": float64(st.TxBytes), "tx_errors": float64(st.TxErrors),
		"tx_dropped": float64(st.TxDropped),
		"timeouts":   float64(st.Timeouts), "late_replies": float64(st.LateReplies), "refusals": float64(st.Refusals),
		"commands_refused": float64(st.CommandsRefused), "commands_unanswered": float64(st.CommandsUnanswered),
		"clock_drift_ppm": st.DriftPPM, "clock_offset_us": knownDuration(st.Offset) / 1e3,
		"clock_residual_p99_us": knownDuration(st.Residual) / 1e3,
		"clock_jumps":           float64(st.ClockJumps), "clock_rates": float64(st.ClockRates), "arrived": float64(st.Arrived),
		"clock_stalled_us": float64(st.ClockStalled) / 1e3, "clock_wrap_us": float64(st.ClockWrap) / 1e3,
	}
}

// knownDuration is a duration in ns as a number; NaN for 0, which stands for what is not known yet.
func knownDuration(ns int64) float64 {
	if ns == 0 {
		return math.NaN()
	}
	return float64(ns)
}

// coreStarted is told that a core ticks.
func (d *services) coreStarted(out io.Writer, print bool, ready ReadyLine, pid int, fifo bool) {
	d.fifo.Store(fifo)
	if print {
		ready.Core = pid
		json.NewEncoder(out).Encode(ready)
	}
}

// ledgerLoop notes once a second how far the run has come.
func (d *services) ledgerLoop(ctx context.Context) {
	if d.ledger == nil {
		return
	}
	every(ctx, time.Second, func() {
		if err := d.ledger.Update(d.sup.Load().Mode().String(), d.sup.Load().Rows()); err != nil {
			d.log.Warn("ledger: " + err.Error())
		}
	})
}

// every does something once a period until ctx ends.
func every(ctx context.Context, period time.Duration, do func()) {
	defer failure.Report()
	t := time.NewTicker(period)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			do()
		}
	}
}

// coreLog is where the core leaves its last words.
func (d *services) coreLog() string {
	if d.recorder == nil {
		return ""
	}
	path, err := filepath.Abs(daemon.CoreLog(d.recorder.Dir()))
	if err != nil {
		return ""
	}
	return path
}

func (d *services) close() {
	for i := len(d.closers) - 1; i >= 0; i-- {
		d.closers[i]()
	}
	if d.ledger != nil && d.sup.Load() == nil { // nothing has run
		if err := d.ledger.Close("", 0); err != nil {
			d.log.Warn("ledger: " + err.Error())
		}
	}
	if d.recorder == nil {
		return
	}
	if st := d.recorder.Stats(); st.Rows == 0 && st.LostRows == 0 {
		if err := d.recorder.Discard(); err != nil {
			d.log.Warn("a recording without a row could not be removed: " + err.Error())
		}
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// logEvent writes an event as a log line.
func logEvent(log *slog.Logger, e hil.Event) {
	level := slog.LevelInfo
	switch e.Level {
	case "warn":
		level = slog.LevelWarn
	case "error":
		level = slog.LevelError
	}
	args := []any{"code", e.Code}
	if e.Seq > 0 {
		args = append(args, "tick", e.Seq)
	}
	log.Log(context.Background(), level, e.Text, args...)
}
