//go:build soak

package contrib

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"hilrig/engine/peer"
)

// freePort is one that nobody listens on just now.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// server starts a program that ends with the test, and what it says is told when the test fails.
func server(t *testing.T, name string, env []string, args ...string) {
	t.Helper()
	c := exec.Command(name, args...)
	log := &lockedBuffer{}
	c.Stdout, c.Stderr, c.Env = log, log, append(os.Environ(), env...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Kill()
		c.Wait()
		if t.Failed() {
			t.Logf("%s said:\n%s", name, log)
		}
	})
}

// await asks a server until the answer is as wanted.
func await(t *testing.T, address string, wanted func(body string) bool) string {
	t.Helper()
	body := ""
	for end := time.Now().Add(90 * time.Second); time.Now().Before(end); time.Sleep(300 * time.Millisecond) {
		r, err := http.Get(address)
		if err != nil {
			body = err.Error()
			continue
		}
		text, _ := io.ReadAll(r.Body)
		r.Body.Close()
		if body = string(text); r.StatusCode == http.StatusOK && wanted(body) {
			return body
		}
	}
	t.Fatalf("%s: the last answer was %.500s", address, body)
	return ""
}

// promtool finds nothing in a scrape, the rules and the configuration; Prometheus itself scrapes the daemon, takes the rules without an
// alert, and has an answer to every query of the Grafana dashboard.
func TestSoakPrometheus(t *testing.T) {
	promtool := peer.Program(t, "promtool", "prometheus")
	prometheus := peer.Program(t, "prometheus", "prometheus")
	d := startDaemon(t)
	c := exec.Command(promtool, "check", "metrics")
	c.Stdin = strings.NewReader(d.get("/metrics"))
	if out, err := c.CombinedOutput(); err != nil || len(bytes.TrimSpace(out)) > 0 {
		t.Errorf("promtool: %v\n%s", err, out)
	}
	page, _ := url.Parse(d.ready.Page)
	text, err := os.ReadFile("prometheus.yml")
	if err != nil {
		t.Fatal(err)
	}
	rules, _ := filepath.Abs("hil.rules.yml")
	dir := t.TempDir()
	config := strings.NewReplacer("localhost:8080", "localhost:"+page.Port(), "scrape_interval: 5s", "scrape_interval: 1s",
		"hil.rules.yml", rules).Replace(string(text))
	file := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	address := fmt.Sprintf("localhost:%d", freePort(t))
	server(t, prometheus, nil, "--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address)
	await(t, "http://"+address+"/api/v1/targets", func(s string) bool { return strings.Contains(s, `"health":"up"`) })
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	data, _ := os.ReadFile("grafana.json")
	if err := json.Unmarshal(data, &dashboard); err != nil || len(dashboard.Panels) == 0 {
		t.Fatalf("%v: %d panels", err, len(dashboard.Panels))
	}
	for _, p := range dashboard.Panels {
		for _, q := range p.Targets {
			await(t, "http://"+address+"/api/v1/query?query="+url.QueryEscape(q.Expr), func(s string) bool {
				return strings.Contains(s, `"status":"success"`) && strings.Contains(s, `"value":[`)
			})
		}
	}
	await(t, "http://"+address+"/api/v1/rules", func(s string) bool {
		return strings.Count(s, `"health":"ok"`) == 5 && !strings.Contains(s, `"state":"firing"`)
	})
}

// The schema of Grafana's own packages, as types of TypeScript, takes the dashboard, and refuses one with a slip.
func TestSoakGrafanaSchema(t *testing.T) {
	modules := peer.NodeModules(t, "@grafana/schema@13.2.3", "typescript@5.9.3")
	data, err := os.ReadFile("grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	judge := func(dashboard string) (string, error) {
		file := filepath.Join(filepath.Dir(modules), "dashboard.ts")
		text := "import type { Dashboard } from \"@grafana/schema\";\nexport const dashboard: Dashboard = " + dashboard + ";\n"
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		defer os.Remove(file)
		out, err := exec.Command("node", filepath.Join(modules, "typescript/bin/tsc"), "--noEmit", "--strict", "--skipLibCheck",
			"--moduleResolution", "bundler", "--module", "esnext", "--target", "es2022", file).CombinedOutput()
		return string(out), err
	}
	if out, err := judge(string(data)); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := judge(strings.Replace(string(data), `"gridPos": {"x": 0`, `"gridPos": {"x": "left"`, 1)); err == nil {
		t.Error("a position in words was taken")
	}
}

// The parser of the AsyncAPI project takes the document without a diagnostic above a hint.
func TestSoakAsyncAPI(t *testing.T) {
	modules := peer.NodeModules(t, "@asyncapi/parser@3.6.6")
	c := exec.Command("node", "-e", `
const { Parser } = require("@asyncapi/parser"), fs = require("fs");
new Parser().parse(fs.readFileSync("asyncapi.yaml", "utf8")).then(({ document, diagnostics }) =>
	console.log(JSON.stringify({ channels: document ? document.channels().all().length : 0,
		slips: diagnostics.filter(d => d.severity < 3).map(d => d.code + " " + d.path.join(".") + " " + d.message) })));`)
	c.Env = append(os.Environ(), "NODE_PATH="+modules)
	out, err := c.Output()
	var got struct {
		Channels int
		Slips    []string
	}
	if err != nil || json.Unmarshal(out, &got) != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if want := len(readAsyncAPI(t).Channels); got.Channels != want || len(got.Slips) > 0 {
		t.Errorf("%d channels of %d, %v", got.Channels, want, got.Slips)
	}
}

// Node-RED runs the flow against the daemon's broker: it knows the mode, and its button stops the rig.
func TestSoakNodeRED(t *testing.T) {
	modules := peer.NodeModules(t, "node-red@4.1.15")
	d := startDaemon(t)
	await(t, d.ready.Page+"/api/state", func(s string) bool { return strings.Contains(s, `"mode":"run"`) })
	dir := t.TempDir()
	data, err := os.ReadFile("node-red.json")
	if err != nil {
		t.Fatal(err)
	}
	flow := strings.Replace(string(data), `"port": "1883"`, `"port": "`+d.port()+`"`, 1)
	credentials, _ := json.Marshal(map[string]any{"broker": map[string]string{"user": "operator", "password": d.password}})
	port := freePort(t)
	for name, text := range map[string]string{"flows.json": flow, "flows_cred.json": string(credentials),
		"settings.js": fmt.Sprintf(`module.exports = { uiPort: %d, uiHost: "127.0.0.1", flowFile: "flows.json", credentialSecret: false,
			logging: { console: { level: "info" } }, telemetry: { enabled: false, updateNotification: false } };`, port)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	server(t, "node", nil, filepath.Join(modules, "node-red/red.js"), "--userDir", dir, "--settings", filepath.Join(dir, "settings.js"))
	address := fmt.Sprintf("http://127.0.0.1:%d", port)
	await(t, address+"/hil", func(s string) bool { return strings.Contains(s, `"motor":{"mode":"run"`) })
	r, err := http.Post(address+"/inject/press", "application/json", nil)
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%v %v", r, err)
	}
	await(t, address+"/hil", func(s string) bool { return strings.Contains(s, `"motor":{"mode":"ready"`) })
}

// make deb gives the same bytes twice, from a cache and without one; lintian finds nothing; the program for arm64 runs in qemu and says
// the same.
func TestSoakPackages(t *testing.T) {
	lintian := peer.Program(t, "lintian", "lintian")
	qemu := peer.Program(t, "qemu-aarch64-static", "qemu-user-static")
	build := func(arch, cache string) string {
		path := filepath.Join(t.TempDir(), "hil")
		c := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags",
			"-s -w -X hilrig/cmd/report.version=soak", "-o", path, "../cmd/hil")
		c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOARCH="+arch)
		if cache != "" {
			c.Env = append(c.Env, "GOCACHE="+cache)
		}
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return path
	}
	programs := map[string]string{}
	for _, arch := range []string{"amd64", "arm64"} {
		programs[arch] = build(arch, "")
		cache := ""
		if arch == "amd64" {
			cache = t.TempDir()
		}
		a, _ := os.ReadFile(debian(t, programs[arch], arch, "0~1"))
		b, _ := os.ReadFile(debian(t, build(arch, cache), arch, "0~1"))
		if len(a) == 0 || !bytes.Equal(a, b) {
			t.Errorf("%s: built twice, the bytes differ", arch)
		}
		out, err := exec.Command(lintian, "--fail-on", "error,warning", "--allow-root", debian(t, programs[arch], arch, "0~1")).CombinedOutput()
		if err != nil {
			t.Errorf("lintian of %s: %v\n%s", arch, err, out)
		}
		root := newDpkgRoot(t)
		root.dpkg("-i", debian(t, programs[arch], arch, "0~1"))
		programs[arch] = filepath.Join(root.path, "usr/bin/hil")
	}
	laws := func(name string, args ...string) string {
		out, err := exec.Command(name, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
		return regexp.MustCompile(`(?m)^.*(s$|took|wrote|amd64|arm64).*\n`).ReplaceAllString(string(out), "")
	}
	if version := func() string {
		out, _ := exec.Command(qemu, programs["arm64"], "version").CombinedOutput()
		return string(out)
	}(); !strings.Contains(version, "hil soak (") || !strings.Contains(version, "linux/arm64") {
		t.Errorf("on arm64: %s", version)
	}
	if a, b := laws(programs["amd64"], "laws"), laws(qemu, programs["arm64"], "laws"); a != b || len(a) < 100 {
		t.Errorf("hil laws on amd64:\n%s\non arm64:\n%s", a, b)
	}
}

// The unit lets the daemon do all that it does: of every system call of its processes none is outside the filter, no memory is both
// writable and executable, and no socket is of another family.
func TestSoakUnitFilter(t *testing.T) {
	strace := peer.Program(t, "strace", "strace")
	analyze := peer.Program(t, "systemd-analyze", "systemd")
	unit, err := os.ReadFile("hil.service")
	if err != nil {
		t.Fatal(err)
	}
	value := func(key string) []string {
		m := regexp.MustCompile(`(?m)^` + key + `=(.*)$`).FindSubmatch(unit)
		if m == nil {
			t.Fatalf("no %s in the unit", key)
		}
		return strings.Fields(string(m[1]))
	}
	list, err := exec.Command(analyze, "--no-pager", "syscall-filter").Output()
	if err != nil {
		t.Fatal(err)
	}
	sets, set := map[string][]string{}, ""
	for line := range strings.Lines(string(list)) {
		switch word := strings.TrimSpace(line); {
		case strings.HasPrefix(line, "@"):
			set = word
		case word != "" && word[0] != '#':
			sets[set] = append(sets[set], word)
		}
	}
	allowed := map[string]bool{}
	var allow func(name string)
	allow = func(name string) {
		for _, member := range sets[name] {
			allow(member)
		}
		allowed[name] = true
	}
	allow("@default")
	for _, name := range value("SystemCallFilter") {
		allow(name)
	}

	trace := filepath.Join(t.TempDir(), "trace")
	c := exec.Command(strace, "-f", "-o", trace, hil(t), "run", "--rate", "100 Hz", "--duration", "8s", "--web", "localhost:0",
		"--mqtt", "localhost:0", "--record", filepath.Join(t.TempDir(), "runs"))
	out, _ := c.CombinedOutput() // it may trip: everything is slow under strace
	data, err := os.ReadFile(trace)
	if err != nil || !strings.Contains(string(out), "core up") {
		t.Fatalf("%v\n%s", err, out)
	}
	families := value("RestrictAddressFamilies")
	call := regexp.MustCompile(`^\d+ +([a-z0-9_]+)\(`)
	family := regexp.MustCompile(`^\d+ +socket\w*\((AF_\w+)`)
	refused := map[string]bool{}
	calls := 0
	for line := range strings.Lines(string(data)) {
		if m := call.FindStringSubmatch(line); m != nil {
			calls++
			if !allowed[m[1]] {
				refused[m[1]] = true
			}
		}
		if m := family.FindStringSubmatch(line); m != nil && !strings.Contains(strings.Join(families, " ")+" ", m[1]+" ") {
			refused[m[1]] = true
		}
		if strings.Contains(line, "PROT_WRITE|PROT_EXEC") {
			refused[line] = true
		}
	}
	if len(refused) > 0 || calls < 1000 || len(allowed) < 200 {
		t.Errorf("refused by the unit: %v; %d calls seen, %d allowed", refused, calls, len(allowed))
	}
}
