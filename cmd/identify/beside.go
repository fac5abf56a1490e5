package identify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"hilrig/cmd/report"
	"hilrig/engine/numeric"
	"hilrig/hil/rt"
	"hilrig/identify"
	"hilrig/identify/fit"
)

// besideEvery is how often progress is told to a daemon.
const besideEvery = 200 * time.Millisecond

// runAsChild makes this process one that a daemon runs beside its loop: at the lowest priority, with a line of JSON for its progress,
// and ended when its standard input is.
func runAsChild(parent context.Context, out io.Writer) (context.Context, fit.Watch, *report.Progress) {
	rt.Yielding()
	ctx, cancel := context.WithCancel(parent)
	go func() {
		io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	enc := json.NewEncoder(out)
	var last time.Time
	var was string
	return ctx, func(p fit.Progress) {
		if now := time.Now(); now.Sub(last) >= besideEvery || p.Method+p.Phase != was {
			last, was = now, p.Method+p.Phase
			_ = enc.Encode(whereOf(p)) // nobody to tell
		}
	}, report.NewProgress(io.Discard)
}

// whereOf is progress as it is published.
func whereOf(p fit.Progress) identify.Where {
	return identify.Where{Method: p.Method, Phase: p.Phase, Step: p.Step, StepCount: p.StepCount, BestCost: numeric.OrNull(p.BestCost),
		Unit: p.Unit}
}

// populationFile hands the members of an evolution from one record to the next.
type populationFile struct {
	path string
	data []byte // the newest
}

// openPopulation reads the file, if there is one.
func openPopulation(path string) (*populationFile, error) {
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("--population: %w", err)
	}
	if data != nil && !json.Valid(data) {
		return nil, fmt.Errorf("--population %s: no JSON of members of an evolution; give another file name to start anew", path)
	}
	return &populationFile{path, data}, nil
}

func (f *populationFile) Load(key string) []byte {
	if key == identify.PopulationKey {
		return f.data
	}
	return nil
}

// Save writes the members. One that is lost costs the next record a start from nothing, no more.
func (f *populationFile) Save(key string, data []byte) {
	if key == identify.PopulationKey {
		f.data = data
		_ = report.WriteWhole(f.path, true, func(w io.Writer) error { _, err := w.Write(data); return err })
	}
}
