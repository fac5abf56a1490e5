package rt

import (
	"sync"
	"sync/atomic"
)

// LifeLine watches the supervisor on behalf of the core. The tick reads flags only.
type LifeLine struct {
	lost atomic.Uint32 // a loss; the first one stays
	stop atomic.Bool
	news chan struct{} // closed at the first loss or request to stop
	told sync.Once
	quit chan struct{}
	once sync.Once
	done sync.WaitGroup
}

// loss is how the supervisor was found missing.
type loss = uint32

const (
	alive loss = iota
	lossSignal
	lossPipe
	lossBeat
	lossStop
)

var lossText = [...]string{"", "its death signal came", "the life pipe ended", "its beat fell silent", "it was stopped"}

// Lost tells whether the supervisor is gone or hangs. It never turns false again.
func (l *LifeLine) Lost() bool { return l.lost.Load() != alive }

// Why says how the loss was noticed first; empty while the supervisor lives.
func (l *LifeLine) Why() string { return lossText[l.lost.Load()] }

// Ended is closed when the supervisor is lost or asks for an orderly stop.
func (l *LifeLine) Ended() <-chan struct{} { return l.news }

func (l *LifeLine) lose(why loss) {
	l.lost.CompareAndSwap(alive, why)
	l.tell()
}

func (l *LifeLine) tell() { l.told.Do(func() { close(l.news) }) }
