package rt

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The Go clock reads CLOCK_MONOTONIC without a system call (32 ns; clock_gettime through a system call is 244 ns) but
// counts from an unknown zero. offset moves it to the zero that all processes share.
var base, offset = calibrate()

// calibrate takes the narrowest of 100 readings of the shared clock, each bracketed by two of the Go clock.
func calibrate() (base time.Time, offset int64) {
	base = time.Now()
	narrow := int64(1 << 62)
	var ts unix.Timespec
	for range 100 {
		a := int64(time.Since(base))
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
			panic("rt: clock_gettime(CLOCK_MONOTONIC): " + err.Error()) // cannot fail with a valid clock
		}
		b := int64(time.Since(base))
		if b-a < narrow {
			narrow = b - a
			offset = ts.Nano() - (a+b)/2
		}
	}
	return base, offset
}

// Now is CLOCK_MONOTONIC in ns, the same in every process of this machine.
func Now() int64 { return int64(time.Since(base)) + offset }

// SleepUntil returns at the absolute time t (ns of Now): it sleeps in the kernel until spin ns before t, then spins. A
// time in the past returns at once. It allocates nothing.
//
// The sleep repeats after EINTR, because the Go runtime signals its own threads (SIGURG, 3 to 95 in 10 s seen); without
// that the spin would last for the rest of the period.
func SleepUntil(t, spin int64) {
	wake := t - spin
	if Now() < wake {
		ts := unix.NsecToTimespec(wake)
		for {
			_, _, errno := unix.Syscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
			if errno != unix.EINTR {
				break
			}
		}
	}
	for Now() < t {
	}
}

// processTime is the processor time of this process, ns.
func processTime() int64 {
	var t unix.Timespec
	unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t)
	return t.Nano()
}
