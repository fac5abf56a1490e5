package brush

// Window is the mean of the face force over the last Span seconds, and what is counted of its gaps. A rough face carries no
// force in a third of all steps of 20 µs, and how often it lets go depends on the step; what the current sees are forces over
// times that a spot needs to heat and melt. So the electrical side takes the mean, and only gaps longer than MinInterruption count as
// interruptions.
type Window struct {
	Span            float64 // s  at least 0.1 ms
	MinInterruption float64 // s

	Interruptions int     // gaps longer than MinInterruption
	Loss          float64 // 1  share of the time without force, over about Memory
	Memory        float64 // s

	ring        [128]sample
	head, n     int
	time, total float64 // s, N·s  in the ring
	loaded      int     // samples in the ring with force
	gap         float64 // s       since there was force
	age         float64 // s       since the start, at most Memory
}

type sample struct{ h, f float64 }

// Push takes the mean force (N) of the next h seconds and returns that of the window.
func (w *Window) Push(h, f float64) float64 {
	if f > 0 {
		w.gap = 0
		w.loaded++
	} else {
		before := w.gap
		w.gap += h
		if before <= w.MinInterruption && w.gap > w.MinInterruption {
			w.Interruptions++
		}
	}
	lost := 0.0
	if !(f > 0) {
		lost = 1
	}
	w.forget(h, lost)
	// the oldest leave as long as the rest fills the window
	for w.n > 0 && (w.n == len(w.ring) || w.time+h-w.ring[w.head].h >= w.Span*(1-1e-9)) {
		s := w.ring[w.head]
		w.head = (w.head + 1) % len(w.ring)
		w.n--
		w.time -= s.h
		w.total -= s.h * s.f
		if s.f > 0 {
			w.loaded--
		}
	}
	w.ring[(w.head+w.n)%len(w.ring)] = sample{h, f}
	w.n++
	w.time += h
	w.total += h * f
	if w.loaded == 0 { // what rounding leaves is no contact
		w.total = 0
	}
	return w.total / w.time
}

// Hold fills the window with a constant force, for a model that knows the mean alone; loss is its share of the time without force.
func (w *Window) Hold(h, f, loss float64) {
	w.forget(h, loss)
	w.ring[0] = sample{w.Span, f}
	w.head, w.n, w.time, w.total, w.loaded, w.gap = 0, 1, w.Span, w.Span*f, 1, 0
}

// forget moves Loss on: the mean since the start at first, an exponential one later.
func (w *Window) forget(h, lost float64) {
	w.age = min(w.age+h, max(w.Memory, h))
	w.Loss += (lost - w.Loss) * h / w.age
}
