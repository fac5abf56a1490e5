package ring

import (
	"sync/atomic"
	"unsafe"
)

// Mailbox hands over the newest value of T from one publisher to one taker: a triple buffer. Of three slots the publisher
// owns one, the taker owns one, and one lies in the middle; a single atomic word names the middle slot and tells whether
// it is newer than what the taker had. Publishing fills the own slot and swaps it with the middle; taking swaps the own
// slot with the middle when it is fresh. Neither side ever waits, and no moment exists at which a kill leaves a slot
// half-owned or a value torn.
//
// Which slot a side owns is private to its process, so each side attaches once to a mailbox; after the death of a peer
// its successor gets a new one, as it gets new memory.
type Mailbox[T any] struct {
	pub publisher[T]
	_   [line]byte // the two ends live on different processors
	sub taker[T]
}

type publisher[T any] struct {
	ctl       *boxControl
	slot      [3]*T
	slotIndex uint32
}

type taker[T any] struct {
	ctl       *boxControl
	slot      [3]*T
	slotIndex uint32
	corrupt   bool
}

// boxControl is the head of a mailbox's memory: two lines, then three slots, each on lines of its own.
type boxControl struct {
	header
	middle atomic.Uint32 // fresh || index of the middle slot | freshBit | fresh
	_      [line - 4]byte
}

const (
	slotBits = 3 // 0, 1 and 2 are slots; 3 can only come from damage
	freshBit = 4
)

// The slots at the start: 0 publisher, 1 middle, 2 taker.
const (
	firstOwn    = 0
	firstMiddle = 1
	firstTaken  = 2
)

// MailboxSize is the memory in bytes that a mapped mailbox needs: a multiple of 128.
func MailboxSize[T any]() int {
	return int(unsafe.Sizeof(boxControl{})) + 3*boxStride[T]()
}

func boxStride[T any]() int {
	var v T
	return roundUp(int(unsafe.Sizeof(v)), line)
}

// NewMailbox makes a mailbox on the heap. It panics when T holds a pointer.
func NewMailbox[T any]() *Mailbox[T] {
	m, err := AttachMailbox[T](heapBlock(MailboxSize[T]()), true)
	if err != nil {
		panic(err)
	}
	return m
}

// AttachMailbox lays a mailbox over shared memory of at least MailboxSize bytes that begins on a multiple of 8. create
// empties it and writes its header; without it the header must agree. Errors as for Attach.
func AttachMailbox[T any](mem []byte, create bool) (*Mailbox[T], error) {
	hash, err := layoutHash[T]()
	if err != nil {
		return nil, err
	}
	if err := checkBlock(mem, MailboxSize[T]()); err != nil {
		return nil, err
	}
	var v T
	c := (*boxControl)(unsafe.Pointer(&mem[0]))
	want := shape{magic: boxMagic, layout: hash, size: uint64(unsafe.Sizeof(v)), room: 3}
	if create {
		c.middle.Store(firstMiddle)
		c.write(want)
	} else if err := c.check(want); err != nil {
		return nil, err
	}
	var slot [3]*T
	for i := range slot {
		slot[i] = (*T)(unsafe.Pointer(&mem[int(unsafe.Sizeof(boxControl{}))+i*boxStride[T]()]))
	}
	m := new(Mailbox[T])
	m.pub = publisher[T]{ctl: c, slot: slot, slotIndex: firstOwn}
	m.sub = taker[T]{ctl: c, slot: slot, slotIndex: firstTaken}
	return m, nil
}

// Publish makes *v the newest value. It never waits and never allocates.
func (m *Mailbox[T]) Publish(v *T) {
	p := &m.pub
	*p.slot[p.slotIndex] = *v
	if got := p.ctl.middle.Swap(p.slotIndex|freshBit) & slotBits; got < 3 {
		p.slotIndex = got
	}
}

// Receive copies the newest value into *v if it is newer than the last one taken; false, with *v untouched, if not. It never
// waits and never allocates.
func (m *Mailbox[T]) Receive(v *T) bool {
	t := &m.sub
	if t.corrupt || t.ctl.middle.Load()&freshBit == 0 {
		return false
	}
	got := t.ctl.middle.Swap(t.slotIndex) & slotBits
	if got >= 3 || got == t.slotIndex {
		t.corrupt = true
		return false
	}
	t.slotIndex = got
	*v = *t.slot[got]
	return true
}

// Corrupt tells that the shared word named a slot that cannot be in the middle; the taker yields nothing from then on.
func (m *Mailbox[T]) Corrupt() bool { return m.sub.corrupt }
