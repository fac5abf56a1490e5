package report

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
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
		return slog.New(tint.NewTextHandler(out, &tint.Options{Level: level, TimeFormat: time.TimeOnly + ".000", NoColor: !terminal,
			ReplaceAttr: logAsStarted})), nil
	}
	return nil, Exitf(Usage, "--log-format %q: want text or json", format)
}

// repeatWindow is how soon after the first a further signal still means the same: whoever ends a process group often tells its members too.
const repeatWindow = time.Second

// quietTime is how long after Ctrl-C a program may go on without a word.
const quietTime = time.Second

// UntilInterrupt is a context that ends at the first Ctrl-C, SIGTERM, or hang-up of the terminal (which nohup switches off); one that comes
// more than a second later ends the program at once. After what goes on without an end for a
// second it says what that is, goesOn if given. was tells whether a signal came; context.Cause says which.
func UntilInterrupt(parent context.Context, goesOn ...string) (ctx context.Context, was func() bool, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	ch := make(chan os.Signal, 2)
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	signal.Notify(ch, signals...)
	go func() {
		var first time.Time
		var quiet *time.Timer
		defer func() {
			if quiet != nil {
				quiet.Stop()
			}
		}()
		for s := range ch {
			switch {
			case first.IsZero():
				first = time.Now()
				cancel(interruption{s})
				quiet = time.AfterFunc(quietTime, func() {
					printWithin(os.Stderr, "interrupted: %s; Ctrl-C again ends the program at once\n", cmp.Or(strings.Join(goesOn, ""), "what is under way is brought to its end"))
				})
			case time.Since(first) > repeatWindow:
				os.Exit(Interrupted)
			}
		}
	}()
	return ctx, func() bool { return IsInterruption(context.Cause(ctx)) }, func() { signal.Stop(ch); close(ch); cancel(nil) }
}

// interruption is the cause of a context that a signal ended.
type interruption struct{ signal os.Signal }

func (i interruption) Error() string { return i.signal.String() }

// IsInterruption tells whether a signal was the cause.
func IsInterruption(cause error) bool {
	var i interruption
	return errors.As(cause, &i)
}
