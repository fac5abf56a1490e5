package hil

import "testing"

// replayed is rows run again through a fresh controller of s; sets[i] came into force as generation i+1.
func replayed(t testing.TB, s ControllerSpec, rows []Row, sets ...Params) *Replay {
	t.Helper()
	fresh, err := NewController(s)
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	rp := NewReplay(fresh.Schema(), func(r *Row) bool {
		if i == len(rows) {
			return false
		}
		*r = rows[i]
		i++
		return true
	}, func(gen uint32) *Change {
		if gen == 0 || int(gen) > len(sets) {
			return nil
		}
		c, err := fresh.Prepare(&sets[gen-1])
		if err != nil {
			t.Error(err)
		}
		return c
	})
	NewLoop(rp, rp, rp, fresh, 1).Run()
	return rp
}

// sameAgain fails when a replay of rows makes any other bits than were recorded.
func sameAgain(t testing.TB, s ControllerSpec, rows []Row, sets ...Params) {
	t.Helper()
	rp := replayed(t, s, rows, sets...)
	if rp.N != uint64(len(rows)) || rp.Diff != 0 {
		t.Fatalf("%d of %d rows differ, first at tick %d:\nrecorded %+v\nreplayed %+v", rp.Diff, rp.N, rp.DiffRecorded.Seq, rp.DiffRecorded,
			rp.DiffReplayed)
	}
}
