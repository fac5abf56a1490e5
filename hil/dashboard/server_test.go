package dashboard_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"hilrig/hil"
	"hilrig/hil/dashboard"
	"hilrig/hil/sink"
)

func serve(t *testing.T, opt dashboard.Options) *dashboard.Server {
	t.Helper()
	if opt.Listen == "" {
		opt.Listen = "127.0.0.1:0"
	}
	opt.Info.Schema = schema()
	opt.Log = slog.New(slog.DiscardHandler)
	s, err := dashboard.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// ask sends one request to the site as a client at an address would.
func ask(s *dashboard.Server, method, path, from string, header map[string]string, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://localhost:8080"+path, strings.NewReader(body))
	r.RemoteAddr = from
	for k, v := range header {
		if k == "Host" {
			r.Host = v
			continue
		}
		r.Header.Set(k, v)
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}

const (
	here  = "127.0.0.1:50000"
	there = "192.0.2.7:50000" // another machine, [RFC 5737]
)

// Who may command what: the rules of the package comment, each refusal with its reason.
func TestCommandRights(t *testing.T) {
	hilHeader := map[string]string{"X-Hil": "1"}
	with := func(k, v string) map[string]string { return map[string]string{"X-Hil": "1", k: v} }
	cases := []struct {
		name, cmd, from string
		header          map[string]string
		allow           bool
		body            string
		status          int
		reached         bool
		says            string
	}{
		{"arm at the rig", "arm", here, hilHeader, true, `{"id":"a1"}`, 200, true, `"id":"a1","ok":true`},
		{"arm over IPv6", "arm", "[::1]:5", hilHeader, true, ``, 200, true, `"ok":true`},
		{"arm from afar", "arm", there, hilHeader, true, ``, 403, false, "from another machine"},
		{"arm through a proxy", "arm", here, with("X-Forwarded-For", "192.0.2.7"), true, ``, 403, false, "from another machine"},
		{"arm not allowed", "arm", here, hilHeader, false, ``, 403, false, "web.commands is off"},
		{"stop from afar", "stop", there, hilHeader, false, `{"id":"s"}`, 200, true, `"id":"s","ok":true`},
		{"hold from afar", "hold", there, hilHeader, false, ``, 200, true, `"ok":true`},
		{"estop from afar", "estop", there, hilHeader, false, ``, 200, true, `"ok":true`},
		{"stop with a broken body", "stop", there, hilHeader, false, `{"id":`, 200, true, `"ok":true`},
		{"arm with a broken body", "arm", here, hilHeader, true, `{"id":`, 400, false, "body is not"},
		{"arm with an unknown key", "arm", here, hilHeader, true, `{"ident":"x"}`, 400, false, "unknown field"},
		{"stop without our header", "stop", here, nil, true, ``, 403, false, "X-Hil"},
		{"stop from a foreign page", "stop", here, with("Origin", "http://evil.example"), true, ``, 403, false, "another site"},
		{"stop from a page on another port", "stop", here, with("Origin", "http://localhost:9999"), true, ``, 403, false, "another site"},
		{"stop from a sandboxed page", "stop", here, with("Origin", "null"), true, ``, 403, false, "another site"},
		{"stop from our page", "stop", here, with("Origin", "http://localhost:8080"), true, ``, 200, true, `"ok":true`},
		{"a name pointed at us", "stop", here, map[string]string{"X-Hil": "1", "Host": "evil.example:8080",
			"Origin": "http://evil.example:8080"}, true, ``, 403, false, "not called evil.example"},
		{"a name we were given", "arm", here, map[string]string{"X-Hil": "1", "Host": "bench.lab:8080", "Origin": "http://bench.lab:8080"}, true,
			``, 200, true, `"ok":true`},
		{"our address", "arm", here, with("Host", "[2001:db8::1]:8080"), true, ``, 200, true, `"ok":true`},
		{"unknown command", "fly", here, hilHeader, true, ``, 400, false, "unknown command"},
		{"trip is not for the page", "trip", here, hilHeader, true, ``, 400, false, "unknown command"},
		{"set", "set", here, hilHeader, true, `{"set":{"control.kp":0.5}}`, 200, true, `"ok":true`},
		{"set nothing", "set", here, hilHeader, true, `{}`, 400, false, "want {"},
		{"set too large", "set", here, hilHeader, true, `{"set":{"a":1e999}}`, 400, false, "body is not"},
		{"set null", "set", here, hilHeader, true, `{"set":{"control.kp":null}}`, 400, false, "set.control.kp: null"},
		{"set twice", "set", here, hilHeader, true, `{"set":{"control.kp":1,"control.kp":2}}`, 400, false,
			"set.control.kp: the key stands twice"},
		{"set text", "set", here, hilHeader, true, `{"set":{"control.kp":"1"}}`, 400, false, "is no number"},
		{"adopt null", "adopt", here, hilHeader, true, `{"adopt":{"axis":"shaft","law":"lugre","params":{"Fc":null}}}`, 400, false,
			"adopt.params.Fc: null"},
		{"refused by the guard", "run", here, hilHeader, true, `{"id":"r"}`, 409, true, `"ok":false,"error":"run is not possible in ready"`},
		{"a long body", "arm", here, hilHeader, true, `{"id":"` + strings.Repeat("x", 1<<20) + `"}`, 400, false, "too large"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var got *hil.Command
			s := serve(t, dashboard.Options{Web: dashboard.Web{Commands: c.allow}, Hosts: []string{"Bench.Lab"},
				Command: func(ctx context.Context, cmd hil.Command) hil.Reply {
					got = &cmd
					if _, ok := ctx.Deadline(); !ok {
						t.Error("the command has no deadline")
					}
					if cmd.Name == "run" {
						return hil.Reply{ID: cmd.ID, Error: "run is not possible in ready"}
					}
					return hil.Reply{ID: cmd.ID, OK: true}
				}})
			w := ask(s, "POST", "/api/cmd/"+c.cmd, c.from, c.header, c.body)
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) {
				t.Errorf("answer %d %s, want %d with %q", w.Code, w.Body, c.status, c.says)
			}
			switch {
			case (got != nil) != c.reached:
				t.Errorf("command reached the tick: %v, want %v", got != nil, c.reached)
			case got != nil && (got.Name != c.cmd || got.Source != "web" || got.ID == ""):
				t.Errorf("the tick got %+v", *got)
			}
			if c.name == "set" && (got == nil || got.Set["control.kp"] != 0.5) {
				t.Error("set lost its parameter")
			}
		})
	}
}

// A page without a commander shows and says so; a GET never commands.
func TestReadOnlyPage(t *testing.T) {
	s := serve(t, dashboard.Options{Web: dashboard.Web{Commands: true}})
	if w := ask(s, "POST", "/api/cmd/stop", here, map[string]string{"X-Hil": "1"}, ""); w.Code != 403 ||
		!strings.Contains(w.Body.String(), "only shows") {
		t.Errorf("stop: %d %s", w.Code, w.Body)
	}
	if w := ask(s, "GET", "/api/cmd/stop", here, map[string]string{"X-Hil": "1"}, ""); w.Code == 200 {
		t.Errorf("GET of a command: %d", w.Code)
	}
}

// A flood of commands that hang is bounded, and a stop still goes through.
func TestStopPassesBusyCommands(t *testing.T) {
	release, began := make(chan struct{}), make(chan struct{}, 100)
	s := serve(t, dashboard.Options{Web: dashboard.Web{Commands: true}, Command: func(_ context.Context, c hil.Command) hil.Reply {
		if c.Name == "arm" {
			began <- struct{}{}
			<-release
		}
		return hil.Reply{ID: c.ID, OK: true}
	}})
	header := map[string]string{"X-Hil": "1"}
	done := make(chan int, 100)
	for range 8 {
		go func() { done <- ask(s, "POST", "/api/cmd/arm", here, header, "").Code }()
		<-began
	}
	if w := ask(s, "POST", "/api/cmd/arm", here, header, ""); w.Code != 503 {
		t.Errorf("ninth hanging command: %d, want 503", w.Code)
	}
	if w := ask(s, "POST", "/api/cmd/stop", here, header, ""); w.Code != 200 {
		t.Errorf("stop beside eight hanging commands: %d, want 200", w.Code)
	}
	close(release)
	for range 8 {
		<-done
	}
}

func TestInfo(t *testing.T) {
	opt := dashboard.Options{Prefix: "lab", Web: dashboard.Web{Commands: true},
		Axes:    []dashboard.Axis{{Name: "shaft", Model: map[string]float64{"Fc": 0.02}}},
		Command: func(_ context.Context, c hil.Command) hil.Reply { return hil.Reply{OK: true} }}
	s := serve(t, opt)
	var in struct {
		Rig, Topics string
		RateHz      float64 `json:"rate_hz"`
		Channels    []sink.Channel
		Axes        []dashboard.Axis
		Commands    struct {
			Stop, All bool
			Reason    string
		}
	}
	w := ask(s, "GET", "/api/info", here, nil, "")
	if err := json.Unmarshal(w.Body.Bytes(), &in); err != nil {
		t.Fatal(err)
	}
	if in.Rig != "bench" || in.Topics != "lab/bench" || in.RateHz != 1000 || in.Axes[0].Model["Fc"] != 0.02 {
		t.Errorf("info %s", w.Body)
	}
	sc := schema()
	if len(in.Channels) != sc.Len() || in.Channels[0] != (sink.Channel{Name: "drive.motor.angle", Unit: "rad", Block: "measured",
		Owner: "drive", Axis: "shaft", Role: "position"}) ||
		in.Channels[len(in.Channels)-2] != (sink.Channel{Name: "drive.voltage", Unit: "V", Block: "command", Owner: "drive", Axis: "shaft",
			Role: "command"}) {
		t.Errorf("channels %+v", in.Channels)
	}
	if !in.Commands.All {
		t.Errorf("at the rig: %+v, want all", in.Commands)
	}
	if err := json.Unmarshal(ask(s, "GET", "/api/info", there, nil, "").Body.Bytes(), &in); err != nil || in.Commands.All ||
		!in.Commands.Stop || in.Commands.Reason == "" {
		t.Errorf("from afar: %+v, want stop only, with the reason", in.Commands)
	}
}

// curl users get the newest state and health, and an honest 503 before there is one.
func TestNewest(t *testing.T) {
	var state []byte
	s := serve(t, dashboard.Options{State: func() []byte { return state }})
	if w := ask(s, "GET", "/api/state", here, nil, ""); w.Code != 503 {
		t.Errorf("state before the first row: %d", w.Code)
	}
	if w := ask(s, "GET", "/healthz", here, nil, ""); w.Code != 503 {
		t.Errorf("healthz before the first row: %d", w.Code)
	}
	state = []byte(`{"seq":1,"mode":"ready"}`)
	if w := ask(s, "GET", "/api/state", here, nil, ""); w.Code != 200 || w.Body.String() != string(state) ||
		w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("state: %d %s %s", w.Code, w.Header().Get("Content-Type"), w.Body)
	}
	if w := ask(s, "GET", "/healthz", here, nil, ""); w.Code != 200 {
		t.Errorf("healthz: %d", w.Code)
	}
	if w := ask(s, "GET", "/api/health", here, nil, ""); w.Code != 503 {
		t.Errorf("health without a source: %d", w.Code)
	}
}

// The page keeps to itself: security headers everywhere, nothing loaded from elsewhere, unchanged files not sent twice.
func TestAssets(t *testing.T) {
	s := serve(t, dashboard.Options{})
	for path, kind := range map[string]string{"/": "text/html", "/main.js": "text/javascript", "/style.css": "text/css",
		"/icon.svg":                       "image/svg+xml",
		"/vendor/uplot/uPlot.iife.min.js": "text/javascript",
		"/vendor/uplot/LICENSE":           "text/plain"} {
		w := ask(s, "GET", path, there, nil, "")
		if w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), kind) || w.Body.Len() == 0 {
			t.Errorf("%s: %d %s, %d bytes", path, w.Code, w.Header().Get("Content-Type"), w.Body.Len())
		}
		csp := w.Header().Get("Content-Security-Policy")
		if !strings.Contains(csp, "default-src 'none'") || !strings.HasSuffix(csp,
			"connect-src 'self' ws://localhost:8080 wss://localhost:8080") {
			t.Errorf("%s: policy %q", path, csp)
		}
		if again := ask(s, "GET", path, there, map[string]string{"If-None-Match": w.Header().Get("ETag")}, ""); again.Code != 304 {
			t.Errorf("%s: unchanged, but sent again with %d", path, again.Code)
		}
	}
	for _, path := range []string{"/nothing", "/assets/index.html", "/../server.go", "/vendor/"} {
		if w := ask(s, "GET", path, here, nil, ""); w.Code == 200 {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	// our own files name no other host
	away := regexp.MustCompile(`https?://[^\s'"` + "`" + `]+`)
	files, err := filepath.Glob("assets/*.*")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files in assets, %v", len(files), err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range away.FindAllString(string(b), -1) {
			if u != "http://www.w3.org/2000/svg" {
				t.Errorf("%s points to %s", f, u)
			}
		}
	}
}

// A busy port moves the page to the next free one; hopeless addresses are refused with what to do.
func TestListen(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	port := busy.Addr().(*net.TCPAddr).Port
	s := serve(t, dashboard.Options{Web: dashboard.Web{Listen: busy.Addr().String()}})
	_, got, _ := net.SplitHostPort(s.Addr())
	if got == fmt.Sprint(port) {
		t.Errorf("listens on %s, which is taken", s.Addr())
	}

	// localhost is both loopback addresses on one port
	l := serve(t, dashboard.Options{Web: dashboard.Web{Listen: "localhost:0"}})
	host, p, _ := net.SplitHostPort(l.Addr())
	if host != "localhost" {
		t.Errorf("shown as %s", l.Addr())
	}
	if other, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", p)); err == nil {
		other.Close()
		t.Error("127.0.0.1 was left open to others")
	}

	for addr, want := range map[string]string{"8080": "want host:port", "localhost:http": "want a number", "localhost:70000": "want a number",
		"203.0.113.1:8080": "listen on"} {
		if _, err := dashboard.New(dashboard.Options{Web: dashboard.Web{Listen: addr}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("listen %q: %v, want an error with %q", addr, err, want)
		}
	}
}

// Run serves, ends with its context, gives the port back and leaves no goroutine.
func TestRunEnds(t *testing.T) {
	before := runtime.NumGoroutine()
	opt := dashboard.Options{Web: dashboard.Web{Listen: "localhost:0"}, State: func() []byte { return []byte("{}") },
		Log: slog.New(slog.DiscardHandler)}
	opt.Info.Schema = schema()
	s, err := dashboard.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	client := &http.Client{Transport: &http.Transport{}, Timeout: 5 * time.Second}
	resp, err := client.Get("http://" + s.Addr() + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if string(body) != "ok\n" {
		t.Errorf("healthz says %q", body)
	}
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("Run: %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("Run does not end")
	}
	client.CloseIdleConnections()
	if _, err := client.Get("http://" + s.Addr() + "/healthz"); err == nil {
		t.Error("the port still answers")
	}
	for begun := time.Now(); runtime.NumGoroutine() > before; time.Sleep(10 * time.Millisecond) {
		if time.Since(begun) > 5*time.Second {
			buf := make([]byte, 1<<16)
			t.Fatalf("%d goroutines before, %d after:\n%s", before, runtime.NumGoroutine(), buf[:runtime.Stack(buf, true)])
		}
	}
}

// A window of the recording over HTTP: refused with the reason, and told where there is none.
func TestHistoryOverHTTP(t *testing.T) {
	off := serve(t, dashboard.Options{})
	if w := ask(off, "GET", "/api/history", here, nil, ""); w.Code != 404 || !strings.Contains(w.Body.String(), "recording is off") {
		t.Errorf("without a recording: %d %s", w.Code, w.Body)
	}
	if w := ask(off, "GET", "/api/info", here, nil, ""); !strings.Contains(w.Body.String(),
		`"history":{"longest_s":0,"reason":"no history: recording is off (record.enabled)"}`) {
		t.Errorf("info: %s", w.Body)
	}
	path := filepath.Join(t.TempDir(), "run.mcap")
	empty := serve(t, dashboard.Options{History: sink.NewHistory(path)})
	for query, want := range map[string]string{"": "503 no history", "?from=x": `400 from: "x" is no number`, "?points=": "503 no history",
		"?points=many": `400 points: "many" is no number`} {
		w := ask(empty, "GET", "/api/history"+query, here, nil, "")
		if got := fmt.Sprintf("%d %s", w.Code, w.Body); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s, want %s", query, got, want)
		}
	}
	if w := ask(empty, "GET", "/api/info", here, nil, ""); !strings.Contains(w.Body.String(), `"history":{"longest_s":300}`) {
		t.Errorf("info: %s", w.Body)
	}
}

// The steady curve of a law with all its numbers; what does not fit is said.
func TestSteadyOverHTTP(t *testing.T) {
	s := serve(t, dashboard.Options{SteadyCurve: steadyCurve})
	for query, want := range map[string]string{
		"law=viscous&axis=shaft&Fv=0.5&delta=1": "200 [[-12.05,-6.025],",
		"law=viscous&axis=shaft&Fv=soft":        `400 Fv: "soft" is no number`,
		"law=viscous&axis=shaft":                "400 law viscous: ",
		"law=sticky":                            `400 law "sticky" is not known`,
	} {
		w := ask(s, "GET", "/api/steady?"+query, here, nil, "")
		if got := fmt.Sprintf("%d %s", w.Code, w.Body); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %.80s, want %s", query, got, want)
		}
	}
	if w := ask(serve(t, dashboard.Options{}), "GET", "/api/steady?law=viscous&sigma2=1", here, nil, ""); w.Code != 404 {
		t.Errorf("without laws: %d", w.Code)
	}
	if w := ask(s, "GET", "/api/identify", here, nil, ""); w.Code != 503 || !strings.Contains(w.Body.String(), "no identification yet") {
		t.Errorf("without an identification: %d %s", w.Code, w.Body)
	}
}
