package device

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hilrig/engine/peer"
	"hilrig/hil/protocol"
	"hilrig/hil/rt"
	"hilrig/hil/wire"
)

// pyRegister is a register as the script in testdata wants it.
type pyRegister struct {
	Slave    int     `json:"slave"`
	Table    string  `json:"table"`
	Register int     `json:"register"`
	Type     string  `json:"type"`
	Words    string  `json:"words"`
	Value    float64 `json:"value"`
}

// pyWrite is what it says of a write.
type pyWrite struct {
	Slave    int   `json:"slave"`
	Register int   `json:"register"`
	Values   []int `json:"values"`
}

// pymodbus runs slaves with these registers on a terminal, and returns the name of the port at the other end, and the writes.
func pymodbus(t *testing.T, registers []pyRegister) (port string, writes func() []pyWrite) {
	t.Helper()
	python := peer.Python(t, "pymodbus", "serial_asyncio")
	ours, port, err := OpenPTY("")
	if err != nil {
		t.Fatal(err)
	}
	theirs, name, err := OpenPTY("")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "testdata/modbus_slaves.py", name)
	stdin, err1 := cmd.StdinPipe()
	stdout, err2 := cmd.StdoutPipe()
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(registers)
	fmt.Fprintf(stdin, "%s\n", text)
	lines := bufio.NewScanner(stdout)
	if !lines.Scan() || lines.Text() != `"ready"` {
		stdin.Close()
		cmd.Wait()
		t.Fatalf("pymodbus says %q\n%s", lines.Text(), stderr.String())
	}
	// what one terminal's far end gets, the other's sends
	var wg sync.WaitGroup
	for _, way := range [][2]Port{{ours, theirs}, {theirs, ours}} {
		wg.Go(func() {
			buf := make([]byte, 512)
			for {
				n, err := way[0].Read(buf)
				if err != nil {
					return
				}
				way[1].Write(buf[:n], time.Second)
			}
		})
	}
	var mu sync.Mutex
	var seen []pyWrite
	wg.Go(func() {
		for lines.Scan() {
			var w pyWrite
			if json.Unmarshal(lines.Bytes(), &w) == nil {
				mu.Lock()
				seen = append(seen, w)
				mu.Unlock()
			}
		}
		io.Copy(io.Discard, stdout)
	})
	t.Cleanup(func() {
		stdin.Close()
		ours.Close()
		theirs.Close()
		wg.Wait()
		cmd.Wait()
		if t.Failed() {
			t.Log(stderr.String())
		}
	})
	return port, func() []pyWrite {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(seen)
	}
}

// Every type in both orders out of both tables, by one slave and by three; commands arrive by functions 6 and 16, and the safe values last.
func TestPymodbus(t *testing.T) {
	if testing.Short() {
		t.Skip("starts Python")
	}
	values := map[wire.Type]float64{wire.U16: 65000, wire.I16: -12345, wire.U32: 4000000001, wire.I32: -2000000001, wire.F32: -118.625,
		wire.F64: 1.0 / 3}
	for _, slaves := range []int{1, 3} {
		t.Run(fmt.Sprint(slaves, " slaves"), func(t *testing.T) {
			var meas, cmd []wire.Field
			var there []pyRegister
			var want []float64
			put := func(f wire.Field, v float64) {
				there = append(there, pyRegister{f.Register.Slave, f.Register.Table.String(), *f.Register.Register, f.Type.String(),
					f.Register.Order.Words()[f.Register.Order], v})
			}
			reg := 10
			for s := range slaves {
				for k := range 4 {
					for ty := wire.U16; ty <= wire.F64; ty++ {
						v, ok := values[ty]
						if !ok || slaves > 1 && k != int(ty)%4 { // three slaves: each type once
							continue
						}
						f := at(fmt.Sprintf("s%d.r%d", 7*s+1, reg), ty, 7*s+1, wire.RegisterTable(k/2), reg)
						f.Register.Order = wire.WordOrder(k % 2)
						f.Scale, f.Offset = 0.5, 3
						meas, want = append(meas, f), append(want, v*0.5+3)
						put(f, v)
						reg += ty.Registers()
						if ty == wire.I32 {
							reg += 2 // a gap, which ends a request
						}
					}
				}
			}
			last := 7*(slaves-1) + 1
			cmd = []wire.Field{at("volts", wire.I16, last, wire.Holding, 500), at("torque", wire.F32, 1, wire.Holding, 600),
				at("enable", wire.U16, 1, wire.Holding, 602)}
			safe := []float64{-7, 0.5, 9}
			for i, f := range cmd {
				put(f, safe[i])
			}
			port, writes := pymodbus(t, there)
			s := quick()
			s.Timeout, s.Silence = 5, 0
			rig, err := NewRig(Options{Port: port, Baud: 115200, Protocol: s, Measure: meas, Command: cmd, Safe: safe, Rate: 50, Loop: 50,
				TxCPU: -1})
			if err != nil {
				t.Fatal(err)
			}
			if err := rig.Start(context.Background()); err != nil {
				t.Fatal(err)
			}
			defer rig.Close()
			t.Logf("%d fields in %d requests", len(meas), len(rig.plan.Groups))
			y, seen := make([]float64, wire.MaxFields), uint64(0)
			begin := time.Now()
			for seen&wire.AllFields(len(meas)) != wire.AllFields(len(meas)) {
				if seen |= rig.Poll(rt.Now(), y); time.Since(begin) > 30*time.Second {
					t.Fatalf("seen %b, %+v, %s", seen, stat(rig), trouble(rig))
				}
				time.Sleep(time.Millisecond)
			}
			for i := range want {
				if y[i] != want[i] {
					t.Errorf("%s (%v, %v, %v): %v, want %v", meas[i].Name, meas[i].Type, meas[i].Register.Table, meas[i].Register.Order, y[i], want[i])
				}
			}
			rig.Send([]float64{-1234, -118.625, 1})
			volts, both := pyWrite{last, 500, []int{65536 - 1234}}, pyWrite{1, 600, []int{0xC2ED, 0x4000, 1}}
			arrived := func(want pyWrite) func() bool {
				return func() bool {
					return slices.ContainsFunc(writes(), func(w pyWrite) bool {
						return w.Slave == want.Slave && w.Register == want.Register && slices.Equal(w.Values, want.Values)
					})
				}
			}
			patient(t, "the voltage arrives", arrived(volts))
			patient(t, "torque and enable arrive", arrived(both))
			if st := stat(rig); st.Refusals != 0 || st.Malformed != 0 || st.Timeouts != 0 {
				t.Errorf("%+v: %s", st, trouble(rig))
			}
			n := len(writes())
			rig.Close()
			patient(t, "the safe values arrive", func() bool {
				w := writes()[n:]
				return len(w) > 1 && (len(w)%2 == 0) && w[len(w)-1].Slave+w[len(w)-2].Slave == last+1
			})
			time.Sleep(20 * time.Millisecond)
			for _, w := range writes()[n:] {
				if w.Register == 500 && !slices.Equal(w.Values, []int{65536 - 7}) || w.Register == 600 && !slices.Equal(w.Values, []int{0x3F00, 0, 9}) {
					t.Errorf("after the stop: %+v", w)
				}
			}
		})
	}
}

// A register that is not there is refused by name, and the others go on.
func TestPymodbusRefuses(t *testing.T) {
	if testing.Short() {
		t.Skip("starts Python")
	}
	good, bad := at("a", wire.U16, 1, wire.Input, 4), at("b", wire.U16, 1, wire.Input, 40)
	port, _ := pymodbus(t, []pyRegister{{1, "input", 4, "u16", "high-first", 77}})
	s := quick()
	s.Timeout, s.Silence = 5, 0
	rig, err := NewRig(Options{Port: port, Baud: 115200, Protocol: s, Measure: []wire.Field{good, bad}, Rate: 50, Loop: 50, TxCPU: -1})
	if err != nil {
		t.Fatal(err)
	}
	if err := rig.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	defer rig.Close()
	y := make([]float64, 4)
	patient(t, "both are answered", func() bool { rig.Poll(rt.Now(), y); return y[0] == 77 && stat(rig).Refusals > 0 })
	if tr := trouble(rig); !strings.Contains(tr, "refused (illegal data address: the slave has no such register, or not so many in a row), "+
		"newest of slave 1, input register 40 (function 4)") {
		t.Errorf("trouble: %s", tr)
	}
	if y[1] == y[1] || y[3] == y[3] {
		t.Errorf("what never came is %v, its age %v, want neither", y[1], y[3])
	}
}

func stat(r *Rig) (s Stats) { r.Stats(&s); return s }

func trouble(r *Rig) string { s := stat(r); return s.Trouble(r.plan.Turns) }

// patient waits for another program.
func patient(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !f(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("waited 30 s in vain until ", what)
		}
	}
}

var _ protocol.Section = (*protocol.Modbus)(nil)
