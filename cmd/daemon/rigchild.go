package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/engine/failure"
	"hilrig/hil"
)

// rigChild is the virtual rig as a process of its own, started for a run and ended with it.
type rigChild struct {
	cmd    *exec.Cmd
	life   io.Closer // its standard input: the rig lives while it is open
	ports  []string
	pid    int
	dir    string
	exited chan struct{}
	ends   atomic.Bool
}

// startRig starts `hil rig` with the run's configuration and waits for its ports. What becomes of it is told as events.
func startRig(ctx context.Context, cfg *configs.Config, o RunOptions, emit func(hil.Event)) (*rigChild, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	data, err := cfg.Redacted().Marshal()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "hil-rig-")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "rig.yaml")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return nil, err
	}
	r := &rigChild{dir: dir, exited: make(chan struct{})}
	r.cmd = exec.Command(exe, "rig", file, "--bare", "--with-parent", "--sockets", dir, "--flood", fmt.Sprint(o.Flood),
		fmt.Sprintf("--no-realtime=%v", o.NoRT || o.Single))
	setOwnGroup(r.cmd) // Ctrl-C is for the daemon, which stops the rig last
	var errs strings.Builder
	r.cmd.Stderr = &errs
	in, err := r.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	r.life = in
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := r.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the virtual rig: %w", err)
	}
	first := make(chan RigReady, 1)
	go func() {
		defer failure.Report()
		sc := bufio.NewScanner(out)
		var ready RigReady
		if sc.Scan() && json.Unmarshal(sc.Bytes(), &ready) == nil {
			first <- ready
		}
		tell := func(level, code, text string) {
			emit(hil.Event{Time: time.Now(), Level: level, Code: code, Text: text})
		}
		for sc.Scan() {
			var news RigNews
			if json.Unmarshal(sc.Bytes(), &news) != nil || r.ends.Load() {
				continue
			}
			if news.MaxLateness > 0 {
				tell("warn", "RIG_LATE", fmt.Sprintf("the virtual rig got no processor for %d ms and stood still: what its sensors lack then is this "+
					"computer's doing. Stop other programs, or give hil real-time scheduling (docs/howto/realtime.md)", news.MaxLateness))
			}
			if news.Lowered {
				tell("warn", "RIG_SLOW", "the plant takes more processor time than there is: it goes on at ordinary priority, behind its time. Lower "+
					"virtual.inner_rate or the rates of the devices")
			}
		}
		err := r.cmd.Wait()
		close(r.exited)
		if !r.ends.Load() {
			tell("error", "RIG_LOST", fmt.Sprintf("the virtual rig ended (%v) %s", err, strings.TrimSpace(errs.String())))
		}
	}()
	select {
	case ready := <-first:
		r.ports, r.pid = ready.Ports, ready.PID
		return r, nil
	case <-r.exited:
		return nil, report.ExitWith(report.Unavailable, fmt.Errorf("the virtual rig did not start: %s", strings.TrimSpace(errs.String())))
	case <-time.After(10 * time.Second):
		r.stop()
		return nil, report.ExitWith(report.Unavailable, fmt.Errorf("the virtual rig did not name its port within 10 s: %s",
			strings.TrimSpace(errs.String())))
	case <-ctx.Done():
		r.stop()
		return nil, ctx.Err()
	}
}

// stop ends the rig and removes what it left.
func (r *rigChild) stop() {
	r.ends.Store(true)
	r.life.Close()
	select {
	case <-r.exited:
	case <-time.After(2 * time.Second):
		r.cmd.Process.Kill()
		<-r.exited
	}
	os.RemoveAll(r.dir)
}
