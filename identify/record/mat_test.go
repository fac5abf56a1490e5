package record

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hilrig/engine/numeric"
	"hilrig/engine/peer"
)

// python runs a script of SciPy and gives what it prints.
func python(t *testing.T, script string, args ...string) []byte {
	t.Helper()
	out, err := exec.Command(peer.Python(t, "scipy.io"), append([]string{"-c", script}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return out
}

// columns reads a file as time at 1 Hz and two channels.
func columns(path, position, velocity string) (*Record, error) {
	return readOne(path, Mapping{Rate: 1, Position: Column{Name: position}, Velocity: Column{Name: velocity}})
}

// Files of SciPy: both versions, plain and compressed, every class of numbers, structures, rows and columns.
func TestMATOfSciPy(t *testing.T) {
	dir := t.TempDir()
	python(t, `
import sys, gzip, numpy as np, scipy.io as io
d = sys.argv[1]
x = np.array([0., 1., 2.5, -3., 1e-3, 7.])
classes = {n: np.array([0, 1, 2, 100, 7, 8]).astype(n) for n in "int8 uint8 int16 uint16 int32 uint32 int64 uint64 float32 float64".split()}
many = dict(classes, note='a text', cell=np.array([1, 'a'], dtype=object), z=x + 1j, row=x.reshape(1, -1), col=x.reshape(-1, 1),
    X=np.arange(18.).reshape(6, 3), B=np.arange(18.).reshape(6, 3) > 3, cube=np.zeros((2, 3, 4)), slab=np.arange(6.).reshape(1, 6, 1), empty=np.zeros((0, 0)),
    s=dict(x=x, v=-x, Y=np.arange(12.).reshape(2, 6), inner=dict(x=x), text='abc'), noise=np.random.default_rng(1).normal(size=6))
io.savemat(d + '/v5.mat', many, oned_as='column')
io.savemat(d + '/v7.mat', many, do_compression=True, oned_as='row')
io.savemat(d + '/v4.mat', {k: v for k, v in many.items() if k in 'row col X float32 float64 int16 int32 uint8 uint16 note z'.split()}, format='4')
open(d + '/v7.mat.gz', 'wb').write(gzip.compress(open(d + '/v7.mat', 'rb').read()))
io.savemat(d + '/big.mat', {'x': np.arange(100000.), 'v': np.arange(100000.) ** 2}, do_compression=True)
`, dir)
	x := []float64{0, 1, 2.5, -3, 1e-3, 7}
	classes := []float64{0, 1, 2, 100, 7, 8}
	for _, file := range []string{"v4.mat", "v5.mat", "v7.mat", "v7.mat.gz"} {
		path := filepath.Join(dir, file)
		four := file == "v4.mat"
		for _, c := range []struct {
			address string
			want    []float64
			both    bool // in version 4 too
		}{
			{"row", x, true}, {"col", x, true}, {"col(:,1)", x, true}, {"row(1,:)", x, true}, {"row[1]", x, true},
			{"X(:,2)", []float64{1, 4, 7, 10, 13, 16}, true}, {"X[3]", []float64{2, 5, 8, 11, 14, 17}, true},
			{"X( :, 1 )", []float64{0, 3, 6, 9, 12, 15}, true},
			{"B[2]", []float64{0, 1, 1, 1, 1, 1}, false}, {"slab", []float64{0, 1, 2, 3, 4, 5}, false},
			{"s.x", x, false}, {"s.v", []float64{-0., -1, -2.5, 3, -1e-3, -7}, false}, {"s.Y(2,:)", []float64{6, 7, 8, 9, 10, 11}, false},
			{"int8", classes, false}, {"uint8", classes, true}, {"int16", classes, true}, {"uint16", classes, true}, {"int32", classes, true},
			{"uint32", classes, false}, {"int64", classes, false}, {"uint64", classes, false}, {"float32", classes, true},
			{"float64", classes, true},
		} {
			if four && !c.both {
				continue
			}
			d, err := columns(path, c.address, "float64")
			if err != nil {
				t.Errorf("%s %s: %v", file, c.address, err)
			} else if !slices.Equal(d.Position, c.want) || !slices.Equal(d.Velocity, classes) || len(d.SHA256) != 64 {
				t.Errorf("%s %s: %v, want %v", file, c.address, d.Position, c.want)
			}
		}
		for _, c := range []struct{ address, want string }{
			{"X", "X is a matrix, 6 × 3"}, {"X(:,4)", "outside of the variable"}, {"X(7,:)", "outside of the variable"}, {"X[0]", "counted from 1"},
			{"note", "a text"}, {"z", "complex"}, {"cell", "a cell array"}, {"cube", "3 dimensions"}, {"s.inner.x", "only one level"},
			{"s.text", "a text"},
			{"s", `no column "s"`}, {"s.y", `Did you mean "s.`}, {"Row", `Did you mean "row"`}, {"empty", "has 6 numbers"},
			{"X(1:3)", "not an address"},
		} {
			if _, err := columns(path, c.address, "float64"); (err == nil || !strings.Contains(err.Error(), c.want)) && !four {
				t.Errorf("%s %s: %v, want …%s…", file, c.address, err, c.want)
			}
		}
	}
	d, err := columns(filepath.Join(dir, "big.mat"), "x", "v")
	if err != nil || d.Len() != 100000 || d.Velocity[99999] != 99999.*99999. {
		t.Fatalf("long: %v, %v", d, err)
	}

	// every way to cut or damage a file is an error or leaves the numbers as they were
	whole, err := os.ReadFile(filepath.Join(dir, "v7.mat"))
	if err != nil {
		t.Fatal(err)
	}
	m := Mapping{Rate: 1, Position: Column{Name: "noise"}}
	want, err := read("v7.mat", bufio.NewReader(bytes.NewReader(whole)), m)
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		damaged := bytes.Clone(whole)
		damaged[i] ^= 0x40
		d, err := read("v7.mat", bufio.NewReader(bytes.NewReader(damaged)), m)
		var de *Error
		if err == nil && !slices.Equal(d.Position, want.Position) || err != nil && !errors.As(err, &de) {
			t.Fatalf("byte %d: %v, %v", i, d, err)
		}
		if _, err := read("v7.mat", bufio.NewReader(bytes.NewReader(whole[:i])), m); err == nil {
			t.Fatalf("the first %d bytes of %d are accepted", i, len(whole))
		}
	}
}

// put5 writes an element of version 5.
func put5(order binary.ByteOrder, kind uint32, body []byte) []byte {
	out := make([]byte, 8, 8+len(body)+7)
	if n := len(body); n > 0 && n <= 4 && kind != miMatrix {
		order.PutUint32(out, kind|uint32(n)<<16)
		copy(out[4:], body)
		return out
	}
	order.PutUint32(out, kind)
	order.PutUint32(out[4:], uint32(len(body)))
	out = append(out, body...)
	for kind != miCompressed && len(out)%8 != 0 {
		out = append(out, 0)
	}
	return out
}

func words(order binary.ByteOrder, x ...uint32) []byte {
	out := make([]byte, 4*len(x))
	for i, w := range x {
		order.PutUint32(out[4*i:], w)
	}
	return out
}

// array5 is a matrix of doubles, column by column.
func array5(order binary.ByteOrder, name string, rows, cols int, x []float64) []byte {
	numbers := make([]byte, 8*len(x))
	for i, v := range x {
		order.PutUint64(numbers[8*i:], math.Float64bits(v))
	}
	return put5(order, miMatrix, slices.Concat(put5(order, 6, words(order, mxFirst, 0)),
		put5(order, 5, words(order, uint32(rows), uint32(cols))),
		put5(order, 1, []byte(name)), put5(order, 9, numbers)))
}

func struct5(order binary.ByteOrder, name string, fields map[string][]float64, names ...string) []byte {
	body := slices.Concat(put5(order, 6, words(order, mxStruct, 0)), put5(order, 5, words(order, 1, 1)), put5(order, 1, []byte(name)),
		put5(order, 5, words(order, 8)))
	table := make([]byte, 8*len(names))
	for i, n := range names {
		copy(table[8*i:], n)
	}
	body = append(body, put5(order, 1, table)...)
	for _, n := range names {
		body = append(body, array5(order, "", len(fields[n]), 1, fields[n])...)
	}
	return put5(order, miMatrix, body)
}

func pack5(order binary.ByteOrder, element []byte) []byte {
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	_, _ = w.Write(element)
	_ = w.Close()
	return put5(order, miCompressed, z.Bytes())
}

func file5(order binary.ByteOrder, elements ...[]byte) []byte {
	head := make([]byte, 128)
	copy(head, "MATLAB 5.0 MAT-file")
	order.PutUint16(head[124:], 0x0100)
	order.PutUint16(head[126:], 'M'<<8|'I')
	return slices.Concat(head, slices.Concat(elements...))
}

// byteOrder is what the orders of package binary can do.
type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

func file4(order byteOrder, machine uint32, name string, x []float64) []byte {
	out := append(words(order, 1000*machine, 1, uint32(len(x)), 0, uint32(len(name)+1)), name...)
	out = append(out, 0)
	for _, v := range x {
		out = order.AppendUint64(out, math.Float64bits(v))
	}
	return out
}

// The files made here are also read by SciPy, in both byte orders.
func TestMATByteOrders(t *testing.T) {
	x, v := []float64{1, -2.5, 3e10, 4}, []float64{5, 6, 7, 8}
	dir := t.TempDir()
	files := map[string][]byte{
		"le4.mat": slices.Concat(file4(binary.LittleEndian, 0, "x", x), file4(binary.LittleEndian, 0, "v", v)),
		"be4.mat": slices.Concat(file4(binary.BigEndian, 1, "x", x), file4(binary.BigEndian, 1, "v", v)),
	}
	for name, order := range map[string]byteOrder{"le5.mat": binary.LittleEndian, "be5.mat": binary.BigEndian} {
		files[name] = file5(order, array5(order, "x", 4, 1, x), struct5(order, "s", map[string][]float64{"v": v, "w": x}, "w", "v"))
		files["packed_"+name] = file5(order, pack5(order, array5(order, "x", 1, 4, x)),
			pack5(order, struct5(order, "s", map[string][]float64{"v": v, "w": x}, "w", "v")))
	}
	for name, b := range files {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		velocity := "s.v"
		if strings.Contains(name, "4") {
			velocity = "v"
		}
		d, err := columns(path, "x", velocity)
		if err != nil || !slices.Equal(d.Position, x) || !slices.Equal(d.Velocity, v) {
			t.Errorf("%s: %v, %v", name, d, err)
		}
	}
	var got map[string][]float64
	out := python(t, `
import sys, os, json, scipy.io as io
out = {}
for f in sorted(os.listdir(sys.argv[1])):
    m = io.loadmat(os.path.join(sys.argv[1], f), squeeze_me=True)
    out[f] = list(m['x']) + list(m['v'] if '4' in f else m['s']['v'].item())
print(json.dumps(out))
`, dir)
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	for name := range files {
		if !slices.Equal(got[name], slices.Concat(x, v)) {
			t.Errorf("SciPy reads %s as %v", name, got[name])
		}
	}
}

// What is no text and no MAT file is named for what it is.
func TestForeignFiles(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write([]byte("t,x\n0,1\n1,2\n"))
	_ = w.Close()
	newer := make([]byte, 600)
	copy(newer, "MATLAB 7.3 MAT-file")
	copy(newer[124:], "\x00\x02IM")
	for _, c := range []struct {
		name string
		body []byte
		want string
	}{
		{"a.mat", []byte("t,x\n0,1\n"), "is not a MAT file"},
		{"a.mat", newer, "version 7.3"},
		{"a.mat", []byte("\x89HDF\r\n\x1a\n"), "version 7.3"},
		{"a.mat", []byte("# Created by Octave 7.3.0\n# name: x\n"), "text format of Octave"},
		{"a.xlsx", []byte("PK\x03\x04abc"), "a workbook"},
		{"a.csv", []byte("\xff\xfet\x00,\x00x\x00\n\x00"), "UTF-16"},
		{"a.csv", []byte("t\x00,\x00x\x00\n\x001\x00,\x002\x00\n\x00"), "UTF-16"},
		{"a.csv", []byte("\x00t\x00,\x00x\x00\n\x001\x00,\x002\x00\n"), "UTF-16"},
		{"a.tsv", []byte("NO_OF_FRAMES\t3\nNO_OF_CAMERAS\t8\nMARKER_NAMES\ta\n1\t2\t3\n"), "Qualisys"},
		{"b.tsv", []byte("\ufeffNO_OF_FRAMES\t3\nNO_OF_CAMERAS\t8\nMARKER_NAMES\ta\n1\t2\t3\n"), "Qualisys"},
		{"a.mot", []byte("walk\nversion=1\nnRows=2\nnColumns=2\ninDegrees=yes\nendheader\ntime\tknee\n0\t1\n1\t2\n"), "OpenSim"},
		{"a.csv", []byte("t,x\n\x00\x00\x00"), "is not a text"},
		{"a.csv.gz", packed.Bytes()[:packed.Len()-12], "cut short or damaged"},
	} {
		_, err := read(c.name, bufio.NewReader(bytes.NewReader(c.body)), Mapping{Time: Column{Name: "t"}, Position: Column{Name: "x"}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: %v, want …%s…", c.name, c.body[:min(len(c.body), 12)], err, c.want)
		}
	}
	if d, err := read("a.csv", bufio.NewReader(&packed), Mapping{Time: Column{Name: "t"}, Position: Column{Name: "x"}}); err != nil ||
		d.Len() != 2 {
		t.Errorf("%v, %v", d, err)
	}
}

// Whatever the bytes, reading a MAT file ends with finite data or with a *Error.
func FuzzMAT(f *testing.F) {
	x := []float64{1, 2, 3}
	for _, order := range []byteOrder{binary.LittleEndian, binary.BigEndian} {
		f.Add(file5(order, array5(order, "x", 3, 1, x), struct5(order, "s", map[string][]float64{"v": x}, "v"),
			array5(order, "X", 3, 2, append(x, x...))))
		f.Add(file5(order, pack5(order, array5(order, "x", 3, 1, x)), pack5(order, struct5(order, "s", map[string][]float64{"v": x}, "v"))))
	}
	f.Add(file4(binary.LittleEndian, 0, "x", x))
	f.Add(file4(binary.BigEndian, 1, "x", x))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, m := range []Mapping{
			{Rate: 1, Position: Column{Name: "x"}},
			{Rate: 1, Position: Column{Name: "x"}, Velocity: Column{Name: "s.v"}, Force: Column{Name: "X(:,2)"}},
			{Rate: 1, Position: Column{Name: "X(2,:)"}},
		} {
			d, err := read("fuzz.mat", bufio.NewReader(bytes.NewReader(b)), m)
			if err != nil {
				var de *Error
				if !errors.As(err, &de) {
					t.Fatalf("%T: %v", err, err)
				}
				continue
			}
			for k, x := range d.Position {
				if !numeric.IsFinite(x) {
					t.Fatalf("sample %d: %g", k, x)
				}
			}
		}
	})
}
