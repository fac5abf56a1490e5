// Package ring carries fixed-size values between one producer and one consumer, inside a process or between two
// processes that share memory.
//
// The problem: the real-time core must hand every row to the supervisor without ever waiting for it, and either side may
// be stopped or killed at any instruction. Two shapes solve it:
//
//   - Ring keeps every value in order. Full means that the new value is dropped and counted.
//   - Mailbox keeps the newest value only. It is a triple buffer, never a seqlock: a writer killed inside leaves nothing
//     locked and nothing torn.
//
// Both are wait-free on both sides, allocate nothing after creation, and have a heap form (New, NewMailbox) and a mapped
// form (Attach, AttachMailbox) with the same memory layout; Memory is the sealed shared memory under the mapped form and
// Arena cuts it into regions.
//
// What is assumed. One goroutine produces and one consumes. A value holds no pointer, checked by reflection at creation:
// a reference into the heap of one process means nothing in the other. Both processes run the same program on one machine,
// so native byte order and layout will do; a hash of the layout is compared all the same. The Go memory model speaks of
// one process only: between processes the order rests on sync/atomic being ordered instructions on coherent memory, as
// on amd64 and arm64. The race detector does not see mapped memory, so it watches the heap form, which runs the same code.
//
// The layout puts the producer's words and the consumer's word on lines of their own, 128 bytes apart (two 64-byte lines,
// because processors prefetch them in pairs). The queue is that of [Lamport83]; each side keeps a copy of the other's index
// and renews it only when the copy says full or empty [LBC10].
package ring

import (
	"fmt"
	"sync/atomic"
	"unsafe"
)

// line keeps words of different owners from sharing a cache line, in bytes.
const line = 128

const (
	ringMagic = 0x48_49_4c_52_49_4e_47_01 // "HILRING", layout 1
	boxMagic  = 0x48_49_4c_4d_42_4f_58_01 // "HILMBOX", layout 1
)

// header says what the memory holds, so that a program with another layout is refused.
type header struct {
	magic  atomic.Uint64 // written last by the creator
	layout uint64        // hash of kinds and offsets in T
	size   uint64        // B  size of T
	room   uint64        // capacity in values
	_      [line - 32]byte
}

// control is the head of a ring's memory: three lines, then the slots. Indices count up for ever (2^64 rows at 10 kHz are
// 58 million years) and are masked when used, so a wrong one can never point outside.
type control struct {
	header
	head  atomic.Uint64 // values pushed; the producer writes
	drops atomic.Uint64 // values dropped; the producer writes
	_     [line - 16]byte
	tail  atomic.Uint64 // values popped; the consumer writes
	_     [line - 8]byte
}

// Ring is a bounded queue of T for one producer and one consumer.
type Ring[T any] struct {
	w Writer[T]
	_ [line]byte // the two ends live on different processors
	r Reader[T]
}

// Writer is the producer's end. Its methods are for one goroutine, except Pushed and Dropped.
type Writer[T any] struct {
	ctl       *control
	slots     []T
	mask      uint64
	head      uint64 // same as ctl.head
	knownTail uint64 // newest known tail
	drops     uint64 // same as ctl.drops
}

// Reader is the consumer's end. Its methods are for one goroutine, except Head, Offered and Dropped.
type Reader[T any] struct {
	ctl       *control
	slots     []T
	mask      uint64
	tail      uint64 // same as ctl.tail
	knownHead uint64 // newest known head
	corrupt   bool
}

// Size is the memory in bytes that a mapped ring of capacity values needs: a multiple of 128.
func Size[T any](capacity int) int {
	var v T
	return int(unsafe.Sizeof(control{})) + roundUp(capacity*int(unsafe.Sizeof(v)), line)
}

// New makes a ring on the heap. It panics when capacity is not a power of two or T holds a pointer.
func New[T any](capacity int) *Ring[T] {
	if !isPowerOfTwo(capacity) {
		panic(badCapacity(capacity))
	}
	r, err := Attach[T](heapBlock(Size[T](capacity)), capacity, true)
	if err != nil {
		panic(err)
	}
	return r
}

// Attach lays a ring over shared memory of at least Size bytes that begins on a multiple of 8. create empties the ring
// and writes its header; without it the header must agree. Errors: memory too small or misaligned, a capacity that is not
// a power of two, a T with pointers, a header that belongs to something else.
func Attach[T any](mem []byte, capacity int, create bool) (*Ring[T], error) {
	hash, err := layoutHash[T]()
	if err != nil {
		return nil, err
	}
	if !isPowerOfTwo(capacity) {
		return nil, badCapacity(capacity)
	}
	if err := checkBlock(mem, Size[T](capacity)); err != nil {
		return nil, err
	}
	var v T
	c := (*control)(unsafe.Pointer(&mem[0]))
	want := shape{magic: ringMagic, layout: hash, size: uint64(unsafe.Sizeof(v)), room: uint64(capacity)}
	if create {
		c.head.Store(0)
		c.drops.Store(0)
		c.tail.Store(0)
		c.write(want)
	} else if err := c.check(want); err != nil {
		return nil, err
	}
	slots := unsafe.Slice((*T)(unsafe.Pointer(&mem[unsafe.Sizeof(control{})])), capacity)
	mask := uint64(capacity - 1)
	r := new(Ring[T])
	r.w = Writer[T]{ctl: c, slots: slots, mask: mask, head: c.head.Load(), knownTail: c.tail.Load(), drops: c.drops.Load()}
	r.r = Reader[T]{ctl: c, slots: slots, mask: mask, tail: c.tail.Load(), knownHead: c.tail.Load()}
	return r, nil
}

// Writer is the producer's end; every call returns the same one.
func (r *Ring[T]) Writer() *Writer[T] { return &r.w }

// Reader is the consumer's end; every call returns the same one.
func (r *Ring[T]) Reader() *Reader[T] { return &r.r }

// Push copies *v into the ring. When the ring is full the value is dropped and counted, and Push returns false. It never
// waits and never allocates. A tail that makes no sense (a dying consumer) reads as full.
func (w *Writer[T]) Push(v *T) bool {
	if w.head-w.knownTail > w.mask {
		w.knownTail = w.ctl.tail.Load()
		if w.head-w.knownTail > w.mask {
			w.drops++
			w.ctl.drops.Store(w.drops)
			return false
		}
	}
	w.slots[w.head&w.mask] = *v
	w.head++
	w.ctl.head.Store(w.head) // publishes the slot
	return true
}

// Pop copies the oldest value into *v; false when there is none, or when the indices are corrupt. It never waits and
// never allocates.
func (r *Reader[T]) Pop(v *T) bool {
	if r.tail == r.knownHead && r.refresh() == 0 {
		return false
	}
	*v = r.slots[r.tail&r.mask]
	r.tail++
	r.ctl.tail.Store(r.tail) // gives the slot back
	return true
}

// refresh renews the known head and returns how many values wait. A head that is behind the tail or further ahead than the
// ring is long cannot come from a Push: the peer's memory is not to be trusted any more.
func (r *Reader[T]) refresh() uint64 {
	n := r.ctl.head.Load() - r.tail
	if r.corrupt || n > r.mask+1 {
		r.corrupt = true
		r.knownHead = r.tail // nothing left to read
		return 0
	}
	r.knownHead = r.tail + n
	return n
}

// Len is the number of values that wait, 0 when corrupt.
func (r *Reader[T]) Len() int { return int(r.refresh()) }

// Corrupt tells that the producer's index made no sense; the reader yields nothing from then on.
func (r *Reader[T]) Corrupt() bool { return r.corrupt }

// Dropped is the number of values the producer had to drop.
func (r *Reader[T]) Dropped() uint64 { return r.ctl.drops.Load() }

// Head is the number of values pushed so far.
func (r *Reader[T]) Head() uint64 { return r.ctl.head.Load() }

// Offered is pushed + dropped: it counts up with every Push, whether or not anybody reads, and so serves as the
// producer's heartbeat.
func (r *Reader[T]) Offered() uint64 { return r.ctl.head.Load() + r.ctl.drops.Load() }

func isPowerOfTwo(n int) bool { return n > 0 && n&(n-1) == 0 }

func badCapacity(n int) error {
	return fmt.Errorf("ring: capacity %d, want a power of two", n)
}
