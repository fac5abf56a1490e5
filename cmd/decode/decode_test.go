package decode

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/hil/wire"
)

// run decodes text or bytes from the standard input.
func run(t *testing.T, in string, o Options) (lines []map[string]any, stderr string, err error) {
	t.Helper()
	if o.form == "" {
		o.form = "auto"
	}
	if o.length == "" {
		o.length = "inch"
	}
	o.pieces = 20
	var out, errOut bytes.Buffer
	err = Run("-", o, strings.NewReader(in), &out, &errOut)
	for line := range strings.Lines(out.String()) {
		var v map[string]any
		if e := json.Unmarshal([]byte(line), &v); e != nil {
			t.Fatalf("%v in %s", e, line)
		}
		lines = append(lines, v)
	}
	return lines, errOut.String(), err
}

// value is a value of the first sample of a line.
func value(line map[string]any, name string) float64 {
	s, _ := line["samples"].([]any)
	if len(s) == 0 {
		return math.NaN()
	}
	v, ok := s[0].(map[string]any)["values"].(map[string]any)[name].(float64)
	if !ok {
		return math.NaN()
	}
	return v
}

// The frame of the BNO080 data sheet, in every form in which people write it.
func TestForms(t *testing.T) {
	const plain = "AA AA DE 01 00 92 FF 25 08 8D FE EC FF D1 03 00 00 00 E7"
	raw, _ := hex.DecodeString(strings.ReplaceAll(plain, " ", ""))
	for _, in := range []string{
		plain, strings.ToLower(plain) + "\n", strings.ReplaceAll(plain, " ", ""), "# data sheet\n" + plain + "\r\n",
		"0x" + strings.ReplaceAll(plain, " ", ", 0x"), `\x` + strings.ReplaceAll(plain, " ", `\x`), strings.ReplaceAll(plain, " ", ":"),
		string(raw),
	} {
		lines, said, err := run(t, in, Options{protocol: "rvc"})
		if err != nil || len(lines) != 1 || math.Abs(value(lines[0], "roll")-20.85*math.Pi/180) > 1e-12 ||
			lines[0]["units"].(map[string]any)["a.x"] != "m/s²" {
			t.Errorf("%q: %v, %v; %s", in, lines, err, said)
		}
	}
}

// Pieces that are no frame are told with their place; a frame between them keeps its own.
func TestPieces(t *testing.T) {
	lines, said, err := run(t, "noise\rOKAYA896\rOKAYA897\r\x01\x02", Options{protocol: "ndi"})
	if err != nil || len(lines) != 1 || lines[0]["at"] != 6.0 || lines[0]["bytes"] != 9.0 || lines[0]["frame"] != "OKAY" {
		t.Errorf("%v %v", lines, err)
	}
	for _, want := range []string{"26 bytes (taken for binary), 1 frames; 2 bad", "17 bytes in 2 pieces", "bytes 0 to 5: 6e 6f 69 73 65 0d",
		"bytes 15 to 25: 4f 4b"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in %s", want, said)
		}
	}
}

// A text whose end was not copied is taken all the same, and counts as what it is.
func TestEndLeftOut(t *testing.T) {
	for protocol, in := range map[string]string{"ndi": "WARNING7423", "polaris": "030A0010B0010C001C254\n",
		"vn100": "$VNRRG,01,VN-200T-CR*31"} {
		lines, said, err := run(t, in, Options{protocol: protocol})
		if err != nil || len(lines) != 1 || lines[0]["bytes"] != float64(len(in)) || !strings.Contains(said, " 0 bytes in 0 pieces") {
			t.Errorf("%s: %v %v; %s", protocol, lines, err, said)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		in   string
		o    Options
		code int
		says string
	}{
		{"00", Options{}, report.Usage, "--protocol is missing"},
		{"00", Options{protocol: "xsans"}, report.Usage, `did you mean "xsens"`},
		{"00", Options{protocol: "ndi", form: "base64"}, report.Usage, "--input"},
		{"0", Options{protocol: "ndi", form: "hex"}, report.Invalid, "odd number"},
		{"00 zz", Options{protocol: "ndi", form: "hex"}, report.Invalid, `line 1, column 4: 'z' is no hexadecimal digit`},
		{"", Options{protocol: "ndi"}, report.Invalid, "no bytes"},
		{"00 01", Options{protocol: "ndi"}, report.Invalid, "no frame of ndi in 2 bytes"},
		{"00", Options{protocol: "ndi", device: "x"}, report.Usage, "--rig FILE"},
		{"00", Options{protocol: "ndi", items: "2"}, report.Usage, "for polhemus and fastrak"},
		{"00", Options{protocol: "polhemus", items: "2,99"}, report.Usage, "99 is no item"},
		{"00", Options{rig: filepath.Join("..", "..", "configs", "modbus.yaml"), device: "bas"}, report.Usage, "no such device"},
	} {
		_, _, err := run(t, c.in, c.o)
		if report.ExitCode(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %d %v, want %d %s", c.o, report.ExitCode(err), err, c.code, c.says)
		}
	}
}

// A record of a LIBERTY by the list in a rig file: the second number is the time there, not the count.
func TestPolhemusByTheFile(t *testing.T) {
	const record = "4c59014320002400e6e0030013291000c03cb6404c4028c0c93f7e3f0000803f000000000000000000000000"
	lines, _, err := run(t, record, Options{rig: filepath.Join("..", "..", "configs", "trackers.yaml"), device: "liberty"})
	if err != nil || len(lines) != 1 || value(lines[0], "count") != 254182 || value(lines[0], "q.w") != 1 ||
		math.Abs(value(lines[0], "x")-5.694915771484375*0.0254) > 1e-12 {
		t.Errorf("%v %v", lines, err)
	}
}

// The worked example of docs/reference/link.md, with names from a rig file, and without.
func TestLink(t *testing.T) {
	rig := filepath.Join("..", "..", "configs", "motor.yaml")
	cfg, err := configs.Load(rig)
	if err != nil {
		t.Fatal(err)
	}
	p, err := cfg.Plan(&cfg.Devices[0])
	if err != nil {
		t.Fatal(err)
	}
	far, v := p.FarEnd(), make([]float64, len(p.Meas))
	v[0] = 0.25
	b := []byte{0}
	for seq := range 3 {
		b, _ = far.Encoder.Append(b, wire.Header{Kind: wire.Measurement, Seq: uint8(seq), Time: 5_000_000,
			FreshFields: wire.AllFields(len(v))}, v)
	}
	lines, said, err := run(t, string(b), Options{rig: rig})
	if err != nil || len(lines) != 3 {
		t.Fatalf("%d lines, %v; %s", len(lines), err, said)
	}
	got := lines[1]["values"].(map[string]any)[p.Meas[0].Name].(float64)
	if math.Abs(got-0.25) > math.Abs(p.Meas[0].Scale) || lines[1]["time"] != 0.005 || lines[1]["sequence"] != 1.0 {
		t.Errorf("%v", lines[1])
	}
	if lines, _, err = run(t, string(b), Options{protocol: "link"}); err != nil || len(lines) != 3 || lines[2]["sequence"] != 2.0 ||
		lines[2]["raw"] == "" {
		t.Errorf("without a table: %v %v", lines, err)
	}
}

// Question and reply of the Modbus protocol specification V1.1b3, §6.3: registers 108 to 110 of slave 17 as RTU frames, with the CRC by
// Modbus over Serial Line V1.02, appendix B.
func TestModbus(t *testing.T) {
	crc := func(b ...byte) []byte {
		r := uint16(0xFFFF)
		for _, c := range b {
			r ^= uint16(c)
			for range 8 {
				if r&1 != 0 {
					r = r>>1 ^ 0xA001
				} else {
					r >>= 1
				}
			}
		}
		return append(b, byte(r), byte(r>>8))
	}
	b := append(crc(17, 3, 0, 0x6B, 0, 3), crc(17, 3, 6, 2, 0x2B, 0, 0, 0, 0x64)...)
	b = append(append(b, 0x55), crc(17, 0x83, 2)...)
	lines, said, err := run(t, string(b), Options{protocol: "modbus", form: "binary"})
	if err != nil || len(lines) != 3 || lines[0]["frame"] != "question" || lines[0]["register"] != 107.0 || lines[2]["code"] != 2.0 {
		t.Fatalf("%v %v; %s", lines, err, said)
	}
	if r := lines[1]["registers"].([]any); len(r) != 3 || r[0] != 555.0 || r[2] != 100.0 {
		t.Errorf("%v", lines[1])
	}
	if !strings.Contains(said, "bytes 19 to 19: 55") {
		t.Error(said)
	}
	for _, c := range []struct {
		reply []byte
		other bool
	}{{crc(17, 6, 0, 1, 0, 3), false}, {crc(17, 6, 0, 1, 0, 4), true}, {crc(17, 6, 0, 2, 0, 3), true}} {
		lines, _, err = run(t, string(append(crc(17, 6, 0, 1, 0, 3), c.reply...)), Options{protocol: "modbus", form: "binary"})
		if err != nil || len(lines) != 2 || lines[1]["frame"] != "reply" || (lines[1]["reason"] != nil) != c.other || lines[0]["reason"] != nil {
			t.Errorf("%x: %v %v", c.reply, lines, err)
		}
	}
	for count, other := range map[byte]bool{2: false, 1: true} {
		lines, _, err = run(t, string(append(crc(17, 16, 0, 1, 0, 2, 4, 0, 10, 1, 2), crc(17, 16, 0, 1, 0, count)...)),
			Options{protocol: "modbus", form: "binary"})
		if err != nil || len(lines) != 2 || lines[1]["frame"] != "reply" || (lines[1]["reason"] != nil) != other {
			t.Errorf("%d registers taken of 2: %v %v", count, lines, err)
		}
	}
}

func TestLine(t *testing.T) {
	lines, _, err := run(t, "1.5,2\n3,4\n", Options{protocol: "line"})
	if err != nil || len(lines) != 2 || lines[1]["text"] != "3,4" {
		t.Errorf("%v %v", lines, err)
	}
}

func TestFile(t *testing.T) {
	var out, errOut bytes.Buffer
	o := Options{protocol: "xsens", form: "auto", length: "inch", pieces: 1}
	if err := Run(filepath.Join("..", "..", "hil", "wire", "tracker", "testdata", "xsens1.bin"), o, os.Stdin, &out, &errOut); err != nil ||
		strings.Count(out.String(), "\n") != 6 {
		t.Errorf("%v: %s", err, out.String())
	}
	if err := Run("nowhere.bin", o, os.Stdin, &out, &errOut); report.ExitCode(err) != report.Invalid {
		t.Error(err)
	}
}
