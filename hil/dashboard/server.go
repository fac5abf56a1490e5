// Package dashboard serves the page on which a laboratory watches its rig: live traces, the mode and its buttons, how late
// the ticks were, the estimated parameters with their uncertainty, and the friction-velocity curve filling in.
//
// The page is plain HTML, CSS and JavaScript, embedded in the binary together with uPlot; a browser needs
// nothing but this server. Data reach it over a WebSocket at /api/stream, under the names and with the payloads of the MQTT topics,
// whatever broker there is, or none. What it missed, and what was before it was opened, it reads from the recording at /api/history.
//
// Commands go the other way over HTTP, POST /api/cmd/<name>, because the page's MQTT user may only read (docs/adr/0005-page-commands.md).
// Three rules guard them:
//
//   - a browser sends them only from our own page: the Origin must be this server, the Host must be a name that only this
//     machine has (an attacker's name that was pointed at 127.0.0.1 is refused), and the header X-Hil must be there, which
//     a foreign page cannot set without asking;
//   - stop, hold and estop are always carried to the tick;
//   - everything else needs Web.Commands and a browser on this machine.
//
// The page is no safety channel: it stops the rig through a browser, a network stack and a scheduler, and any of them may
// be slow. See docs/reference/safety.md.
//
// Assumptions: one rig per server; a handful of readers. Nothing here runs in or near the tick.
package dashboard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"hilrig/engine/failure"
	"hilrig/hil"
	"hilrig/hil/rt"
	"hilrig/hil/sink"
)

// Web is the section of the page.
type Web struct {
	Enabled  bool   `yaml:"enabled" doc:"serve the page"`
	Listen   string `yaml:"listen" doc:"address of the page; the next free port is taken if this one is busy"`
	Commands bool   `yaml:"commands" doc:"buttons on the page may arm and run; stop always works"`
}

// Options says what the page shows and what it may do.
type Options struct {
	Web
	Hosts []string // further names under which browsers may address this server, beside localhost, IP addresses and this machine's name
	Info  hil.Info // what runs: names and units of the signals, rate, version

	Prefix string       // first part of the topics; "" is "hil"
	Stream *sink.Stream // what the page shows; nil: the newest state alone
	MQTT   http.Handler // MQTT over WebSocket from the embedded broker, mounted at /mqtt for other programs; nil: none

	Command hil.Commander // carries commands to the tick; nil: the page only shows

	State  func() []byte // newest state, the JSON of the topic "state"; nil or empty result: none yet
	Params func() []byte // parameters in force, the JSON of the topic "params"
	Health func() []byte // newest health, the JSON of the topic "health"

	Metrics http.Handler // answers a scrape of Prometheus at /metrics; nil: none

	History History       // the run so far; nil: it is not recorded
	Events  func() []byte // what happened, an array of the JSON of the topic "event", oldest first; nil: that of Stream

	// {"status": …, "result": …}, as on the topics identify/status and identify/result; nil or empty: nothing identifies
	Identify func() []byte
	// the steady curve of a law with all its numbers, as Axis.Curve
	SteadyCurve func(axis, law string, values map[string]float64) ([][2]float64, error)

	Axes []Axis // what is known of each axis beside its estimates

	Share *rt.Share    // what requests but stops wait for; nil: nothing
	Log   *slog.Logger // nil: slog.Default()
}

// History serves windows of recorded rows as JSON; *sink.History is one.
type History interface {
	Longest(rate float64) float64 // s  a window of a run with this rate (Hz) can hold
	Window(ctx context.Context, q sink.HistoryWindow) ([]byte, error)
	Close() error
}

// Limits of the server. A page needs a handful of small requests; whatever is slower or larger than this is not a page.
const (
	headerTime   = 5 * time.Second  // to send the request's header
	readTime     = 10 * time.Second // to send the whole request
	writeTime    = 30 * time.Second // to take our answer
	idleTime     = 2 * time.Minute  // between two requests of one connection
	graceTime    = 2 * time.Second  // for requests under way when the daemon ends
	commandTime  = 3 * time.Second  // for the tick to take a command; it answers within a tick, so this means trouble
	headerBytes  = 16 << 10
	commandBytes = 64 << 10
	portTries    = 50 // ports tried after a busy one
)

// Server is the page's HTTP server. New opens its port; Run serves.
type Server struct {
	opt          Options
	log          *slog.Logger
	listeners    []net.Listener
	addr         string
	hosts        map[string]bool // names a browser may use for us, lower case
	policy       string          // Content-Security-Policy
	assets       map[string]asset
	info         infoJSON
	commandSlots chan struct{} // a slot per command under way, but for stop, hold, estop
	recording    History       // of a view, closed with the server; nil: there is a rig
}

// New checks the options and opens the port. The caller prints Addr; Run must follow, or Close.
func New(opt Options) (*Server, error) {
	opt.Listen = cmp.Or(opt.Listen, "localhost:8080")
	opt.Prefix = cmp.Or(opt.Prefix, "hil")
	if opt.Events == nil && opt.Stream != nil {
		opt.Events = opt.Stream.EventsJSON
	}
	s := &Server{opt: opt, log: opt.Log, commandSlots: make(chan struct{}, 8)}
	if s.log == nil {
		s.log = slog.Default()
	}
	var err error
	if s.assets, err = loadAssets(); err != nil {
		return nil, err
	}
	if s.listeners, s.addr, err = listen(opt.Listen); err != nil {
		return nil, err
	}
	s.hosts = ownNames(opt)
	s.policy = contentPolicy
	s.info = describe(&s.opt)
	return s, nil
}

// Addr is the host:port to open in a browser on this machine.
func (s *Server) Addr() string { return s.addr }

// Run serves until ctx ends, then lets requests under way finish for two seconds. It returns nil after such an end and
// leaves no goroutine behind; WebSockets of /mqtt end with the broker's handler, whose request context is cancelled.
func (s *Server) Run(ctx context.Context) error {
	if s.recording != nil {
		defer s.recording.Close()
	}
	base, cancel := context.WithCancel(ctx)
	defer cancel()
	srv := &http.Server{
		Handler:           s.Handler(),
		BaseContext:       func(net.Listener) context.Context { return base },
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       readTime,
		WriteTimeout:      writeTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    headerBytes,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	ended := make(chan error, len(s.listeners))
	for _, l := range s.listeners {
		go func() {
			defer failure.Report()
			ended <- srv.Serve(l)
		}()
	}

	// serve until told to end, or until a listener fails
	var failed error
	running := len(s.listeners)
	select {
	case <-ctx.Done():
	case failed = <-ended:
		running--
	}

	// let go: first politely, then not
	grace, stop := context.WithTimeout(context.WithoutCancel(ctx), graceTime)
	defer stop()
	cancel()
	if err := srv.Shutdown(grace); err != nil {
		srv.Close()
	}
	for range running {
		<-ended
	}
	if failed != nil && !errors.Is(failed, http.ErrServerClosed) {
		return fmt.Errorf("dashboard: serving %s: %w", s.addr, failed)
	}
	return nil
}

// Handler is the whole site; Run serves it, tests call it.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", s.healthz)
	mux.HandleFunc("GET /api/info", s.getInfo)
	mux.HandleFunc("GET /api/state", serveNewest(s.opt.State, "state"))
	mux.HandleFunc("GET /api/health", serveNewest(s.opt.Health, "health"))
	mux.HandleFunc("GET /api/params", serveNewest(s.opt.Params, "parameters"))
	mux.HandleFunc("GET /api/history", s.getHistory)
	mux.HandleFunc("GET /api/events", serveNewest(s.opt.Events, "events"))
	mux.HandleFunc("GET /api/stream", s.getStream)
	mux.HandleFunc("GET /api/identify", serveNewest(s.opt.Identify, "identification"))
	mux.HandleFunc("GET /api/steady", s.getSteady)
	mux.HandleFunc("POST /api/cmd/{name}", s.postCommand)
	if s.opt.MQTT != nil {
		mux.Handle("GET /mqtt", s.opt.MQTT)
	}
	if s.opt.Metrics != nil {
		mux.Handle("GET /metrics", s.opt.Metrics)
	}
	mux.HandleFunc("GET /", s.getAsset)
	return s.guard(mux)
}

// healthz answers 200 while the server serves and rows arrive, 503 before the first.
func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if s.opt.State != nil && len(s.opt.State()) == 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintln(w, "starting: no row from the loop yet")
		return
	}
	fmt.Fprintln(w, "ok")
}

// serveNewest serves the JSON that get returns, for clients that have curl and no MQTT.
func serveNewest(get func() []byte, what string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		var body []byte
		if get != nil {
			body = get()
		}
		if len(body) == 0 {
			http.Error(w, "no "+what+" yet", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write(body)
	}
}

// ownNames lists the names under which a browser may address this server.
func ownNames(opt Options) map[string]bool {
	names := map[string]bool{"localhost": true}
	if host, err := os.Hostname(); err == nil {
		names[strings.ToLower(host)] = true
		names[strings.ToLower(host)+".local"] = true
	}
	if host, _, err := net.SplitHostPort(opt.Listen); err == nil {
		names[strings.ToLower(host)] = true
	}
	for _, h := range opt.Hosts {
		names[strings.ToLower(h)] = true
	}
	delete(names, "")
	return names
}
