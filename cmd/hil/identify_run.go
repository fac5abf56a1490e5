package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"hilrig/configs"
	"hilrig/hil/sink"
	"hilrig/identify/record"
)

// openSamples opens a recording in the time of its samples; the configuration it was made with says how it was sampled.
func openSamples(path string, still bool) (*sink.Run, *configs.Config, *sink.Samples, error) {
	run, err := sink.OpenRun(path)
	if err != nil {
		return nil, nil, nil, err
	}
	cfg, err := configs.LoadBytes(run.Path+": its configuration", run.Info.Config)
	if err != nil {
		run.Close()
		return nil, nil, nil, err
	}
	return run, cfg, run.Samples(sink.SampleOptions{
		Delay: cfg.Estimator.Delay, Every: 1 / cfg.DeviceRate(), Clocked: cfg.Device.Protocol != "line" || cfg.Device.Line.Time != "", Still: still || run.Info.DryRun,
	}), nil
}

// readRecording reads a recording of this program, where it lies and in the time of its samples: while the drive was on, or, for a
// model that coasts, while it was off.
func readRecording(ctx context.Context, path string, m record.Mapping, still bool) ([]*record.Record, error) {
	run, _, samples, err := openSamples(path, still)
	if err != nil {
		return nil, err
	}
	defer run.Close()
	switch m.Time.Name {
	case "", "timestamp", "t", sink.SampleTime:
		m.Time = record.Column{Name: sink.SampleTime, Unit: "s"}
	default:
		return nil, &record.Error{File: path, Msg: fmt.Sprintf("data.columns.time: %s: a recording is read in the time of its samples", m.Time.Name), Hint: "Leave data.columns.time out."}
	}
	sum, err := hashOf(run.Path)
	if err != nil {
		return nil, err
	}
	if m.Piece == "" {
		m.Piece = sink.SamplePiece
	}
	m.Resample, m.SplitGaps, m.Interpolation = true, true, record.Cubic // of devices that sample unevenly; an even raster stays as it is
	recs, err := record.ReadSource(ctx, path, sum, samples, m)
	if err != nil {
		return nil, err
	}
	for _, p := range run.Problems() {
		recs[0].Warnings = append(recs[0].Warnings, fmt.Sprint(p))
	}
	return recs, nil
}

// hashOf is the SHA-256 of a file, in hexadecimal.
func hashOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}
