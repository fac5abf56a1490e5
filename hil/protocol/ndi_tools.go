package protocol

import (
	"sync/atomic"

	"hilrig/hil/wire/tracker"
)

// The port handle of a tool is known beforehand where it is wired, and only once the system gave one where it is wireless. So the questions
// of the start that name a handle are made when they are asked, from what the replies before them told. The receiving thread writes what
// they told, the sending one makes the questions; both are never at the same turn at once, and the words between them are atomic.

const (
	romBlock   = 64   // bytes of a definition file in one PVWR
	romLongest = 1024 // bytes of a definition file
	ndiHandles = 255
)

// Refusals of a tool that the system itself finds nothing wrong with; numbers that no system sends.
const (
	otherSerial = 0xF0 // than the file says
	otherTool   = 0xF1 // than at the first start of this run
)

// Stages of the start of a tool.
const (
	toolLocated = iota
	toolInitialized
	toolInformed // it told its serial number, which is the right one
	toolEnabled
	toolRefused
)

// ndiTool is what is known of one tool.
type ndiTool struct {
	declared       int                           // port handle of a wired tool
	definition     []byte                        // of a wireless tool, a whole number of blocks; empty: it is wired
	serial         string                        // declared; "": any
	handle         atomic.Int32                  // 0: none
	stage          atomic.Int32                  // how far its start has come
	block          atomic.Int32                  // of the definition, to be written next
	firstSerial    [tracker.NDISerialLength]byte // serial number at the first start
	hasFirstSerial bool                          // firstSerial is there
}

// ndiTools are the tools of a system in the order of the file.
type ndiTools struct {
	tools         []ndiTool
	toolOfTurn    []int                       // tool of each turn; −1: none
	handlesToFree [ndiHandles + 1]atomic.Bool // handles to give back
	ports         int                         // newest status of the system
	hasPorts      bool                        // ports is of this start
	keepsBit      bool                        // portOccupied was there right after the start before: it tells nothing there
}

// portOccupied is the bit of the status of the system: a tool was plugged in since the ports were looked through last.
const portOccupied = 1 << 6

func newNDITools(list []Tool) *ndiTools {
	t := &ndiTools{tools: make([]ndiTool, len(list))}
	for i := range list {
		o := &t.tools[i]
		o.declared, o.serial = list[i].Number, list[i].Serial
		o.handle.Store(int32(o.declared))
		if n := len(list[i].Definition); n > 0 {
			o.definition = make([]byte, (n+romBlock-1)/romBlock*romBlock)
			copy(o.definition, list[i].Definition)
		}
	}
	return t
}

// part is the number by which the fields know the tool with a handle, 1 for the first; 0: no tool has the handle.
func (t *ndiTools) part(handle int) int {
	for i := range t.tools {
		if int(t.tools[i].handle.Load()) == handle {
			return i + 1
		}
	}
	return 0
}

// begin is the start of a start: handles that were got before are given back, with those of an earlier program that the reply lists.
func (t *ndiTools) begin(f *tracker.Frame) {
	for i := range f.N {
		if h := f.S[i].Device; h > 0 && h <= ndiHandles {
			t.handlesToFree[h].Store(true)
		}
	}
	for i := range t.tools {
		o := &t.tools[i]
		h := o.handle.Swap(int32(o.declared))
		if len(o.definition) > 0 && h > 0 {
			t.handlesToFree[h].Store(true)
		}
		o.stage.Store(toolLocated)
		o.block.Store(0)
	}
	t.hasPorts = false
}

// giveBack asks to free the first handle of those; nothing: there is none left.
func (t *ndiTools) giveBack(dst []byte) []byte {
	if h := t.toFree(); h > 0 {
		return tracker.AppendNDIHandle(dst, "PHF", h, "")
	}
	return dst
}

func (t *ndiTools) toFree() int {
	for h := range t.handlesToFree {
		if t.handlesToFree[h].Load() {
			return h
		}
	}
	return 0
}

// write asks to take the next block of the definition.
func (o *ndiTool) write(dst []byte) []byte {
	h, at := int(o.handle.Load()), int(o.block.Load())*romBlock
	if h == 0 || at >= len(o.definition) {
		return dst
	}
	return tracker.AppendPVWR(dst, h, at, o.definition[at:at+romBlock])
}

// initialize, inform and enable ask of the handle what their names say; nothing, where it is not their turn.
func (o *ndiTool) initialize(dst []byte) []byte { return o.at(toolLocated, dst, "PINIT", "") }
func (o *ndiTool) inform(dst []byte) []byte     { return o.at(toolInitialized, dst, "PHINF", "0001") }
func (o *ndiTool) enable(dst []byte) []byte     { return o.at(toolInformed, dst, "PENA", "D") } // D: it moves

func (o *ndiTool) at(stage int32, dst []byte, word, more string) []byte {
	if h := int(o.handle.Load()); h > 0 && o.stage.Load() == stage {
		return tracker.AppendNDIHandle(dst, word, h, more)
	}
	return dst
}

// onReply notes the reply to a question of the start, and returns what it means.
func (t *ndiTools) onReply(turn int, name string, f *tracker.Frame) end {
	var o *ndiTool
	if k := t.toolOfTurn[turn]; k >= 0 {
		o = &t.tools[k]
	}
	switch name {
	case "PHSR 01":
		if f.Name != "PHSR" {
			return notYet
		}
		t.begin(f)
	case "PHSR 00":
		if f.Name != "PHSR" {
			return notYet
		}
	case "PHF":
		t.handlesToFree[t.toFree()].Store(false)
	case "PHRQ":
		h, ok := tracker.NDIHandle(f)
		if !ok {
			return notYet
		}
		o.handle.Store(int32(h))
	case "PVWR":
		o.block.Add(1)
	case "PINIT":
		o.stage.Store(toolInitialized)
	case "PHINF":
		serial, ok := tracker.NDISerial(f)
		if !ok {
			return notYet
		}
		return o.check(serial, f)
	case "PENA":
		o.stage.Store(toolEnabled)
	}
	return answered
}

// check compares the serial number of the tool that is there with what is known of it.
func (o *ndiTool) check(serial []byte, f *tracker.Frame) end {
	switch {
	case o.serial != "" && string(serial) != o.serial:
		f.Code = otherSerial
	case o.hasFirstSerial && string(serial) != string(o.firstSerial[:]):
		f.Code = otherTool
	default:
		o.hasFirstSerial = len(serial) == copy(o.firstSerial[:], serial) && len(serial) > 0
		o.stage.Store(toolInformed)
		return answered
	}
	o.stage.Store(toolRefused)
	return denied
}

// onRefusal notes that the system said no to a question of the start, and returns what it means.
func (t *ndiTools) onRefusal(turn int, name string, f *tracker.Frame) end {
	var o *ndiTool
	if k := t.toolOfTurn[turn]; k >= 0 {
		o = &t.tools[k]
	}
	switch name {
	case "TSTOP": // it did not track
		return answered
	case "PHF": // it is free already
		t.handlesToFree[t.toFree()].Store(false)
		return answered
	case "PVWR":
		o.block.Store(romLongest) // PINIT would start with half a definition
		o.stage.Store(toolRefused)
	case "PHINF":
		if o.serial == "" && !o.hasFirstSerial { // it does not say, and there is nothing to compare
			o.stage.Store(toolInformed)
			return answered
		}
		o.stage.Store(toolRefused)
	case "PINIT", "PENA":
		o.stage.Store(toolRefused)
	}
	return denied
}

// plugged tells whether the status of the system in a reply with poses says that a tool was plugged in since the ports were looked through.
// PHSR clears the bit. Where it does not, right after two starts, only its rise tells.
func (t *ndiTools) plugged(f *tracker.Frame) bool {
	ports := f.SystemStatus
	occupied, first := ports&portOccupied != 0, !t.hasPorts
	tells := occupied && (first && !t.keepsBit || !first && t.ports&portOccupied == 0)
	if first {
		t.keepsBit = occupied
	}
	t.ports, t.hasPorts = ports, true
	return tells
}

// ndiReason is what a code of a refusal means.
func ndiReason(code uint8) string {
	switch code {
	case otherSerial:
		return "another tool is at this port: its serial number is not that of the file"
	case otherTool:
		return "another tool is at this port than at the first start of this run"
	}
	return tracker.NDIReason(int(code))
}
