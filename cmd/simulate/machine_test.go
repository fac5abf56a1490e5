package simulate

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/engine/multibody"
)

// machineTable is a table that hil simulate wrote, by the names of its columns.
type machineTable map[string][]float64

// runExample runs a file as hil simulate does, with changes of its text, and reads its table and its JSON.
func runExample(t *testing.T, name string, changes ...string) (machineTable, machineResult) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../configs/machine", name))
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.NewReplacer(changes...).Replace(string(text))
	if len(changes) > 0 && changed == string(text) {
		t.Fatalf("%s: nothing to change", name)
	}
	dir := t.TempDir()
	path, out := filepath.Join(dir, filepath.Base(name)), filepath.Join(dir, "run.csv")
	if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	if err := Run(context.Background(), path, Options{OutputPath: out, Json: true}, &stdout, &stderr); err != nil {
		t.Fatal(err, stderr.String())
	}
	var r machineResult
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	table := machineTable{}
	for j, name := range rows[0] {
		for _, row := range rows[1:] {
			x, err := strconv.ParseFloat(row[j], 64)
			if err != nil {
				t.Fatal(err)
			}
			table[name] = append(table[name], x)
		}
	}
	return table, r
}

// at is the row of a time (s).
func (m machineTable) at(t *testing.T, time float64) int {
	t.Helper()
	for k, x := range m["time_s"] {
		if math.Abs(x-time) < 1e-9 {
			return k
		}
	}
	t.Fatalf("no row at %g s", time)
	return 0
}

// printed is what rounding to n digits may hide of a number.
func printed(want float64, n int) float64 {
	if want == 0 {
		return 0
	}
	return 0.5 * math.Pow(10, math.Floor(math.Log10(math.Abs(want)))-float64(n)+1)
}

// Motor, gear, shaft and load against the table of theory 1.7, which another program (Radau, 1e-10) computed.
func TestMotorGearLoad(t *testing.T) {
	table, r := runExample(t, "motor-gear-load.yaml")
	for _, row := range [][6]float64{
		{0.01, 10.2760786, 0.188414087, 41.8158925, 8.93236e-5, 0.0488362874},
		{0.02, 8.83877419, 0.756140069, 65.9741568, 3.94718e-3, 0.948363772},
		{0.05, 10.0377140, 2.33104036, 39.4775857, 0.141904370, 8.41776688},
		{0.10, 5.32155318, 7.09635722, 133.013369, 0.647819875, 11.4933553},
		{0.50, 1.59996181, 81.4685281, 208.087839, 8.13216881, 20.8464624},
	} {
		k := table.at(t, row[0])
		for j, name := range []string{"motor.i_A", "rotor.q_rad", "rotor.v_rad_s", "load.q_rad", "load.v_rad_s"} {
			want := row[j+1]
			digits := 9
			if want < 0.01 {
				digits = 6 // that many are printed
			}
			if got := table[name][k]; math.Abs(got-want) > 1e-6*math.Abs(want)+printed(want, digits) {
				t.Errorf("t = %g s, %s: %.10g, want %.9g", row[0], name, got, want)
			}
		}
	}
	if e := r.Metrics["energy_error_relative"]; e > 1e-9 {
		t.Errorf("energies miss %.2g", e)
	}
	for _, e := range r.Energies {
		if size := max(math.Abs(e.Input), math.Abs(e.Loss), math.Abs(e.Work), math.Abs(e.StoredChange)); math.Abs(e.Residual) > 1e-9*size {
			t.Errorf("%s: %.2g J of %.3g J are left", e.Name, e.Residual, size)
		}
	}
}

// With Coulomb friction that sticks the load stands until the shaft carries 0.5 N·m, and comes to the same speed in the end.
func TestLoadThatSticks(t *testing.T) {
	table, r := runExample(t, "motor-gear-load.yaml", "        friction_speed: 0.01 rad/s\n", "", "duration: 500 ms", "duration: 3 s")
	for k := range table["time_s"] {
		shaft := 50*(table["rotor.q_rad"][k]/10-table["load.q_rad"][k]) + 0.02*(table["rotor.v_rad_s"][k]/10-table["load.v_rad_s"][k])
		still := table["load.v_rad_s"][k] == 0
		if f := table["load.friction_Nm"][k]; still && math.Abs(f-shaft) > 1e-9 || !still && f != 0.5 || still && math.Abs(shaft) > 0.5+1e-9 {
			t.Fatalf("t = %g s: friction %.9g, shaft %.9g N·m, speed %g", table["time_s"][k], f, shaft, table["load.v_rad_s"][k])
		}
	}
	last := len(table["time_s"]) - 1
	if got := table["load.v_rad_s"][last]; math.Abs(got-21.0727969) > 1e-6 || table["load.v_rad_s"][1] != 0 {
		t.Errorf("%.9g rad/s at last", got)
	}
	if r.Metrics["energy_error_relative"] > 1e-9 {
		t.Errorf("energies miss %.2g", r.Metrics["energy_error_relative"])
	}
}

// The crank-rocker with a DC motor against the table of theory 1.8, which another program (DOP853, Baumgarte) computed.
func TestCrankRocker(t *testing.T) {
	for _, kind := range []string{"kind: point", "kind: revolute", "kind: spherical"} { // the last two with redundant equations
		table, r := runExample(t, "crank-rocker.yaml", "kind: point", kind, "tolerance: 1e-11", "tolerance: 1.0e-11")
		for _, row := range [][6]float64{
			{0.10, 2.04500106, 0.52360092, 2.06596716, 22.68992221, 2.6526518},
			{0.25, 7.07736802, 0.68944934, 1.77165913, 42.26025929, -0.46401782},
			{0.50, 16.12415332, 0.72788248, 2.44525486, 48.53320191, -1.02372981},
			{1.00, 34.61049178, 0.64232841, 2.39211602, 43.02791667, -0.20721432},
		} {
			k := table.at(t, row[0])
			q := func(name string) float64 { return table[name][k] }
			got := []float64{q("crank.q_rad"), q("crank.q_rad") + q("coupler.q_rad"), q("rocker.q_rad"), q("crank.v_rad_s"), q("motor.i_A")}
			for j, want := range row[1:] {
				if math.Abs(got[j]-want) > 1e-6*math.Abs(want) {
					t.Errorf("%s, t = %g s, number %d: %.9g, want %.9g", kind, row[0], j+1, got[j], want)
				}
			}
		}
		if r.Metrics["constraint_residual_max"] > 1e-10 || r.Metrics["energy_error_relative"] > 1e-9 {
			t.Errorf("%s: constraints miss %.2g, energies %.2g", kind, r.Metrics["constraint_residual_max"], r.Metrics["energy_error_relative"])
		}
	}
}

// The double pendulum against Lagrange's equations of two rods in absolute angles, integrated here with fixed steps.
func TestDoublePendulum(t *testing.T) {
	table, r := runExample(t, "double-pendulum.yaml", "duration: 10 s", "duration: 2 s")
	const g = 9.81
	rate := func(x [4]float64) (d [4]float64) {
		// rods of 1 m and 1 kg: (1/3+1)·a″ + ½·cos(a−b)·b″ = −½·sin(a−b)·b′² − 3/2·g·cos a, ⅓·b″ +
		// ½·cos(a−b)·a″ = ½·sin(a−b)·a′² − ½·g·cos b
		s, c := math.Sincos(x[0] - x[1])
		m11, m12, m22 := 4.0/3, c/2, 1.0/3
		f1, f2 := -s/2*x[3]*x[3]-1.5*g*math.Cos(x[0]), s/2*x[2]*x[2]-g/2*math.Cos(x[1])
		det := m11*m22 - m12*m12
		return [4]float64{x[2], x[3], (m22*f1 - m12*f2) / det, (m11*f2 - m12*f1) / det}
	}
	plus := func(x, d [4]float64, h float64) [4]float64 {
		for i := range x {
			x[i] += h * d[i]
		}
		return x
	}
	const h = 2e-5
	x := [4]float64{0, math.Pi / 9, 0, 0}
	for k := range 100000 {
		a := rate(x)
		b := rate(plus(x, a, h/2))
		c := rate(plus(x, b, h/2))
		d := rate(plus(x, c, h))
		for i := range x {
			x[i] += h / 6 * (a[i] + 2*b[i] + 2*c[i] + d[i])
		}
		if (k+1)%25000 != 0 {
			continue
		}
		row := table.at(t, h*float64(k+1))
		upper, lower := table["upper.q_rad"][row], table["lower.q_rad"][row]
		if math.Abs(upper-x[0]) > 1e-6 || math.Abs(upper+lower-x[1]) > 1e-6 {
			t.Errorf("t = %g s: %.9g, %.9g, want %.9g, %.9g", h*float64(k+1), upper, upper+lower, x[0], x[1])
		}
		if tip := table["at.tip.x_m"][row]; math.Abs(tip-math.Cos(x[0])-math.Cos(x[1])) > 2e-6 {
			t.Errorf("tip at %g", tip)
		}
	}
	if e := r.Metrics["energy_error_relative"]; e > 1e-9 {
		t.Errorf("energy drifts by %.2g", e)
	}
}

// The slider-crank at constant speed: closed positions, and the torque of the drive from the rate of the energy, by differences.
func TestSliderCrank(t *testing.T) {
	table, _ := runExample(t, "slider-crank.yaml")
	const r, l, w = 0.1, 0.3, 20.0
	piston := func(a float64) float64 { return r*math.Cos(a) + math.Sqrt(l*l-r*r*math.Sin(a)*math.Sin(a)) }
	energy := func(time float64) float64 {
		a := 0.3 + w*time
		b := -math.Asin(r * math.Sin(a) / l) // of the rod
		db := -r * math.Cos(a) * w / (l * math.Cos(b))
		vx, vy := -r*w*math.Sin(a)-0.12*math.Sin(b)*db, r*w*math.Cos(a)+0.12*math.Cos(b)*db
		dx := -r*w*math.Sin(a) - l*math.Sin(b)*db
		kinetic := (1e-3+0.5*0.04*0.04)*w*w/2 + 0.4*(vx*vx+vy*vy)/2 + 4e-3*db*db/2 + 0.8*dx*dx/2
		return kinetic + 9.81*(0.5*0.04*math.Sin(a)+0.4*(r*math.Sin(a)+0.12*math.Sin(b)))
	}
	for k, time := range table["time_s"] {
		if k == 0 || k == len(table["time_s"])-1 {
			continue
		}
		if got, want := table["piston.q_m"][k], piston(0.3+w*time); math.Abs(got-want) > 1e-9 {
			t.Errorf("t = %g s: piston at %.10g, want %.10g m", time, got, want)
		}
		const s = 1e-5
		want := (8*(energy(time+s)-energy(time-s)) - energy(time+2*s) + energy(time-2*s)) / (12 * s) / w
		if got := table["crank.motion_Nm"][k]; math.Abs(got-want) > 1e-7 {
			t.Errorf("t = %g s: torque %.9g, want %.9g N·m", time, got, want)
		}
	}
}

// Andrews' squeezing mechanism at 30 ms against the reference of the test set of initial value problems (PSIDE, 1e-14).
func TestSqueezer(t *testing.T) {
	table, r := runExample(t, "squeezer.yaml")
	k := table.at(t, 0.03)
	for name, want := range map[string]float64{
		"K1.q_rad": 15.81077119629904, "K2.q_rad": -15.75637105984298, "K3.q_rad": 0.04082224013073101, "K4.q_rad": -0.5347301163226948,
		"K5.q_rad": 0.5244099658805304, "K6.q_rad": 0.5347301163226948, "K7.q_rad": 1.048080741042263,
		"K1.v_rad_s": 1139.920302151208, "K3.v_rad_s": 11.03291221937134, "K7.v_rad_s": 0.3231791658026955,
	} {
		if got := table[name][k]; math.Abs(got-want) > 1e-7*max(1, math.Abs(want)) {
			t.Errorf("%s: %.12g, want %.12g", name, got, want)
		}
	}
	if r.Metrics["energy_error_relative"] > 1e-9 || r.Metrics["constraint_residual_max"] > 1e-10 {
		t.Errorf("energies miss %.2g, constraints %.2g", r.Metrics["energy_error_relative"], r.Metrics["constraint_residual_max"])
	}
}

// A heavy top that starts in steady precession keeps the angle of its axis and goes round at 5 rad/s.
func TestTop(t *testing.T) {
	table, _ := runExample(t, "top.yaml")
	for k, time := range table["time_s"] {
		sin, cos := math.Sincos(5 * time)
		for name, want := range map[string]float64{"at.tip.x_m": 0.1 * math.Sin(0.5) * cos, "at.tip.y_m": 0.1 * math.Sin(0.5) * sin,
			"at.tip.z_m": 0.1 * math.Cos(0.5)} {
			if got := table[name][k]; math.Abs(got-want) > 1e-8 {
				t.Fatalf("t = %g s: %s %.10g, want %.10g", time, name, got, want)
			}
		}
	}
}

// The parallelogram stays one: energy gives the speed, (5/3)·v² = 40/3·… in closed form.
func TestFourBar(t *testing.T) {
	table, r := runExample(t, "four-bar.yaml")
	for k := range table["time_s"] {
		a, w := table["left.q_rad"][k], table["left.v_rad_s"][k]
		// T = ½·(⅓+⅓+1)·w², V = g·(½+½+1)·sin a
		want := math.Sqrt((5./6 + 2*9.81*(1-math.Sin(a))) / (5. / 6))
		if math.Abs(-w-want) > 1e-7 || math.Abs(table["right.q_rad"][k]-a) > 1e-8 {
			t.Fatalf("t = %g s: speed %.9g, want %.9g; right %.9g, left %.9g", table["time_s"][k], -w, want, table["right.q_rad"][k], a)
		}
	}
	if r.Metrics["constraint_residual_max"] > 1e-10 {
		t.Errorf("constraints miss %.2g", r.Metrics["constraint_residual_max"])
	}
}

// The figure shows the machine at four times, its rods as long as they are; the page shows it moving. A top does not move in a plane: its
// page has three coordinates of every end, the tip 0.1 m from the point.
func TestMachinePicture(t *testing.T) {
	dir := t.TempDir()
	draw := func(name string) error {
		f := Options{Plot: filepath.Join(dir, name+".svg"), Animate: filepath.Join(dir, name+".html")}
		var stdout, stderr bytes.Buffer
		return Run(context.Background(), "../../configs/machine/"+name+".yaml", f, &stdout, &stderr)
	}
	if err := draw("crank-rocker"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"crank-rocker.svg": "t = 0.332 s", "crank-rocker.html": `"coupler"`} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !bytes.Contains(text, []byte(want)) {
			t.Errorf("%s: %v, %q is not in it", name, err, want)
		}
	}
	if err := draw("top"); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "top.html"))
	if err != nil {
		t.Fatal(err)
	}
	_, data, _ := bytes.Cut(page, []byte(`<script id="data" type="application/json">`))
	data, _, _ = bytes.Cut(data, []byte("</script>"))
	var top animationData
	if err := json.Unmarshal(data, &top); err != nil || top.Space == nil || len(top.Space.EndPositions) != len(top.T) ||
		len(top.Space.Ground) != 1 {
		t.Fatalf("%v, %+v", err, top.Space)
	}
	for k, p := range top.Space.EndPositions {
		tip := 3 * top.Space.Trail
		if l := math.Hypot(math.Hypot(p[tip], p[tip+1]), p[tip+2]); math.Abs(l-0.1) > 1e-6 || math.Abs(p[tip+2]-0.1*math.Cos(0.5)) > 1e-6 {
			t.Fatalf("row %d: tip at %v", k, p[tip:tip+3])
		}
	}
	cfg, _, err := configs.LoadMachine("../../configs/machine/crank-rocker.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s := &machineRun{cfg: cfg}
	if s.model, s.x, s.assembly, err = cfg.Begin(); err != nil {
		t.Fatal(err)
	}
	if err := s.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	for k, row := range s.sticks.endPositions {
		for i, l := range s.sticks.lines {
			want := map[string]float64{"crank": 0.1, "coupler": 0.35, "rocker": 0.3}[s.sticks.names[i]]
			if got := r3.Norm(r3.Sub(row[l[0]], row[l[1]])); math.Abs(got-want) > 1e-12 {
				t.Fatalf("row %d: %s is %.15g m long, want %g m", k, s.sticks.names[i], got, want)
			}
		}
	}
	if n := len(s.sequence()); n != 4 {
		t.Errorf("%d pictures", n)
	}
}

// A machine that cannot go on says when and where, writes the table up to there and ends with its exit code. The piston is pulled at
// 0.1 m/s from 0.394 m; at 0.4 m the crank is stretched.
func TestMachineStops(t *testing.T) {
	text, err := os.ReadFile("../../configs/machine/slider-crank.yaml")
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.NewReplacer("motion: {kind: ramp, offset: 0.3 rad, velocity: 20 rad/s}", "position: 0.3 rad",
		"axis: [1, 0, 0], position: 0.39 m", "axis: [1, 0, 0], motion: {kind: ramp, offset: 0.39 m, velocity: 0.1 m/s}", "[crank], limit: 0.05",
		"[]").Replace(string(text))
	dir := t.TempDir()
	path, out := filepath.Join(dir, "m.yaml"), filepath.Join(dir, "run.csv")
	if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	err = Run(context.Background(), path, Options{OutputPath: out}, &stdout, &stderr)
	if report.ExitCode(err) != report.Quality || !strings.Contains(err.Error(), "stopped at t = 0.") ||
		!strings.Contains(err.Error(), "piston = 0.39999") && !strings.Contains(err.Error(), "piston = 0.4 m") {
		t.Fatalf("%v, exit code %d", err, report.ExitCode(err))
	}
	if table, err := os.ReadFile(out); err != nil || bytes.Count(table, []byte("\n")) < 15 || bytes.Contains(table, []byte("NaN")) {
		t.Errorf("%v, %d rows", err, bytes.Count(table, []byte("\n")))
	}
}

// machineText runs a machine file in memory.
func machineText(t *testing.T, text string) (r machineResult, said string, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.yaml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	err = Run(context.Background(), path, Options{Json: true}, &stdout, &stderr)
	if stdout.Len() > 0 {
		if err := json.Unmarshal(stdout.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
	}
	return r, stderr.String(), err
}

// A parallelogram of other lengths and masses turns over its flat positions at several tolerances: (2/3·mp + mb)·p²·θ″ =
// −g·p·(mp + mb)·cos θ (SciPy: DOP853, 1e-13), and no run of it is doubted.
func TestOneFourBar(t *testing.T) {
	for _, tolerance := range []string{"1e-8", "1e-10", "1e-11", "1e-10\nconstraints: ggl"} {
		r, said, err := machineText(t, `
version: 1
machine:
  gravity: [0, -9.81, 0]
  bodies:
    p0: {parent: ground, joint: {kind: revolute, position: 90 deg, velocity: -6}, mass: 0.3, com: [0.25, 0, 0], inertia: [0, 0.00625, 0.00625]}
    p1: {parent: ground, at: [2, 0, 0], joint: {kind: revolute, position: 90 deg, velocity: -6}, mass: 0.3, com: [0.25, 0, 0], inertia: [0, 0.00625, 0.00625]}
    b: {parent: p0, at: [0.5, 0, 0], joint: {kind: revolute, position: -90 deg, velocity: 6}, mass: 1.1, com: [1, 0, 0], inertia: [0, 0.36666666666666666, 0.36666666666666666]}
  loops: {c: {kind: point, a: b, at_a: [2, 0, 0], b: p1, at_b: [0.5, 0, 0]}}
duration: 4 s
tolerance: `+tolerance)
		if want := -31.339552044096056; err != nil || math.Abs(r.FinalValues["p0.q_rad"]-want) > 1e-6 {
			t.Errorf("tolerance %s: %.10g rad, want %.10g; %v\n%s", tolerance, r.FinalValues["p0.q_rad"], want, err, said)
		}
	}
}

// A four-bar of a watch: a hundredth of the lengths, a hundredth of the gravity's time scale, milligrams; by both formulations it is where
// the large one is at ten times the time.
func TestWatchFourBar(t *testing.T) {
	text := func(length, mass, velocity float64, duration, how string) string {
		return fmt.Sprintf(`
version: 1
constraints: %[5]s
machine:
  gravity: [0, -9.81, 0]
  bodies:
    cr: {parent: ground, joint: {kind: revolute, position: 0.8, velocity: %[3]g}, mass: %[2]g, com: [%[6]g, 0, 0], inertia_z: %[10]g}
    co: {parent: cr, at: [%[7]g, 0, 0], joint: {kind: revolute, position: -0.1}, mass: %[2]g, com: [%[6]g, 0, 0], inertia_z: %[10]g}
    ro: {parent: ground, at: [%[8]g, 0, 0], joint: {kind: revolute, position: 1.9}, mass: %[2]g, com: [%[6]g, 0, 0], inertia_z: %[10]g}
  loops: {p: {kind: point, a: co, at_a: [%[9]g, 0, 0], b: ro, at_b: [%[1]g, 0, 0]}}
start: {hold: [cr]}
duration: %[4]s
tolerance: 1e-11
`, 0.3*length, mass, velocity, duration, how, 0.05*length, 0.1*length, 0.4*length, 0.35*length, 0.001*mass*length*length)
	}
	large, said, err := machineText(t, text(1, 1, 3, "0.5 s", "projection"))
	if err != nil {
		t.Fatal(err, said)
	}
	for _, how := range multibody.Formulations() {
		small, said, err := machineText(t, text(0.01, 1e-6, 30, "0.05 s", how))
		if err != nil {
			t.Fatal(how, err, said)
		}
		for _, joint := range []string{"cr", "co", "ro"} {
			if a, b := small.FinalValues[joint+".q_rad"], large.FinalValues[joint+".q_rad"]; math.Abs(a-b) > 1e-8 {
				t.Errorf("%s: %s at %.12g rad, the large one at %.12g", how, joint, a, b)
			}
		}
	}
}

// A machine that stays at rest has no energy to miss, and a coarse tolerance is no leave for energies that are wrong by a hundredth.
func TestEnergyGate(t *testing.T) {
	const arm = `
version: 1
machine:
  bodies:
    a: {parent: ground, joint: {kind: spherical}, mass: 1, com: [0.3, 0.1, 0.5], inertia: [0.1, 0.1, 0.1], start: {turn: [1, 2, 0.3]}}
`
	if r, said, err := machineText(t, arm+"start: {equilibrium: true}\nduration: 0.1 s\n"); err != nil ||
		math.Abs(r.FinalValues["potential_J"]+9.81*math.Sqrt(0.35)) > 1e-9 {
		t.Errorf("at rest: %v, %v J\n%s", err, r.FinalValues["potential_J"], said)
	}
	// a current that goes on round a loop without resistance: all that changes is rounding of what the inductors hold
	const loop = `
version: 1
machine:
  gravity: [0, 0, 0]
  bodies: {m: {joint: {kind: prismatic, axis: [1, 0, 0], damping: 1, stiffness: 100}, mass: 1}}
  circuit:
    a: {kind: inductor, from: p, to: ground, L: 1 mH, start_current: 2 A}
    b: {kind: inductor, from: p, to: ground, L: 2 mH, start_current: -1 A}
    r: {kind: resistor, from: p, to: ground, R: 5}
start: {equilibrium: true}
duration: 0.1 s
`
	if r, said, err := machineText(t, loop); err != nil || said != "" || math.Abs(r.FinalValues["a.i_A"]-4./3) > 1e-9 {
		t.Errorf("in a loop: %v, %v A\n%s", err, r.FinalValues["a.i_A"], said)
	}
	if r, said, err := machineText(t, arm+"tolerance: 1e-3\nduration: 60 s\n"); report.ExitCode(err) != report.Quality ||
		!strings.Contains(said, "the energies miss") {
		t.Errorf("coarse: %v, energies miss %g\n%s", err, r.Metrics["energy_error_relative"], said)
	}
}
