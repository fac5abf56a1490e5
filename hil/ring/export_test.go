package ring

// What only tests ask for.

// Pushed is the number of values that went in.
func (w *Writer[T]) Pushed() uint64 { return w.ctl.head.Load() }

// Dropped is the number of values refused because the ring was full.
func (w *Writer[T]) Dropped() uint64 { return w.ctl.drops.Load() }
