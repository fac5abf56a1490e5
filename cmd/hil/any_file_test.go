package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hilrig/cmd/report"
	"hilrig/engine/failure"
	"hilrig/engine/peer"
)

// answerOf runs a verb within the test, interrupted soon, and says what is not allowed: only an exit code of docs/reference/errors.md,
// with words where it is none of success.
func answerOf(args ...string) (bad string) {
	defer func() {
		if v := recover(); v != nil {
			p := failure.Of(v)
			bad = fmt.Sprintf("panic: %v\n%s", p, p.Stack)
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), 150*time.Millisecond)
	defer cancel()
	var out, errs bytes.Buffer
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(strings.NewReader(""))
	root.SetOut(&out)
	root.SetErr(&errs)
	err := root.ExecuteContext(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return "" // this test ended it
	}
	code := report.ExitPrint(&errs, err)
	if code != report.OK && strings.TrimSpace(errs.String()) == "" {
		return fmt.Sprintf("exit code %d without a word", code)
	}
	if code == report.Internal || !slices.Contains([]int{report.OK, report.Usage, report.Invalid, report.Unavailable, report.Quality,
		report.Interrupted}, code) {
		return fmt.Sprintf("exit code %d: %s", code, errs.String())
	}
	return ""
}

// verbsOfFiles are all verbs that take a file, which stands for FILE. The daemon and the virtual rig are not started.
var verbsOfFiles = []string{
	"check FILE", "run FILE --rate 1", "rig FILE --link /nowhere/at/all", "replay FILE", "export FILE -o -",
	"export FILE -o - --channels seq", "export-model FILE --to c", "export-model FILE --to mjcf",
	"import FILE", "import FILE --json", "import FILE --body FILE", "import FILE --radius 35mm", "decode FILE --protocol xsens",
	"decode FILE --protocol link", "decode FILE --rig FILE", "decode FILE --rig FILE --device drive",
	"identify FILE", "identify FILE --law lugre --last 5s", "identify FILE --machine",
	"identify FILE --columns time=t:s,position=x:m,force=F:N", "identify FILE --columns position=x:m,force=F:N --rate 1000 --method " +
		"regress,lm --law lugre",
	"identify CSV --data FILE", "identify FIT --data FILE", "identify FIT --validate FILE", "identify FIT --resume FILE",
	"identify FIT --population FILE", "compare FILE", "compare FILE FILE", "compare FIT --validate FILE",
	"simulate FILE", "scenario FILE", "scenario stick-slip --laws FILE -o OUT", "laws FILE", "lcp FILE", "study FILE -o OUT",
	"study plan FILE -o OUT", "study task FILE", "study run FILE", "study status FILE", "study collect FILE",
	"config show FILE", "config apply FILE --rig RIG", "config apply FILE --rig FILE", "config apply RESULT --rig FILE", "ports FILE",
	"version FILE", "latency FILE",
}

// anyFiles are files of every kind, some good and some not: by name, what is in them.
func anyFiles(t *testing.T, dir string) (paths map[string]string) {
	t.Helper()
	paths = map[string]string{}
	put := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		paths[name] = path
		return path
	}
	var table strings.Builder
	table.WriteString("t,x,F\n")
	columns := [3][]float64{}
	for k := range 600 {
		s := float64(k) * 1e-2
		x, v, a := math.Sin(s), math.Cos(s), -math.Sin(s)
		row := [3]float64{s, x, 2*a + 3*v + math.Copysign(1, v)}
		fmt.Fprintf(&table, "%.4f,%.9f,%.6f\n", row[0], row[1], row[2])
		for i := range columns {
			columns[i] = append(columns[i], row[i])
		}
	}
	put("good.csv", []byte(table.String()))
	put("no-header.csv", []byte("1,2,3\n2,3,4\n3,4,5\n"))
	put("words.csv", []byte("a,b\none,two\n"))
	put("head-only.csv", []byte("t,x,F\n"))
	put("one-row.csv", []byte("t,x,F\n0,1,2\n"))
	put("markers.csv", []byte("time,ball.x,ball.y,ball.z,ball.qw,ball.qx,ball.qy,ball.qz\n0,1,2,3,0.5,-0.5,0.5,0.5\n0.01,1,2,3,1,0,0,0\n"))
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(table.String()))
	z.Close()
	put("good.csv.gz", packed.Bytes())
	put("v4.mat", matOf4(columns))
	put("v5.mat", matOf5(columns))
	put("hdf.mat", []byte("MATLAB 7.3 MAT-file"+strings.Repeat(" ", 600)))
	put("points.trc", []byte("PathFileType\t4\t(X/Y/Z)\tpoints.trc\nDataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n100\t100\t2\t1\tmm\t100\t1\t2\nFrame#\tTime\tA\n\t\tX1\tY1\tZ1\n\n1\t0\t1\t2\t3\n2\t0.01\t1\t2\t3\n"))
	put("points.c3d", c3dFile(t))
	put("a.bvh", []byte("HIERARCHY\nROOT Hips\n{\nOFFSET 0 0 0\nCHANNELS 3 Xposition Yposition Zposition\nEnd Site\n{\nOFFSET 0 1 "+
		"0\n}\n}\nMOTION\nFrames: 1\nFrame Time: 0.01\n0 0 0\n"))
	put("arm.urdf", fileText(t, "../../engine/multibody/robot/testdata/arm.urdf"))
	put("tree.xml", fileText(t, "../../engine/multibody/robot/testdata/tree.xml"))
	put("a.parquet", []byte("PAR1\x15\x04\x15\x00PAR1"))
	put("problem.json", []byte(`{"M": [[2, 1], [1, 2]], "q": [-5, -6]}`))
	put("result.json", []byte(`{"name": "x", "parameters": [{"name": "M", "value": 1, "unit": "kg"}], "verdict": "identified"}`))
	put("list.json", []byte(`[1, 2, {"a": null}]`))
	put("null.json", []byte("null"))
	put("empty.yaml", nil)
	put("empty.csv", nil)
	put("empty", nil)
	put("list.yaml", []byte("- a\n- b\n"))
	put("word.yaml", []byte("word\n"))
	put("anchors.yaml", []byte("a: &a [1, 2]\nb: *a\nc: *none\n"))
	put("binary", bytes.Repeat([]byte{0, 1, 2, 255, 254, 0x89, 'M', 'C', 'A', 'P'}, 300))
	put("binary.yaml", bytes.Repeat([]byte{0, 1, 2, 255}, 300))
	put("binary.mcap", append([]byte("\x89MCAP0\r\n"), bytes.Repeat([]byte{1, 0, 0, 0, 255, 255, 255, 255, 127}, 50)...))
	put("binary.mat", append([]byte("MATLAB 5.0 MAT-file"), bytes.Repeat([]byte{14, 0, 0, 255}, 200)...))
	put("binary.c3d", bytes.Repeat([]byte{2, 80, 255, 255, 0, 9}, 300))
	put("utf16.csv", []byte("\xff\xfet\x00,\x00x\x00\n\x00"))
	put("book.xlsx", []byte("PK\x03\x04"+strings.Repeat("\x00", 100)))
	put("long-line.txt", bytes.Repeat([]byte("x,"), 1<<19))
	for name, text := range map[string]string{
		"half-rig.yaml": "version: 2\nrig: {name: x}\n", "half-sim.yaml": "version: 1\nplant: {kind: mass}\n",
		"half-machine.yaml": "version: 1\nmachine: {}\n", "half-study.yaml": "version: 1\nbase: good.csv\nvary: {}\n",
		"half-fit.yaml": "version: 1\ndata: {file: good.csv}\n", "half-ball.yaml": "version: 1\nball: {}\n",
		"half-ball-fit.yaml": "version: 1\nball: {}\ndata: {file: points.trc}\n", "half-chain.yaml": "version: 1\nmanipulator: {}\n",
		"half-contact.yaml": "version: 1\nsystem: {}\n", "half-machine-fit.yaml": "version: 1\nmachine: half-machine.yaml\ndata: {file: " +
			"good.csv}\n", "half-response.yaml": "version: 1\nmachine: half-machine.yaml\ndata: {file: good.csv}\noutputs: {}\n",
	} {
		put(name, []byte(text))
	}
	put("fit.yaml", []byte("version: 1\naxis: linear\ndata: {file: good.csv, columns: {time: {name: t, unit: s}, position: {name: x, unit: "+
		"m}, force: {name: F, unit: N}}}\n"))
	for _, name := range []string{"motor.yaml", "stick-slip.yaml", "brush.yaml", "ball.yaml", "manipulator.yaml", "modbus.yaml",
		"trackers.yaml"} {
		put(name, fileText(t, "../../configs/"+name))
	}
	put("four-bar.yaml", fileText(t, "../../configs/machine/four-bar.yaml"))
	put("study.yaml", fileText(t, "../../configs/study/stick-slip.yaml"))
	run := exportRun(t)
	paths["run folder"], paths["run.mcap"] = run, filepath.Join(run, "run.mcap")
	paths["folder"], paths["null"], paths["zero bytes of a process"], paths["missing"], paths["missing.yaml"] = dir, "/dev/null",
		"/proc/self/mem", filepath.Join(dir, "missing"), filepath.Join(dir, "missing.yaml")
	loop := filepath.Join(dir, "loop.yaml")
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	paths["loop"] = loop
	bare := filepath.Join(dir, "bare")
	if err := os.Mkdir(bare, 0o755); err != nil {
		t.Fatal(err)
	}
	paths["empty folder"], paths["nothing"], paths["minus"] = bare, "", "-"
	return paths
}

func fileText(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// matOf4 and matOf5 are MAT files, written by their format descriptions alone.
func matOf4(columns [3][]float64) []byte {
	var b bytes.Buffer
	for i, name := range []string{"t", "x", "F"} {
		binary.Write(&b, binary.LittleEndian, []int32{0, int32(len(columns[i])), 1, 0, int32(len(name) + 1)})
		b.WriteString(name + "\x00")
		binary.Write(&b, binary.LittleEndian, columns[i])
	}
	return b.Bytes()
}

func matOf5(columns [3][]float64) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%-124s", "MATLAB 5.0 MAT-file")
	b.Write([]byte{0, 1, 'I', 'M'})
	for i, name := range []string{"t", "x", "F"} {
		var body bytes.Buffer
		element := func(kind uint32, data []byte) {
			binary.Write(&body, binary.LittleEndian, []uint32{kind, uint32(len(data))})
			body.Write(append(data, make([]byte, (8-len(data)%8)%8)...))
		}
		var numbers bytes.Buffer
		binary.Write(&numbers, binary.LittleEndian, columns[i])
		element(6, []byte{6, 0, 0, 0, 0, 0, 0, 0})
		element(5, binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, uint32(len(columns[i]))), 1))
		element(1, []byte(name))
		element(9, numbers.Bytes())
		binary.Write(&b, binary.LittleEndian, []uint32{14, uint32(body.Len())})
		b.Write(body.Bytes())
	}
	return b.Bytes()
}

// c3dFile is written by a program that knows the user guide of C3D alone.
func c3dFile(t *testing.T) []byte {
	t.Helper()
	points := [][]any{}
	for k := range 6 {
		points = append(points, []any{[]float64{float64(k), 1, 2}, []float64{1, float64(k), 3}, nil})
	}
	spec, err := json.Marshal([]any{map[string]any{"processor": "intel", "real": true, "scale": 0.01, "rate": 100, "units": "mm",
		"names": []string{"A", "B", "C"}, "points": points, "first": 1, "params_at": 2, "repeat": 1, "ascale": []any{}, "aoffset": []any{},
		"gen_scale": 1}})
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(peer.Python(t), "../../identify/capture/testdata/c3d.py")
	c.Stdin = bytes.NewReader(spec)
	out, err := c.Output()
	var texts []string
	if err != nil || json.Unmarshal(out, &texts) != nil || len(texts) != 1 {
		t.Fatalf("c3d.py: %v\n%s", err, out)
	}
	data, err := base64.StdEncoding.DecodeString(texts[0])
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// filled are the words of a verb with files in the places of FILE and so on.
func filled(verb, file, dir string) (args []string) {
	for _, word := range strings.Fields(verb) {
		switch word {
		case "FILE":
			word = file
		case "CSV", "FIT", "RIG", "RESULT":
			word = filepath.Join(dir, map[string]string{"CSV": "good.csv", "FIT": "fit.yaml", "RIG": "motor.yaml", "RESULT": "result.json"}[word])
		case "OUT":
			word = filepath.Join(dir, "out")
		}
		args = append(args, word)
	}
	return args
}

// someOf tells which of many pairs of a file and a verb are tried: one in n, and all of them in a soak.
func someOf(n, pair int) bool { return soak || pair%n == 0 }

// Every verb answers every kind of file: with a result, or with words and the exit code that the documentation says.
func TestAnyFileToAnyVerb(t *testing.T) {
	t.Setenv("LAB_MQTT_PASSWORD", "x")
	dir := t.TempDir()
	files := anyFiles(t, dir)
	pair := 0
	for _, verb := range verbsOfFiles {
		for _, name := range slices.Sorted(maps.Keys(files)) {
			file := files[name]
			if pair++; !someOf(4, pair) {
				continue
			}
			if strings.HasPrefix(verb, "rig ") && slices.Contains([]string{"motor.yaml", "modbus.yaml", "trackers.yaml"}, name) {
				continue // it would run
			}
			if bad := answerOf(filled(verb, file, dir)...); bad != "" {
				t.Errorf("hil %s, FILE is %s: %s", verb, name, bad)
			}
			os.RemoveAll(filepath.Join(dir, "out"))
		}
	}
}

// A file of any kind, cut off anywhere or with a byte that is wrong, is answered by the verbs that read it.
func TestDamagedFilesToTheirVerbs(t *testing.T) {
	t.Setenv("LAB_MQTT_PASSWORD", "x")
	dir := t.TempDir()
	files := anyFiles(t, dir)
	m := &motorTruth{R: 1.2, L: 0.6e-3, K: 0.042, J: 7e-5, Sigma0: 11, Sigma1: 0.02, Fv: 1.5e-4, Fc: 0.015, Fs: 0.021, Vs: 0.5}
	files["run.mcap"] = filepath.Join(m.record(t, truthRun{rate: 1000, clocked: true, seconds: 1.5}), "run.mcap")
	const columns = " --columns time=t:s,position=x:m,force=F:N"
	rng := rand.New(rand.NewPCG(17, 4))
	for name, verbs := range map[string][]string{
		"good.csv":    {"import FILE", "identify FILE" + columns, "identify FILE" + columns + " --law lugre"},
		"good.csv.gz": {"import FILE", "identify FILE" + columns},
		"v4.mat":      {"import FILE", "identify FILE" + columns}, "v5.mat": {"import FILE", "identify FILE" + columns},
		"markers.csv": {"import FILE", "import FILE --radius 35mm"},
		"points.c3d":  {"import FILE", "import FILE --body FILE"}, "points.trc": {"import FILE", "import FILE --radius 35mm"},
		"a.bvh": {"import FILE"}, "run.mcap": {"import FILE", "identify FILE", "replay FILE", "export FILE -o -"},
		"arm.urdf": {"import FILE"}, "tree.xml": {"import FILE"}, "problem.json": {"lcp FILE"},
		"result.json": {"config apply FILE --rig RIG", "export-model FILE --to c", "compare FILE FILE"},
		"motor.yaml":  {"check FILE", "config show FILE"}, "modbus.yaml": {"check FILE"}, "trackers.yaml": {"check FILE"},
		"stick-slip.yaml": {"check FILE"}, "brush.yaml": {"check FILE"}, "ball.yaml": {"check FILE"},
		"manipulator.yaml": {"check FILE"}, "four-bar.yaml": {"check FILE"}, "study.yaml": {"check FILE"}, "fit.yaml": {"check FILE"},
	} {
		data := fileText(t, files[name])
		damaged := filepath.Join(dir, "damaged-"+name)
		for k := range 24 {
			if !someOf(4, k+len(name)) {
				continue
			}
			text, what := slices.Clone(data), ""
			switch at := rng.IntN(len(data)); {
			case k < 12: // near the beginning and anywhere
				if k < 4 {
					at = rng.IntN(min(len(data), 600))
				}
				text, what = text[:at], fmt.Sprintf("cut off at byte %d", at)
			case k < 20:
				text[at] ^= byte(1 + rng.IntN(255))
				what = fmt.Sprintf("byte %d is %d", at, text[at])
			default:
				to := min(at+1+rng.IntN(40), len(data))
				text, what = slices.Delete(text, at, to), fmt.Sprintf("bytes %d to %d missing", at, to)
			}
			if err := os.WriteFile(damaged, text, 0o644); err != nil {
				t.Fatal(err)
			}
			for _, verb := range verbs {
				if bad := answerOf(filled(verb, damaged, dir)...); bad != "" {
					t.Errorf("hil %s, FILE is %s, %s: %s", verb, name, what, bad)
				}
			}
		}
	}
}

// A MAT file needs no identification file either; what it does not say, units, is asked for.
func TestIdentifyMATWithoutAFile(t *testing.T) {
	dir := t.TempDir()
	files := anyFiles(t, dir)
	for _, name := range []string{"v4.mat", "v5.mat"} {
		if _, errs, code := execute(t, "identify", files[name]); code != report.Invalid ||
			!strings.Contains(errs, "no unit of the position and the force is stated") {
			t.Errorf("%s: exit code %d: %s", name, code, errs)
		}
		out, errs, _ := execute(t, "identify", files[name], "--columns", "time=t:s,position=x:m,force=F:N", "--json")
		var r struct {
			Parameters []struct {
				Name  string
				Value float64
			}
		}
		if err := json.Unmarshal([]byte(out), &r); err != nil || len(r.Parameters) < 3 {
			t.Fatalf("%s: %v\n%s%s", name, err, out, errs)
		}
		for i, want := range []float64{2, 3, 1} { // M, Fv, Fc
			if got := r.Parameters[i]; math.Abs(got.Value-want) > 0.1*want {
				t.Errorf("%s: %s = %g, want %g", name, got.Name, got.Value, want)
			}
		}
	}
}
