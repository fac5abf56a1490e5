package daemon

import (
	"sync/atomic"

	"hilrig/hil"
)

// Orders on their way to the tick. Stop, hold and estop are states, a word each: no queue is full before them, pressing one twice is
// pressing it once, and they stay until the tick has taken them. Every other order lies in the ring, and the tick takes it only if it was
// not withdrawn: then it was answered, and never comes into force.

// pressable are the orders with a word of their own, the strongest first.
var pressable = [...]hil.Request{hil.ReqEstop, hil.ReqStop, hil.ReqHold}

// orderWords are the words of both processes. The supervisor puts the id of an order in; whoever takes it out has it.
type orderWords struct {
	pressed [len(pressable)]atomic.Uint32 // id of the newest press that the tick has not taken; 0: none
	waiting [orderRoom]atomic.Uint32      // id of the order of the ring that has this slot; 0: taken or withdrawn
}

// press keeps an order that has a word of its own, over one of its kind that still waits; false: it has none.
func (w *orderWords) press(o order) bool {
	for k, q := range pressable {
		if q == hil.Request(o.Req) {
			w.pressed[k].Store(o.ID)
			return true
		}
	}
	return false
}

// slot gives an order of the ring a slot; false: none is free. The supervisor alone calls it.
func (w *orderWords) slot(o *order) bool {
	for i := range w.waiting {
		if w.waiting[i].Load() == 0 {
			o.Slot = uint32(i)
			w.waiting[i].Store(o.ID)
			return true
		}
	}
	return false
}

// withdraw takes an order of the ring back; false: the tick has it.
func (w *orderWords) withdraw(id uint32) bool {
	for i := range w.waiting {
		if w.waiting[i].CompareAndSwap(id, 0) {
			return true
		}
	}
	return false
}

// claim is the tick's: true if the order was not withdrawn, and then nobody can any more.
func (w *orderWords) claim(o *order) bool {
	return w.waiting[o.Slot%orderRoom].CompareAndSwap(o.ID, 0)
}

// released is the strongest of the pressed orders; ReqNone: none is pressed.
func (w *orderWords) released() (id uint32, q hil.Request) {
	for k := range pressable {
		if w.pressed[k].Load() != 0 {
			return w.pressed[k].Swap(0), pressable[k]
		}
	}
	return 0, hil.ReqNone
}
