// Package rt is the platform under the loop: the start of the real-time core, its clock and sleep, its threads, its death
// signals, and what the host is like.
//
// The problem: a Go process that allocates is late by milliseconds, and a Go process whose threads have unequal real-time
// priorities can hang a processor for ever. The remedy, measured step by step, is a process of its own that
//
//   - sets SCHED_FIFO on itself and executes itself again, so that every thread of the runtime is born with one and the
//     same priority (with unequal ones the tick can spin in the runtime for a lock that a lower thread on the same
//     processor holds, and sched_yield never lets a lower thread run);
//   - locks its memory on first touch, allocates nothing while ticking, and has the collector switched off;
//   - sleeps to absolute deadlines with clock_nanosleep, again after every interruption, and spins the last few
//     microseconds;
//   - notices the loss of its supervisor by parent-death signal, by the end of a pipe and by a silent beat, and bounds
//     its own run-away by RLIMIT_RTTIME.
//
// The supervisor calls StartCore. The core calls, in this order,
//
//	boot, err := rt.Boot()              // first thing in main; returns in the second incarnation
//	life := boot.WatchLife(&beat, …)    // then open devices, start threads, let them run 100 ms
//	rt.PinThread(cpu)                   // the ticking thread only
//	rt.DisableGC()                      // no collections; from here nothing stops the world
//	rt.SleepUntil(deadline, spin)       // … and so on
//
// From DisableGC on, nothing may stop the world: no runtime.ReadMemStats, GOMAXPROCS(n), profiles or goroutine dumps in the
// core; and at no time a collection of garbage (DisableGC says why).
//
// Assumptions: Linux ≥ 4.4 for everything here (the custom slice of the unprivileged path needs 6.12 and says so where
// it had no effect). Elsewhere clock and sleep work at the precision of package time, and all else returns an error that
// names the system: the loop then runs in a single process and is not real time. All times are nanoseconds of
// CLOCK_MONOTONIC, which every process of a machine shares.
package rt
