package sink

import (
	"context"
	"time"

	"hilrig/hil"
)

// drainer empties the ring and makes messages of the rows. It touches memory only: no lock that is held during input or
// output, no allocation once the buffers have grown, nothing that waits but its own ticker.
type drainer struct {
	p         *Publisher
	batch     int64 // ns of loop time in one message
	row       hil.Row
	openBatch *batch // message being filled
	slot      int64  // number of the batch period the open message belongs to
	epoch     uint16
	seq       uint64
	grown     int       // size that a message reached, for new buffers
	lastRowAt time.Time // when the newest row came
}

func (d *drainer) run(ctx context.Context, rows RowSource) {
	tick := time.NewTicker(drainEvery)
	defer tick.Stop()
	last := time.Now()
	for {
		ending := ctx.Err() != nil
		d.pass(rows, last)
		if ending {
			d.flush()
			return
		}
		now := time.Now()
		if gap := int64(now.Sub(last)); gap > d.p.count.maxGap.Load() {
			d.p.count.maxGap.Store(gap)
		}
		last = now
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// pass takes everything that is in the ring.
func (d *drainer) pass(rows RowSource, now time.Time) {
	taken := false
	for rows.Pop(&d.row) {
		taken = true
		d.addRow(&d.row)
	}
	d.p.count.ringDropped.Store(rows.Dropped())
	switch {
	case taken:
		d.p.setNewest(&d.row)
		d.lastRowAt = now
	case d.openBatch != nil && now.Sub(d.lastRowAt) > 2*time.Duration(d.batch):
		d.flush() // the loop has stopped; what it left must not wait for it
	}
}

// addRow adds one row to the open message and closes the message at the edge of its batch period.
func (d *drainer) addRow(r *hil.Row) {
	c := &d.p.count
	c.rows.Add(1)
	if d.p.o.OnRow != nil {
		d.p.o.OnRow(r)
	}
	if r.Epoch == d.epoch && r.Seq > d.seq+1 && d.seq > 0 {
		c.gaps.Add(r.Seq - d.seq - 1)
	}
	d.epoch, d.seq = r.Epoch, r.Seq

	slot := r.T / d.batch
	if d.openBatch != nil && (slot != d.slot || len(d.openBatch.buf) > maxMessage) {
		d.flush()
	}
	if d.openBatch == nil {
		d.openBatch, d.slot = d.empty(), slot
		d.openBatch.buf = append(d.openBatch.buf, '[')
	} else {
		d.openBatch.buf = append(d.openBatch.buf, ',')
	}
	d.openBatch.buf = d.p.enc.sample(d.openBatch.buf, r)
	d.openBatch.rows++
}

// flush queues the open message; when the queue is full the oldest message makes room.
func (d *drainer) flush() {
	m := d.openBatch
	if m == nil {
		return
	}
	d.openBatch = nil
	m.buf = append(m.buf, ']')
	d.grown = max(d.grown, len(m.buf))
	for {
		select {
		case d.p.queue <- m:
			return
		default:
		}
		select {
		case old := <-d.p.queue:
			d.p.count.dropped.Add(old.rows)
			d.p.recycle(old)
		default:
		}
	}
}

func (d *drainer) empty() *batch {
	select {
	case m := <-d.p.spare:
		return m
	default:
		return &batch{buf: make([]byte, 0, d.grown+d.grown/8+1024)}
	}
}

// recycle gives a message back whose bytes nobody reads any more.
func (p *Publisher) recycle(m *batch) {
	m.buf, m.rows = m.buf[:0], 0
	select {
	case p.spare <- m:
	default:
	}
}
