package axis

import (
	"math"

	"hilrig/engine/plant"
)

// average is the weight of a sample in a mean, 1 − e^(−span/tau), kept while the span (s) stays the same.
type average struct{ span, weight float64 }

// weightFor is the weight of a sample of span in a mean over tau (s), which is the same at every call.
func (a *average) weightFor(span, tau float64) float64 {
	if span != a.span {
		a.span, a.weight = span, -math.Expm1(-span/tau)
	}
	return a.weight
}

// brushDrop is the drop (V) of brushes at the newest current (A), kept while current and brushes stay the same: two means take it in a
// tick.
type brushDrop struct{ current, drop, scale, value float64 }

func (b *brushDrop) at(m *plant.Motor, current float64) float64 {
	if b == nil {
		return m.Drop(current)
	}
	if current != b.current || m.BrushDrop != b.drop || m.DropScale != b.scale {
		*b = brushDrop{current, m.BrushDrop, m.DropScale, m.Drop(current)}
	}
	return b.value
}
