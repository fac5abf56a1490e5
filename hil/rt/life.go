package rt

import (
	"sync"
	"sync/atomic"
)

// LifeLine watches the supervisor on behalf of the core. The tick reads flags only.
type LifeLine struct {
	lost atomic.Uint32 // a loss; one that is final stays
	stop atomic.Bool
	news chan struct{} // something of this changed; room for one
	quit chan struct{}
	once sync.Once
	done sync.WaitGroup
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

// Lost tells whether the supervisor is gone, hangs, does not get a processor or was stopped. Of the last three it may come back.
func (l *LifeLine) Lost() bool { return l.lost.Load() != alive }

// Gone tells whether it has ended. That is final.
func (l *LifeLine) Gone() bool { return l.lost.Load() >= lossSignal }

// Why says how the loss was noticed; empty while the supervisor lives.
func (l *LifeLine) Why() string { return lossText[l.lost.Load()] }

// Stop tells whether an orderly stop was asked for (SIGTERM).
func (l *LifeLine) Stop() bool { return l.stop.Load() }

// News says, for one reader, that Lost, Gone or Stop have changed.
func (l *LifeLine) News() <-chan struct{} { return l.news }

// see notes what is known of the supervisor now.
func (l *LifeLine) see(now loss) {
	for {
		was := l.lost.Load()
		if was == now || was >= lossSignal {
			return
		}
		if l.lost.CompareAndSwap(was, now) {
			l.tell()
			return
		}
	}
}

func (l *LifeLine) tell() {
	select {
	case l.news <- struct{}{}:
	default:
	}
}
