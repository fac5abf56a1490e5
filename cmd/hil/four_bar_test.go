//go:build linux

package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hilrig/cmd/daemon"
	"hilrig/cmd/report"
)

// subscribe is the least that MQTT 3.1.1 asks of a client, written from the standard: the payloads of a topic, as they come.
func subscribe(t *testing.T, address, topic string) <-chan []byte {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(address, "tcp://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	text := func(s string) []byte { return append(binary.BigEndian.AppendUint16(nil, uint16(len(s))), s...) }
	packet := func(kind byte, body []byte) { c.Write(append([]byte{kind, byte(len(body))}, body...)) }
	packet(0x10, append(append(text("MQTT"), 4, 2, 0, 0), text("test")...)) // CONNECT, clean, no keep-alive
	packet(0x82, append(append([]byte{0, 1}, text(topic)...), 0))           // SUBSCRIBE
	out := make(chan []byte, 16)
	go func() {
		defer close(out)
		in := bufio.NewReader(c)
		for {
			kind, err := in.ReadByte()
			if err != nil {
				return
			}
			n, err := binary.ReadUvarint(in) // the lengths of both have seven bits a byte, the lowest first
			if err != nil {
				return
			}
			body := make([]byte, n)
			if _, err := io.ReadFull(in, body); err != nil {
				return
			}
			if kind&0xf0 == 0x30 { // PUBLISH of quality 0
				select {
				case out <- body[2+binary.BigEndian.Uint16(body):]:
				default:
				}
			}
		}
	}()
	return out
}

// linkageOf is the four-bar of configs/machine/driven-four-bar.yaml at a motion of its crank: the angle of the rocker, where two circles
// meet, and the torque on the crank, by Lagrange's equation of its one coordinate and the level of friction. Derivatives are central
// differences of the geometry.
func linkageOf(phi, omega, alpha float64) (rocker, torque float64) {
	const crank, coupler, arm, ground, rotor, damping, level = 0.1, 0.35, 0.3, 0.4, 3e-3, 2e-3, 0.05
	const d = 1e-3
	slope := func(f func(float64) float64, x float64) float64 {
		return (8*(f(x+d)-f(x-d)) - f(x+2*d) + f(x-2*d)) / (12 * d)
	}
	theta := func(p float64) float64 {
		x, y := ground-crank*math.Cos(p), -crank*math.Sin(p)
		l := math.Hypot(x, y)
		return math.Atan2(y, x) + math.Acos((coupler*coupler+l*l-arm*arm)/(2*coupler*l))
	}
	psi := func(p float64) float64 {
		return math.Atan2(crank*math.Sin(p)+coupler*math.Sin(theta(p)), crank*math.Cos(p)+coupler*math.Cos(theta(p))-ground)
	}
	inertia := func(p float64) float64 {
		x := slope(func(p float64) float64 { return crank*math.Cos(p) + coupler/2*math.Cos(theta(p)) }, p)
		y := slope(func(p float64) float64 { return crank*math.Sin(p) + coupler/2*math.Sin(theta(p)) }, p)
		turn, swing := slope(theta, p), slope(psi, p)
		return rotor + math.Pow(crank, 3)/3 + coupler*(x*x+y*y) + math.Pow(coupler, 3)/12*turn*turn + math.Pow(arm, 3)/3*swing*swing
	}
	height := func(p float64) float64 {
		return crank*crank/2*math.Sin(p) + coupler*(crank*math.Sin(p)+coupler/2*math.Sin(theta(p))) + arm*arm/2*math.Sin(psi(p))
	}
	torque = inertia(phi)*alpha + slope(inertia, phi)*omega*omega/2 + 9.81*slope(height, phi) + damping*omega + math.Copysign(level, omega)
	return psi(phi), torque
}

// configs/four-bar-rig.yaml turns its linkage. What MQTT says of it is what the geometry and Lagrange's equation say of the motion that it
// is led along, the model that runs ahead on the voltage stays near, and a replay repeats every row.
func TestDaemonFourBarExample(t *testing.T) {
	inPairs(t)
	if testing.Short() {
		t.Skip("drives a rig for three seconds")
	}
	file := patient(t, "four-bar-rig")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	machine, err := filepath.Abs("../../configs/machine/driven-four-bar.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(data), "machine/driven-four-bar.yaml", machine)), 0o644); err != nil {
		t.Fatal(err)
	}
	d := startRun(t, file, "--record", t.TempDir())
	d.awaitMode("run")
	states := subscribe(t, d.ready.MQTT, "hil/four-bar-rig/state")
	fast, swing, worst, ahead := 0, [2]float64{math.Inf(1), math.Inf(-1)}, [2]float64{}, 0.0
	for end := time.After(3 * time.Second); ; {
		var text []byte
		select {
		case text = <-states:
		case <-end:
		}
		if text == nil {
			break
		}
		var s map[string]any
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		n := func(name string) float64 {
			x, ok := s[name].(float64)
			if !ok {
				t.Fatalf("no number %s in %s", name, text)
			}
			return x
		}
		q, v := n("linkage.crank.q"), n("linkage.crank.v")
		if st := n("linkage.status") + n("twin.status"); st != 0 || n("linkage.residual") > 1e-10 {
			t.Errorf("status %g, residual %g", st, n("linkage.residual"))
		}
		rocker, torque := linkageOf(q, v, n("linkage.crank.a"))
		worst[0] = math.Max(worst[0], math.Abs(n("linkage.rocker.q")-rocker))
		swing = [2]float64{math.Min(swing[0], q), math.Max(swing[1], q)}
		ahead = math.Max(ahead, math.Abs(n("twin.crank.difference")))
		if math.Abs(v) > 1.5 { // friction has its level, and its bristle has settled
			fast++
			worst[1] = math.Max(worst[1], math.Abs(n("linkage.crank.motion")-torque))
		}
	}
	t.Logf("crank from %.3g to %.3g rad; %d states in fast motion; rocker off by %.2g rad, torque by %.2g N·m; the twin by up to %.2g rad",
		swing[0], swing[1], fast, worst[0], worst[1], ahead)
	if fast < 10 || swing[1]-swing[0] < 3 || worst[0] > 1e-5 || worst[1] > 0.02 || ahead > 1 {
		t.Errorf("crank from %g to %g rad, %d states in fast motion, off by %g, the twin by %g rad", swing[0], swing[1], fast, worst, ahead)
	}
	if code := d.stop(); code != report.Interrupted {
		t.Errorf("exit code %d\n%s", code, d.errs)
	}
	out, errs, code := execute(t, "replay", "--json", d.ready.Run)
	var rep daemon.ReplayResult
	if err := json.Unmarshal([]byte(out), &rep); err != nil || code != 0 || rep.Rows < 1000 || rep.Differ != 0 {
		t.Errorf("replay: code %d, %v, %+v\n%s", code, err, rep, errs)
	}
}
