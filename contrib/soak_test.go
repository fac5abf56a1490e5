//go:build soak

package contrib

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"hilrig/cmd/daemontest"
	"hilrig/configs"
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
	log := &daemontest.Log{}
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
	page, _ := url.Parse(d.ReadyLine.Page)
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
	await(t, d.ReadyLine.Page+"/api/state", func(s string) bool { return strings.Contains(s, `"mode":"run"`) })
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

// packed is what make deb left in a folder.
type packed string

// packIn clones the last commit into a folder and runs make deb there.
func packIn(dir, umask string, env ...string) (packed, error) {
	// files of the clone are as old as the epoch, so that no time of theirs gets into the package by chance
	c := exec.Command("sh", "-c", `umask "$0" && git clone -q .. "$1" && find "$1" -name .git -prune -o -type f -exec touch -d @$2 {} + &&
		cd "$1" && exec make deb`, umask, dir, fmt.Sprint(1000000000+len(dir)))
	c.Env = append(slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "MAKE") }), env...)
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return packed(filepath.Join(dir, "bin")), nil
}

var firstPacked = sync.OnceValues(func() (packed, error) { return packIn(filepath.Join(folder, "first"), "022") })

// packages are those of the last commit.
func packages(t *testing.T) packed {
	t.Helper()
	p, err := firstPacked()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (p packed) program(arch string) string { return filepath.Join(string(p), "hil-linux-"+arch) }

func (p packed) deb(t *testing.T, arch string) string {
	all, _ := filepath.Glob(filepath.Join(string(p), "hil_*_"+arch+".deb"))
	if len(all) != 1 {
		t.Fatalf("packages for %s: %v", arch, all)
	}
	return all[0]
}

// make deb gives the same bytes in two clones of one commit: programs and packages do not depend on the folder, the umask, the zone and
// language, the age of the files, the cache of the compiler and its flags.
func TestSoakReproducible(t *testing.T) {
	first := packages(t)
	second, err := packIn(filepath.Join(t.TempDir(), "another folder"), "077", "GOCACHE="+t.TempDir(), "TZ=Asia/Tokyo", "LC_ALL=C",
		"GOFLAGS=-buildvcs=true", "GOAMD64=v3", "GOARM64=v9.0")
	if err != nil {
		t.Fatal(err)
	}
	for _, arch := range []string{"amd64", "arm64"} {
		for _, files := range [][2]string{{first.program(arch), second.program(arch)}, {first.deb(t, arch), second.deb(t, arch)}} {
			a, _ := os.ReadFile(files[0])
			b, _ := os.ReadFile(files[1])
			if filepath.Base(files[0]) != filepath.Base(files[1]) || len(a) < 1e6 || !bytes.Equal(a, b) {
				t.Errorf("%s of %d bytes, %s of %d bytes: they differ", files[0], len(a), files[1], len(b))
			}
		}
	}
}

// lintian finds nothing in the packages.
func TestSoakLintian(t *testing.T) {
	lintian := peer.Program(t, "lintian", "lintian")
	for _, arch := range []string{"amd64", "arm64"} {
		out, err := exec.Command(lintian, "--fail-on", "error,warning", "--allow-root", packages(t).deb(t, arch)).CombinedOutput()
		if err != nil {
			t.Errorf("lintian of %s: %v\n%s", arch, err, out)
		}
	}
}

// emulated is a command line of a program for arm64. A kernel from 6.7 on lets a namespace hand programs of another processor to an
// emulator, so that it starts itself again as on its own machine.
func emulated(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	qemu := peer.Program(t, "qemu-aarch64-static", "qemu-user-static")
	register := `:arm64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:` +
		`\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:` + qemu + `:F`
	space := []string{"--user", "--map-root-user", "--mount", "sh", "-c", `mount -t binfmt_misc none /proc/sys/fs/binfmt_misc &&
		printf %s "$0" >/proc/sys/fs/binfmt_misc/register && exec "$@"`, register}
	if out, err := exec.Command("unshare", append(space, "true")...).CombinedOutput(); err != nil {
		peer.SkipAbsent(t, "no emulator in a namespace (Linux 6.7): %v\n%s", err, out)
	}
	return exec.Command("unshare", append(space, args...)...)
}

// The package for arm64 is installed, and its program does the same as that for amd64: it says its version, checks, simulates and drives
// the virtual rig.
func TestSoakArm64(t *testing.T) {
	root := newDpkgRoot(t)
	root.dpkg("-i", packages(t).deb(t, "arm64"))
	program := filepath.Join(root.path, "usr/bin/hil")
	output := func(c *exec.Cmd) string {
		t.Helper()
		out, err := c.Output()
		if err != nil {
			t.Fatalf("%v: %v\n%s", c.Args, err, out)
		}
		return string(out)
	}
	if version := output(emulated(t, program, "--version")); !strings.HasPrefix(version, "hil ") || !strings.Contains(version, "linux/arm64") {
		t.Errorf("on arm64: %s", version)
	}
	one, other := packages(t).program("amd64"), program
	for _, args := range [][]string{{"laws"}, {"check", "../configs/motor.yaml"}, {"check", "../configs/compare-laws.yaml"}} {
		a := strings.ReplaceAll(output(exec.Command(one, args...)), one, "hil")
		b := strings.ReplaceAll(output(emulated(t, append([]string{other}, args...)...)), other, "hil")
		if a != b || len(a) < 100 {
			t.Errorf("hil %v on amd64:\n%s\non arm64:\n%s", args, a, b)
		}
	}
	simulate := func(c *exec.Cmd) (rows [][]float64) {
		t.Helper()
		file := filepath.Join(t.TempDir(), "run.csv")
		c.Args = append(c.Args, "simulate", "../configs/compare-laws.yaml", "-o", file)
		output(c)
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, fields := range all[1:] {
			row := make([]float64, len(fields))
			for i, f := range fields {
				if row[i], err = strconv.ParseFloat(f, 64); err != nil {
					t.Fatal(err)
				}
			}
			rows = append(rows, row)
		}
		return rows
	}
	a, b := simulate(exec.Command(one)), simulate(emulated(t, other))
	if len(a) != len(b) || len(a) < 100 {
		t.Fatalf("%d rows on amd64, %d on arm64", len(a), len(b))
	}
	for i := range a {
		for j := range a[i] { // arm64 fuses products and sums
			if math.Abs(a[i][j]-b[i][j]) > 1e-9*max(1, math.Abs(a[i][j])) {
				t.Fatalf("row %d, column %d: %v on amd64, %v on arm64", i, j, a[i][j], b[i][j])
			}
		}
	}
	dir := t.TempDir()
	rig := filepath.Join(dir, "rig.yaml")
	if err := os.WriteFile(rig, []byte(slow.Replace(string(configs.DemoYAML()))), 0o644); err != nil {
		t.Fatal(err)
	}
	d := daemontest.Start(t, emulated(t, program, "run", "--ready-line", "--web", "localhost:0", "--mqtt", "localhost:0",
		"--record", filepath.Join(dir, "runs"), rig))
	// an emulated drive may follow too late and trip: that is exit code 5
	await(t, d.ReadyLine.Page+"/api/state", func(string) bool { return strings.Contains(d.Log.String(), "mode armed → run") })
	if code := d.Stop(syscall.SIGTERM); code != 130 && code != 5 {
		t.Errorf("exit code %d\n%s", code, d.Log)
	}
	runs, _ := filepath.Glob(filepath.Join(dir, "runs", "*", "*.mcap"))
	if len(runs) == 0 {
		t.Error("no recording")
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
