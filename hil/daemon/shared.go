package daemon

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"hilrig/hil"
	"hilrig/hil/device"
	"hilrig/hil/ring"
)

// One block of shared memory per incarnation of the core: a page of words, then four channels.
//
//	rows    core → supervisor  every row, ≥ 1 s of them
//	link    core → supervisor  newest counters of the devices
//	orders  supervisor → core  requests, each answered in a row; stop, hold and estop have words of their own
//	params  supervisor → core  newest parameter block
type shared struct {
	words  *words
	rows   *ring.Ring[hil.Row]
	orders *ring.Ring[order]
	params *ring.Mailbox[hil.Params]
	link   *ring.Mailbox[[device.MaxDevices]device.Stats]
}

// order is one request on its way to the tick.
type order struct {
	ID   uint32
	Req  uint32
	Gen  uint32 // of the parameter block that it is about; 0: of none
	Slot uint32 // in orderWords
}

const (
	magic     = 0x48_49_4c_52_49_47_00_03 // "HILRIG", layout 3
	orderRoom = 64
)

// words is the first page of the shared memory. Everything the two processes change is an atomic word.
type words struct {
	Magic    uint64
	Epoch    uint32
	RowSize  uint32
	Capacity uint32
	_        uint32

	Beat  atomic.Int64  // ns of rt.Now, the supervisor's last sign of life
	Quit  atomic.Uint32 // 1: stop in the safe state and exit
	State atomic.Uint32 // coreStarting … coreFailed
	Privs atomic.Uint32 // bits privFIFO, privLocked
	Code  atomic.Uint32 // exit code the core wishes for, with coreFailed
	NText atomic.Uint32 // length of Text, written before State

	Prepared atomic.Uint32 // generation of the newest parameter block that the core has made ready, or found that it cannot
	Heap     atomic.Uint64 // bytes of objects in the heap of the core, which is never collected

	orderWords
	PreviousRun hil.Before // what is handed on; written before the core starts
	Text        [2048]byte // why the core failed, or what the host refused it
}

// States of the core.
const (
	coreStarting uint32 = iota
	coreReady
	coreStopped // after the safe state
	coreFailed
)

const (
	privFIFO = 1 << iota
	privLocked
)

// setText leaves a text for the supervisor.
func (w *words) setText(text string) {
	n := copy(w.Text[:], text)
	w.NText.Store(uint32(n))
}

func (w *words) text() string {
	n := min(int(w.NText.Load()), len(w.Text))
	return string(w.Text[:n])
}

// wordsRoom keeps the channels clear of the words' cache lines.
const wordsRoom = 4096

const _ = uint(wordsRoom - unsafe.Sizeof(words{})) // fails to compile when the words outgrow their page

// rowRoom is the capacity of the row ring: a power of two that holds at least one second.
func rowRoom(rate float64) int {
	n := 1024
	for float64(n) < rate {
		n *= 2
	}
	return n
}

func sharedSize(rate float64) int {
	return wordsRoom + ring.ArenaSize(ring.Size[hil.Row](rowRoom(rate)), ring.Size[order](orderRoom),
		ring.MailboxSize[hil.Params](), ring.MailboxSize[[device.MaxDevices]device.Stats]())
}

// carve lays the channels over mem. The supervisor creates; the core attaches and refuses another layout.
func carve(mem []byte, rate float64, epoch uint16, create bool) (*shared, error) {
	w := (*words)(unsafe.Pointer(&mem[0]))
	if create {
		w.Magic, w.Epoch, w.RowSize, w.Capacity = magic, uint32(epoch), uint32(unsafe.Sizeof(hil.Row{})), uint32(rowRoom(rate))
	} else if w.Magic != magic || w.RowSize != uint32(unsafe.Sizeof(hil.Row{})) || w.Capacity != uint32(rowRoom(rate)) ||
		w.Epoch != uint32(epoch) {
		return nil, fmt.Errorf("shared memory has another layout (magic %x, row %d B, %d rows, epoch %d): core and supervisor are not the same "+
			"program", w.Magic, w.RowSize, w.Capacity, w.Epoch)
	}
	s := &shared{words: w}
	arena := ring.NewArena(mem[wordsRoom:])
	part := func(size int) []byte {
		b, err := arena.Allocate(size)
		if err != nil {
			panic("daemon: shared memory smaller than sharedSize: " + err.Error()) // the two functions below disagree
		}
		return b
	}
	var err error
	if s.rows, err = ring.Attach[hil.Row](part(ring.Size[hil.Row](rowRoom(rate))), rowRoom(rate), create); err != nil {
		return nil, fmt.Errorf("row ring: %w", err)
	}
	if s.orders, err = ring.Attach[order](part(ring.Size[order](orderRoom)), orderRoom, create); err != nil {
		return nil, fmt.Errorf("order ring: %w", err)
	}
	if s.params, err = ring.AttachMailbox[hil.Params](part(ring.MailboxSize[hil.Params]()), create); err != nil {
		return nil, fmt.Errorf("parameter mailbox: %w", err)
	}
	if s.link, err = ring.AttachMailbox[[device.MaxDevices]device.Stats](part(ring.MailboxSize[[device.MaxDevices]device.Stats]()),
		create); err != nil {
		return nil, fmt.Errorf("link mailbox: %w", err)
	}
	return s, nil
}

// heapShared is the same for the single-process mode and for tests under the race detector.
func heapShared(rate float64, epoch uint16) *shared {
	w := &words{Magic: magic, Epoch: uint32(epoch)}
	return &shared{words: w, rows: ring.New[hil.Row](rowRoom(rate)), orders: ring.New[order](orderRoom),
		params: ring.NewMailbox[hil.Params](), link: ring.NewMailbox[[device.MaxDevices]device.Stats]()}
}
