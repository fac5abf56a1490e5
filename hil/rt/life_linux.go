package rt

import (
	"os"
	"os/signal"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// WatchLife watches the supervisor in four ways, because each is blind somewhere: the parent-death signal is the fastest
// (0.2 ms) but needs a process that really dies; the end of the life pipe comes when the dead one's memory has been torn
// down (2 ms, 90 ms with 1.5 GB resident); the silence of the beat also finds one that hangs. After 20 ms of it the kernel is
// asked whether a signal has stopped the supervisor: then there is nothing to wait for.
//
// beat is a word in shared memory that the supervisor changes at least every silence/5; nil or silence 0: not watched.
// Silence is the time in which this process was awake and saw no change, so that a host that stops both does not count.
// A supervisor that beats again is alive again.
// silence ≥ 200 ms is sensible: a supervisor with a busy heap was seen to sleep 60 ms.
//
// Call it once.
func (h *Handover) WatchLife(beat *atomic.Int64, silence time.Duration) *LifeLine {
	parent := watchProcess(os.Getppid())
	l := &LifeLine{quit: make(chan struct{}), news: make(chan struct{}, 1)}
	l.watchers.Add(2)
	go l.watchSignals(h)
	go l.watchPipe(h.life, parent, beat, int64(silence))
	return l
}

func (l *LifeLine) watchSignals(h *Handover) {
	defer l.watchers.Done()
	defer signal.Stop(h.signals)
	for {
		select {
		case s := <-h.signals:
			if s == unix.SIGTERM {
				l.stop.Store(true)
				l.notify()
			} else {
				l.see(lossSignal)
			}
		case <-l.quit:
			return
		}
	}
}

const (
	pollInterval = 5    // ms  between two looks at the beat; the end of the pipe wakes the watch at once
	stopAfter    = 20e6 // ns  of silence after which a stopped supervisor is looked for
)

// watchPipe waits on the life pipe, in which nothing is ever written, and looks at the beat in between.
func (l *LifeLine) watchPipe(fd int, parent *process, beat *atomic.Int64, silence int64) {
	defer l.watchers.Done()
	defer unix.Close(fd)
	defer parent.close()
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	var seen, quiet int64
	if beat != nil {
		seen = beat.Load()
	}
	last := Now()
	var rest Rest
	for {
		rest.Due()
		select {
		case <-l.quit:
			return
		default:
		}
		fds[0].Revents = 0
		if n, err := unix.Poll(fds, pollInterval); err == nil && n > 0 && fds[0].Revents&(unix.POLLHUP|unix.POLLERR|unix.POLLNVAL) != 0 {
			l.see(lossPipe)
			<-l.quit
			return
		}
		now := Now()
		awake := min(now-last, 2*pollInterval*1e6) // a longer gap is one in which this process did not run itself
		last = now
		if beat == nil || silence <= 0 {
			continue
		}
		if b := beat.Load(); b != seen {
			seen, quiet = b, 0
			l.see(alive)
		} else if quiet += awake; quiet > stopAfter && parent.stopped() {
			l.see(lossStop)
		} else if quiet > silence {
			l.see(lossBeat)
		}
	}
}
