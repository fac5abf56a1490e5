package rt

import (
	"sync"
	"sync/atomic"
)

// LifeLine watches the supervisor on behalf of the core. The tick reads flags only.
type LifeLine struct {
	loss     atomic.Uint32 // a loss; one that is final stays
	stop     atomic.Bool
	news     chan struct{} // something of this changed; room for one
	quit     chan struct{}
	watchers sync.WaitGroup
}

// loss is how the supervisor was found missing.
type loss = uint32

const (
	alive loss = iota
	lossBeat
	lossStop
	lossSignal // from here on final
	lossPipe
)

var lossText = [...]string{"", "its beat fell silent", "it was stopped", "its death signal came", "the life pipe ended"}

// SupervisorLost tells whether the supervisor is gone, hangs, does not get a processor or was stopped. Of the last three it may come back.
func (l *LifeLine) SupervisorLost() bool { return l.loss.Load() != alive }

// SupervisorEnded tells whether it has ended. That is final.
func (l *LifeLine) SupervisorEnded() bool { return l.loss.Load() >= lossSignal }

// LossText says how the loss was noticed; empty while the supervisor lives.
func (l *LifeLine) LossText() string { return lossText[l.loss.Load()] }

// Stop tells whether an orderly stop was asked for (SIGTERM).
func (l *LifeLine) Stop() bool { return l.stop.Load() }

// News says, for one reader, that SupervisorLost, SupervisorEnded or Stop have changed.
func (l *LifeLine) News() <-chan struct{} { return l.news }

// see notes what is known of the supervisor now.
func (l *LifeLine) see(now loss) {
	for {
		was := l.loss.Load()
		if was == now || was >= lossSignal {
			return
		}
		if l.loss.CompareAndSwap(was, now) {
			l.notify()
			return
		}
	}
}

func (l *LifeLine) notify() {
	select {
	case l.news <- struct{}{}:
	default:
	}
}
