package record

import (
	"context"
	"errors"
	"maps"
	"slices"

	"hilrig/engine"
)

// Source is a recording that another package holds: channels with units, all of one length, read in place and only where asked for.
type Source interface {
	Signals() []engine.Signal                                             // what there is
	Columns(ctx context.Context, names []string) (x [][]float64, e error) // as recorded, in the units of Signals
	Notes() []string                                                      // what was left out or filled in by the last Columns
}

// ReadSource makes records of a source as Read does of a file. file and its sha256 go into the records and messages.
func ReadSource(ctx context.Context, file, sha256 string, s Source, m Mapping) ([]*Record, error) {
	t := &Table{File: file, SHA256: sha256}
	for _, sig := range s.Signals() {
		t.Names, t.Units = append(t.Names, sig.Name), append(t.Units, sig.Unit)
	}
	t.Columns = make([][]float64, len(t.Names))
	at, err := t.find(&m) // unknown names are refused with what there is instead
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(at))
	x, err := s.Columns(ctx, names)
	switch {
	case err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return nil, err
	case err != nil:
		return nil, &Error{File: file, Msg: err.Error()}
	}
	for i, name := range names {
		t.Columns[at[name]] = x[i]
	}
	recs, err := FromTable(t, m)
	if err != nil {
		return nil, err
	}
	recs[0].Warnings = append(s.Notes(), recs[0].Warnings...)
	return recs, nil
}
