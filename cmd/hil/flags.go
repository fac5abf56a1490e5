package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/lmittmann/tint"

	"hilrig/hil"
)

// newLogger logs to stderr: coloured text on a terminal, JSON on request.
func newLogger(out io.Writer, format string, verbose, quiet bool) (*slog.Logger, error) {
	level := slog.LevelInfo
	switch {
	case verbose:
		level = slog.LevelDebug
	case quiet:
		level = slog.LevelError
	}
	switch format {
	case "json":
		return slog.New(slog.NewJSONHandler(out, &slog.HandlerOptions{Level: level, ReplaceAttr: logAsStarted})), nil
	case "text":
		st, err := os.Stderr.Stat()
		terminal := err == nil && st.Mode()&os.ModeCharDevice != 0 && os.Getenv("NO_COLOR") == ""
		return slog.New(tint.NewTextHandler(out, &tint.Options{Level: level, TimeFormat: time.TimeOnly + ".000", NoColor: !terminal, ReplaceAttr: logAsStarted})), nil
	}
	return nil, exitWith(exitUsage, fmt.Errorf("--log-format %q: want text or json", format))
}

// logEvent writes an event as a log line.
func logEvent(log *slog.Logger, e hil.Event) {
	level := slog.LevelInfo
	switch e.Level {
	case "warn":
		level = slog.LevelWarn
	case "error":
		level = slog.LevelError
	}
	args := []any{"code", e.Code}
	if e.Seq > 0 {
		args = append(args, "tick", e.Seq)
	}
	log.Log(context.Background(), level, e.Text, args...)
}

// interrupted is a context that ends on the first Ctrl-C or SIGTERM; a second one ends the program at once. was tells
// whether a signal came.
func interrupted(parent context.Context) (ctx context.Context, was func() bool, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	ch := make(chan os.Signal, 2)
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM)
	go func() {
		n := 0
		for range ch {
			if n++; n > 1 {
				os.Exit(exitInterrupted)
			}
			cancel(errInterrupted)
		}
	}()
	return ctx, func() bool { return context.Cause(ctx) == errInterrupted }, func() { signal.Stop(ch); close(ch); cancel(nil) }
}

var errInterrupted = fmt.Errorf("interrupted")
