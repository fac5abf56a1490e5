package report

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
)

// NewLogger logs to stderr: coloured text on a terminal, JSON on request.
func NewLogger(out io.Writer, format string, verbose, quiet bool) (*slog.Logger, error) {
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
	return nil, ExitWith(Usage, fmt.Errorf("--log-format %q: want text or json", format))
}

// UntilInterrupt is a context that ends on the first Ctrl-C or SIGTERM; a second one ends the program at once. was tells
// whether a signal came.
func UntilInterrupt(parent context.Context) (ctx context.Context, was func() bool, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	ch := make(chan os.Signal, 2)
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM)
	go func() {
		n := 0
		for range ch {
			if n++; n > 1 {
				os.Exit(Interrupted)
			}
			cancel(errInterrupted)
		}
	}()
	return ctx, func() bool { return context.Cause(ctx) == errInterrupted }, func() { signal.Stop(ch); close(ch); cancel(nil) }
}

var errInterrupted = fmt.Errorf("interrupted")
