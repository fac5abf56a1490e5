package record

import (
	"os"
	"path/filepath"
	"testing"
)

// An optional column is read where it is, and missed where it is not; a missing column that is needed is an error.
func TestOptionalColumn(t *testing.T) {
	m := bench
	m.Disturbance = Column{Name: "pulse", Unit: "N", Scale: 1, Optional: true}
	for _, c := range []struct {
		text string
		want int
	}{{"t,pos,u,pulse\n0,10,1,5\n1,11,2,0\n2,12,3,0\n", 3}, {"t,pos,u\n0,10,1\n1,11,2\n2,12,3\n", 0}} {
		path := filepath.Join(t.TempDir(), "r.csv")
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		recs, err := Read(path, m)
		if err != nil || len(recs[0].Disturbance) != c.want || recs[0].Len() != 3 {
			t.Errorf("%q: %v, %v", c.text, recs, err)
		}
		m.Disturbance.Optional = false
		if _, err := Read(path, m); (err == nil) != (c.want > 0) {
			t.Errorf("needed: %v", err)
		}
		m.Disturbance.Optional = true
	}
}
