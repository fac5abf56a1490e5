package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/hil/axis"
	"hilrig/hil/dashboard"
	"hilrig/hil/sink"
	"hilrig/identify"
)

// View opens the page on a recording: its rows, events and modes, the laws of the configuration in it, and the results of the
// identifications that are kept beside it. listen is the address of the page, "" any free port of this machine. The caller prints Addr and
// calls Run, which ends with its context.
func View(path, listen string, log *slog.Logger) (*dashboard.Server, error) {
	run, err := sink.OpenRun(path)
	if err != nil {
		return nil, err
	}
	config := run.Info.Config
	path = run.Path
	run.Close()
	opt := dashboard.Options{Web: dashboard.Web{Listen: listen}, Log: log}
	// rows and events are there all the same where another version wrote the configuration
	if cfg, err := configs.LoadBytes("the configuration in "+path, config); err != nil {
		log.Warn("no law is drawn beside the rows: " + err.Error())
	} else {
		for i := range cfg.Axes {
			opt.Axes = append(opt.Axes, pageAxis(cfg, &cfg.Axes[i], false))
		}
		opt.SteadyCurve = func(axis, law string, values map[string]float64) ([][2]float64, error) {
			return axisSteadyCurve(cfg, axis, law, values)
		}
	}
	results, err := json.Marshal(map[string]any{"results": keptResults(filepath.Join(filepath.Dir(path), sink.FitDir), log)})
	opt.Identify = func() []byte { return results }
	if err != nil {
		return nil, err
	}
	return dashboard.NewView(path, opt)
}

// keptResults are the results of identifications in a folder as they were published, the newest first.
func keptResults(dir string, log *slog.Logger) []fitResult {
	all := []fitResult{}
	files, _ := filepath.Glob(filepath.Join(dir, "[0-9]*.json"))
	slices.Sort(files)
	for _, file := range slices.Backward(files) {
		var r struct {
			identify.Result
			Axis string `json:"axis"`
		}
		text, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(text, &r)
		}
		if err != nil || len(r.Stages) == 0 {
			log.Warn("not a result of an identification", "file", file, "error", err)
			continue
		}
		f := fitResult{Published: identify.Published{ID: strings.TrimSuffix(filepath.Base(file), ".json"), Axis: r.Axis,
			Trigger: r.Chain.String(), Summary: r.Summary(), File: file}}
		if st, err := os.Stat(file); err == nil {
			f.Timestamp = identify.Stamp(st.ModTime())
		}
		if c, err := r.Contact(); err == nil {
			f.Model = &axis.Set{Law: c.Law, Params: c.Params}
		}
		all = append(all, f)
	}
	return all
}

// ViewOptions are the flags of hil view.
type ViewOptions struct {
	report.Output
	web string
}

// Flags are those of hil view.
func (o *ViewOptions) Flags(fl *pflag.FlagSet) {
	o.Output.Flags(fl)
	fl.StringVar(&o.web, "web", "localhost:8080", "address of the page; localhost:0 takes any free port")
}

// ServeView opens the page on a recording and serves it until ctx ends.
func ServeView(ctx context.Context, path string, o ViewOptions) error {
	log, err := report.NewLogger(o.Stderr, "text", false, false)
	if err != nil {
		return err
	}
	page, err := View(path, o.web, log)
	if unavailable := new(net.OpError); errors.As(err, &unavailable) || errors.Is(err, fs.ErrPermission) {
		return report.ExitWith(report.Unavailable, err)
	} else if err != nil {
		return report.ExitWith(report.Invalid, err)
	}
	answer := map[string]string{"page": "http://" + page.Addr(), "run": path}
	if err := o.Give(answer, func(w io.Writer) { fmt.Fprintf(w, "%s: open %s; Ctrl-C ends it\n", path, answer["page"]) }); err != nil {
		return err
	}
	if err := page.Run(ctx); err != nil {
		return report.ExitWith(report.Unavailable, err)
	}
	return nil
}
