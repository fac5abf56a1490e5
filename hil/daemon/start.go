package daemon

import (
	"context"
	"fmt"
	"os"
	"sync"

	"hilrig/engine/failure"
	"hilrig/hil"
	"hilrig/hil/device"
	"hilrig/hil/ring"
	"hilrig/hil/rt"
)

// handle is a running core seen from outside: a process, or a goroutine in single-process mode.
type handle struct {
	sh          *shared
	done        <-chan string                 // closed or sent with the cause when the core is gone
	isStopped   func() bool                   // a signal has stopped the core
	ran         func() (ns int64, wants bool) // time that its tick had a processor, and whether it wants one
	kill        func()
	term        func() // orderly stop
	release     func()
	pid         int
	memoryUsers sync.WaitGroup // those who still touch the shared memory
}

// startCore re-executes this binary as the core.
func (s *Supervisor) startCore() (*handle, error) {
	size := sharedSize(s.a.Schema.Rate)
	mem, err := ring.CreateMemory("hil-rows", size)
	if err != nil {
		return nil, fmt.Errorf("shared memory for the core: %w", err)
	}
	sh, err := carve(mem.Bytes(), s.a.Schema.Rate, s.epoch, true)
	if err != nil {
		mem.Close()
		return nil, err
	}
	sh.words.Beat.Store(rt.Now())
	sh.words.PreviousRun = s.handOver.snapshot()
	s.commands.handOn(sh.params.Publish)
	conf, err := ring.CreateMemory("hil-config", len(s.o.Config))
	if err != nil {
		mem.Close()
		return nil, fmt.Errorf("configuration for the core: %w", err)
	}
	copy(conf.Bytes(), s.o.Config)
	ports, err := s.corePorts.Expect()
	if err != nil {
		conf.Close()
		mem.Close()
		return nil, err
	}
	core, err := rt.StartCore(rt.CoreSpec{
		Args: []string{"core"},
		Env: []string{
			fmt.Sprintf("%s=%g", envRate, s.a.Schema.Rate),
			fmt.Sprintf("%s=%d", envEpoch, s.epoch),
			envLog + "=" + s.o.Log,
		},
		Memory:   mem.File(),
		Extra:    []*os.File{conf.File(), ports},
		RealTime: s.a.RealTime,
	})
	conf.Close()
	ports.Close()
	if err != nil {
		mem.Close()
		return nil, fmt.Errorf("start the core: %w", err)
	}
	done := make(chan string, 1)
	go func() {
		x := <-core.Done()
		done <- x.String()
	}()
	return &handle{sh: sh, done: done, isStopped: core.Stopped, ran: core.Ran, kill: core.Kill, term: func() { sh.words.Quit.Store(1) },
		release: func() { mem.Close() }, pid: core.PID}, nil
}

// startHere runs the loop on a goroutine of this process.
func (s *Supervisor) startHere(ctx context.Context) (*handle, error) {
	sh := heapShared(s.a.Schema.Rate, s.epoch)
	sh.words.PreviousRun = s.handOver.snapshot()
	s.commands.handOn(sh.params.Publish)
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	b, err := newBody(own, s.a, sh, func(int, *device.Options) {})
	if err != nil {
		cancel()
		return nil, fmt.Errorf("%w: %w", ErrDevice, err)
	}
	b.externals.fixedFlags |= hil.FlagUnprivileged
	sh.words.setText("single process: the loop shares its process with everything that allocates; this is not real time")
	done := make(chan string, 1)
	go b.housekeeping()
	go func() {
		defer func() {
			if v := recover(); v != nil {
				done <- "the loop failed: " + failure.Of(v).Report()
			}
		}()
		b.tick(s.epoch)
		b.rig.Close()
		sh.words.State.Store(coreStopped)
		done <- "loop ended"
	}()
	return &handle{sh: sh, done: done, kill: b.quit, term: b.quit, release: cancel, pid: os.Getpid()}, nil
}
