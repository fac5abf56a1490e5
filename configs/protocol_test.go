package configs

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"hilrig/configs/schema"
	"hilrig/hil/protocol"
)

// protocolFile is an example file of each protocol.
var protocolFile = map[string]string{"link": "motor.yaml", "line": "serial-line.yaml", "modbus": "modbus.yaml"}

func init() {
	for i := range protocol.Kinds {
		if protocol.Kinds[i].Tracker {
			protocolFile[protocol.Kinds[i].Name] = "trackers.yaml"
		}
	}
}

// Every protocol of the list has a file that loads with it, and stands in the schema and in the docs.
func TestEveryProtocol(t *testing.T) {
	text, err := schema.JSON("hil rig file", Default())
	if err != nil {
		t.Fatal(err)
	}
	var top struct {
		Properties struct {
			Devices struct {
				AdditionalProperties struct {
					Properties map[string]struct {
						Enum []string
					}
				}
			}
		}
	}
	if err := json.Unmarshal(text, &top); err != nil {
		t.Fatal(err)
	}
	device := top.Properties.Devices.AdditionalProperties.Properties
	if got, want := device["protocol"].Enum, protocol.Choice(0).Words(); !slices.Equal(got, want) {
		t.Errorf("the schema has %q, the list %q", got, want)
	}
	config, err1 := os.ReadFile("../docs/reference/config.md")
	page, err2 := os.ReadFile("../docs/reference/protocols.md")
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	for i := range protocol.Kinds {
		k := &protocol.Kinds[i]
		c, err := Load(protocolFile[k.Name])
		at := -1
		if err == nil {
			at = slices.IndexFunc(c.Devices, func(d Device) bool { return d.Protocol == protocol.Choice(i) })
		}
		if at < 0 {
			t.Errorf("%s: %q is no example file with it: %v", k.Name, protocolFile[k.Name], err)
			continue
		}
		d := &c.Devices[at]
		if p, err := c.Plan(d); err != nil || c.Clocked(d) != p.Clocked || !k.Tracker && p.Clocked == k.Registers {
			t.Errorf("%s: %v; clocked %v", k.Name, err, c.Clocked(d))
		}
		if !strings.Contains(string(config), "`"+k.Name+"`") || !strings.Contains(string(page), "| `"+k.Name+"` |") {
			t.Errorf("docs/reference/config.md or docs/reference/protocols.md does not name %s", k.Name)
		}
		sections := &protocol.Sections{}
		_, hasKeys := device[k.Name]
		if k.Section(sections); hasKeys == k.Bare {
			t.Errorf("%s: a section in the schema: %v", k.Name, hasKeys)
		}
	}
}

// Slips in a file with registers are told with line, caret, what and how to go on.
func TestRegisterSlips(t *testing.T) {
	data, err := os.ReadFile("modbus.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, old, new, want string }{
		{"no register", "at: {slave: 1, register: 2}", "at: {slave: 1}", "devices.bus.measure[1].at.register: missing: the number of the first " +
			"register, counted from 0"},
		{"no slave", "at: {slave: 1, register: 2}", "at: {register: 2}", "devices.bus.measure[1].at.slave is missing: address of the slave on " +
			"the bus"},
		{"no place", ", at: {slave: 1, register: 2}", "", "devices.bus.measure[1]: motor.current stands nowhere: protocol modbus wants at: " +
			"{slave: 1, register: …} here"},
		{"a slave beyond the last", "slave: 2, table", "slave: 248, table", "devices.bus.measure[4].at.slave: 248, want 1 to 247"},
		{"a register beyond the last", "register: 100", "register: 65535", "devices.bus.measure[4].at.register: 65535, want 0 to 65535 for all " +
			"its registers"},
		{"a table of another name", "table: input", "table: coil", "devices.bus.measure[4].at.table"},
		{"a byte", "status, type: u16", "status, type: u8", "devices.bus.measure[3].type: u8 is no whole register; want one of u16, i16, u32, " +
			"i32, f32, f64"},
		{"a command in a table that is read only", "at: {slave: 1, register: 17}", "at: {slave: 1, table: input, register: 17}",
			"devices.bus.command[1].at.table: a register of the table input cannot be written; want holding"},
		{"two commands in one register", "register: 17", "register: 16", "devices.bus.command[1].at.register: register 16 of slave 1 is " +
			"written by voltage too"},
		{"a form that cannot write a number", "type: i16, limit", "type: f32, limit",
			"devices.bus.command[1].at.register: register 17 of slave 1 is written by voltage too"},
		{"paced by a device that does not send", "  rate: 50 Hz\n", "  rate: 50 Hz\n  clock: bus\n",
			"loop.clock: bus does not send by itself, for protocol modbus asks; want wall, or a device that does"},
		{"a name of the ages", "table.torque, unit", "slave2.age, unit", "devices.bus.measure[4].name: bus.slave2.age is the age"},
		{"another speed", "baud: 115200", "baud: 19200", "questions and replies take 2"},
		{"another rate", "    baud: 115200\n", "    baud: 115200\n    rate: 200 Hz\n",
			"devices.bus.rate: questions and replies take 194 % of the line's time, with the delays of slaves and adapter; most of it slave 1, " +
				"holding registers 0 to 4 (function 3), 4.6 ms at 200 Hz"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(string(data), c.old, c.new, 1)
			if text == string(data) {
				t.Fatalf("nothing to replace: %s", c.old)
			}
			_, err := LoadBytes("x.yaml", []byte(text))
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "^") {
				t.Errorf("%v\nwant %s, with its line", err, c.want)
			}
		})
	}
	// what another protocol has is not used, and told
	for old, want := range map[string]string{
		"protocol: modbus": "devices.bus.modbus: not used by protocol link",
	} {
		text := strings.ReplaceAll(strings.Replace(string(data), old, "protocol: link", 1), "register: 2}", "register: 2, poll: 3}")
		_, warnings, err := CheckBytes("x.yaml", []byte(text))
		if err != nil || !strings.Contains(fmt.Sprint(warnings), want) || !strings.Contains(fmt.Sprint(warnings), "devices.bus.measure[1].at: "+
			"not used by protocol link") {
			t.Errorf("%v %v", warnings, err)
		}
	}
	// two devices on one port
	text := strings.Replace(string(data), "axes:\n", "  other: {port: /dev/ttyUSB0}\n  third: {port: /dev/ttyUSB0}\naxes:\n", 1)
	if _, err := LoadBytes("x.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), "devices.third.port: /dev/ttyUSB0 is the "+
		"port of devices.other too; one port is one device: several slaves on a bus are fields with an address") {
		t.Error(err)
	}
}

// The line of modbus.yaml, added up by hand: 11 bits a character at 115200 baud.
func TestBudgetOfQuestions(t *testing.T) {
	c, err := Load("modbus.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const char, rest = 11 / 115200.0, 2e-3 + 0.4e-3 // delay and latency, silence
	want := 50 * ((8+15+8+9+13+8)*char + 3*rest)
	b := c.Budget(&c.Devices[0])
	if got := b.plan.Load(); math.Abs(got-want) > 1e-6 {
		t.Errorf("load %v, want %v", got, want)
	}
	s := b.String()
	for _, part := range []string{"slave 1, holding registers 0 to 4 (function 3): 50 Hz, 8 and 15 bytes, 4.6 ms each, 23 % of the line; a " +
		"sample is at most 24.6 ms old\n",
		"slave 2, input registers 100 to 101 (function 4): 50 Hz", "slave 1, holding registers 16 to 17 (function 16): 50 Hz",
		fmt.Sprintf("line           %.3g %% of its time", 100*want)} {
		if !strings.Contains(s, part) {
			t.Errorf("missing %q in\n%s", part, s)
		}
	}
	// warned above 80 %, refused above 100 %
	for delay, limit := range map[float64]string{1e-3: "", 2e-3: "warn", 3e-3: "warn", 4e-3: "refuse"} {
		c.Devices[0].Modbus.Delay = delay
		problems, warnings := c.Validate()
		load := 50 * ((8+15+8+9+13+8)*char + 3*(delay+1e-3+0.4e-3))
		if got := map[bool]string{true: "refuse"}[len(problems) > 0] + map[bool]string{true: "warn"}[len(warnings) > 0]; got != limit ||
			(load > 1) != (limit == "refuse") || (load > 0.8 && load <= 1) != (limit == "warn") {
			t.Errorf("delay %v, load %.3f: %q, want %q; %v %v", delay, load, got, limit, problems, warnings)
		}
	}
}
