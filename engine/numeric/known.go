package numeric

import (
	"math"
	"math/bits"
	"sync"
)

// Several checks ask the same of one signal. An answer is kept by what the signal contains, so that it does not matter where the numbers
// stand or whether they change in between; two signals with the same print of 128 bits do not occur.

// print is that of a signal in pieces.
type print [2]uint64

func printOf(pieces [][]float64) print {
	const a, b = 0x9e3779b97f4a7c15, 0xd6e8feb86659fd93
	p, other := print{a, b}, print{b, a} // every other sample goes into one: neither waits for the other
	for _, x := range pieces {
		p[0], p[1] = (p[0]^uint64(len(x)))*b, bits.RotateLeft64(p[1], 17)^uint64(len(x))*a
		for ; len(x) >= 2; x = x[2:] {
			p.add(math.Float64bits(x[0]))
			other.add(math.Float64bits(x[1]))
		}
		if len(x) == 1 {
			p.add(math.Float64bits(x[0]))
		}
	}
	p.add(other[0])
	p.add(other[1])
	return p
}

func (p *print) add(q uint64) {
	const a, b = 0x9e3779b97f4a7c15, 0xd6e8feb86659fd93
	p[0] = bits.RotateLeft64((p[0]^q)*a, 29)
	p[1] = (bits.RotateLeft64(p[1], 31) + q) * b
}

// answers are the last ones of a question, oldest first.
type answers struct {
	lock  sync.Mutex
	byKey map[print]float64
	order []print
}

const keptAnswers = 64

// get is the answer for a signal, by ask if it is not known.
func (a *answers) get(pieces [][]float64, ask func() float64) float64 {
	p := printOf(pieces)
	a.lock.Lock()
	x, ok := a.byKey[p]
	a.lock.Unlock()
	if ok {
		return x
	}
	x = ask()
	a.lock.Lock()
	defer a.lock.Unlock()
	if _, ok := a.byKey[p]; ok {
		return x
	}
	if a.byKey == nil {
		a.byKey = map[print]float64{}
	}
	if len(a.order) == keptAnswers {
		delete(a.byKey, a.order[0])
		a.order = a.order[1:]
	}
	a.byKey[p], a.order = x, append(a.order, p)
	return x
}
