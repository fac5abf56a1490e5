package circuit

import (
	"math"
	"strings"
	"testing"
)

// A balance that is off by a little more than the tolerance is refused with its line, one a little less is not; so is a loss below zero.
func TestAuditCheck(t *testing.T) {
	at := func(miss, loss float64) *Audit {
		return &Audit{Lines: []Energies{
			{Name: "circuit", Input: 100 + miss, Loss: 30 + loss, Output: 60, StoredChange: 10 - loss},
			{Name: "gear", Output: 1e-12},
			{Name: "mechanics", Output: -60, StoredChange: 60, Gross: 60}}}
	}
	if err := at(0.9e-7, 0).Check(1e-9); err != nil {
		t.Error(err)
	}
	for words, a := range map[string]*Audit{"circuit: the energies do not close": at(1.2e-7, 0),
		"total: the energies do not close": at(-1.2e-7, 0), "circuit: loss -5 J": at(0, -35)} {
		if err := a.Check(1e-9); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %q", err, words)
		}
	}
	if err := at(math.NaN(), 0).Check(1e-9); err == nil {
		t.Error("a balance that is no number was accepted")
	}
	// a lossless gear may be off by what is nothing beside the circuit, not by more
	a := at(0, 0)
	a.Lines[1].Output = 2e-10
	if err := a.Check(1e-9); err == nil || !strings.Contains(err.Error(), "gear: ") {
		t.Error(err)
	}
	if e := (Energies{}); e.Relative() != 0 {
		t.Error(e.Relative())
	}
}
