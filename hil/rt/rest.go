package rt

import "runtime"

// Rest keeps the Go runtime's monitor thread asleep beside a goroutine that lives in system calls: a tick that sleeps, a
// receiver that polls. The monitor takes the processor of the runtime away from a goroutine that has not been scheduled anew
// for 10 ms, and each time it does it looks every 20 µs for a while; with six such goroutines that never ended (18 000
// wake-ups a second, a third of a processor, at the tick's own priority). A goroutine that lets itself be scheduled sooner, at
// a moment of its own choice, is never taken for one.
type Rest struct{ last int64 }

const restEvery = 4.5e6 // ns  loops of 5 ms rest in each round: every second one would be too late

// Due schedules the goroutine anew if that is due. It costs a hand-over between threads, some ten microseconds, where the
// goroutine is locked to its thread.
func (r *Rest) Due() {
	if now := Now(); now-r.last > restEvery {
		r.last = now
		runtime.Gosched()
	}
}
