package hil

import (
	"context"
	"fmt"
	"hilrig/hil/axis"
	"slices"
	"time"
)

// What leaves the loop beside the rows: who made them, what happened, and the way back in for commands. These types are
// shared by the recorder, MQTT, the page and replay.

// Info describes one run; it is fixed when the run starts.
type Info struct {
	Run        string // id of the run: every batch of samples names it
	Version    string // version of the program
	ConfigHash string // hex SHA-256 of Config
	Config     []byte // the configuration as loaded, YAML
	Schema     Schema
	Start      time.Time // wall clock at the start
	Mono       int64     // ns on the loop's clock at Start
	DryRun     bool
	Note       string // what the host refused (real-time privileges) in one sentence; "" if nothing
}

// Wall turns a time of the loop's clock into wall-clock time.
func (in *Info) Wall(t int64) time.Time { return in.Start.Add(time.Duration(t - in.Mono)) }

// Event is something worth a line: a change of mode, a lost frame burst, a refused command.
type Event struct {
	Time  time.Time
	Seq   uint64 // tick at which it happened; 0 if none
	Level string // "info", "warn", "error"
	Code  string // documented in docs/reference/errors.md, e.g. MODE, OVERRUN, LINK_DOWN
	Text  string
}

// MaxParams bounds the parameter block that travels into the tick.
const MaxParams = 48

// MaxAxes bounds the axes of a rig.
const MaxAxes = 4

// Params is the block of live parameters. It travels whole, is prepared beside the tick and adopted at an edge of it, and rows show Gen.
// The names of the numbers belong to the controller: see LiveParams. Sets are the models that take the place of those of the file, by axis.
// A block holds no pointer, so that it can lie in shared memory.
type Params struct {
	Gen  uint32
	_    uint32
	V    [MaxParams]float64
	Sets [MaxAxes]axis.Block
}

// Change is a block that is ready to be adopted.
type Change struct {
	Gen  uint32
	v    [MaxParams]float64
	axes [MaxAxes]*axis.Change // nil: as before
}

// Command is a request from outside: MQTT, the page, the command line.
type Command struct {
	Name    string             // "arm", "run", "hold", "stop", "reset", "estop", "set", "adopt", or one of FitCommands
	ID      string             // chosen by the sender, comes back in the reply
	Expires time.Time          // zero: never
	Source  string             // "mqtt", "web", "local"
	Set     map[string]float64 // for "set": parameter name → value in SI
	Adopt   *Adopt             // for "adopt"
	Confirm bool               // for "set" and "adopt": what the reply asked has been read

	Identify *Identify // for "identify"
	Accept   string    // for "accept": id of a result
}

// FitCommands are those of the identification beside the loop: they never reach the tick, except that accept and rollback adopt a model.
// keep writes what was accepted into the rig file.
var FitCommands = []string{"identify", "cancel", "accept", "rollback", "keep"}

// IsCommand tells whether there is a command of this name.
func IsCommand(name string) bool {
	_, ok := ParseRequest(name)
	return ok || slices.Contains(FitCommands, name)
}

// Misfit tells why the contents of a command do not belong to its name; "": they do.
func (c *Command) Misfit() string {
	for _, f := range []struct {
		name, format string
		present      bool
		optional     bool
	}{
		{"set", `"set":{"<parameter>":<number>}`, len(c.Set) > 0, false},
		{"adopt", `"adopt":{"axis":"…","law":"…","params":{…}}`, c.Adopt != nil, false},
		{"identify", `"identify":{"axis":"…","way":"…"}`, c.Identify != nil, true},
		{"accept", `"accept":"<id of a result>"`, c.Accept != "", false},
	} {
		switch {
		case f.name != c.Name && f.present:
			return fmt.Sprintf("%s takes no %q", c.Name, f.name)
		case f.name == c.Name && !f.present && !f.optional:
			return fmt.Sprintf(`want {"id":"…",%s}`, f.format)
		}
	}
	if c.Confirm && c.Name != "set" && c.Name != "adopt" && c.Name != "accept" {
		return c.Name + ` takes no "confirm": set, adopt and accept do`
	}
	return ""
}

// Identify asks for a fit of the newest part of the run, beside the loop.
type Identify struct {
	Axis      string   `json:"axis"`                 // "": the only one
	Procedure string   `json:"way"`                  // least-squares, lugre, output-error, aep
	Methods   []string `json:"methods,omitempty"`    // in place of a way: a chain of hil identify
	Law       string   `json:"law,omitempty"`        // of hil laws; "": that of the way, or of the rig
	Sided     bool     `json:"asymmetric,omitempty"` // friction that depends on the direction
	Window    float64  `json:"window_s"`             // s, what is fitted; 0: 20
	Interval  float64  `json:"every_s"`              // s from one fit to the next; 0: once
}

// Adopt is a model for an axis; without a law that of the file again.
type Adopt struct {
	Axis string `json:"axis"`
	axis.Set
}

// Reply answers a command once the tick has taken or refused it.
type Reply struct {
	ID       string `json:"id"`
	OK       bool   `json:"ok"`
	Accepted bool   `json:"taken,omitempty"` // not ok, though the tick took it: a stop after which the drive is not off
	Error    string `json:"error,omitempty"`
	Confirm  bool   `json:"confirm,omitempty"` // the same command with "confirm": true is taken
}

// Commander carries a command to the tick and waits for what became of it.
type Commander func(ctx context.Context, c Command) Reply
