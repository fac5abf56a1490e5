package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"hilrig/engine/numeric"
	"hilrig/hil"
	"hilrig/hil/sink"
)

// ReadyLine is printed on stdout, as one JSON object, once the core ticks; hil latency and tests wait for it.
type ReadyLine struct {
	CoreTicking bool   `json:"ready"`
	Page        string `json:"page,omitempty"`
	MQTT        string `json:"mqtt,omitempty"`
	Run         string `json:"run,omitempty"`
	Core        int    `json:"core_pid,omitempty"`
	Rig         int    `json:"rig_pid,omitempty"`
}

// summaryFile is what hil run --summary leaves at the end.
type summaryFile struct {
	sink.Summary
	FIFO     bool   `json:"fifo"`
	RowsLost uint64 `json:"rows_lost"`
	Mode     string `json:"mode"`
	Run      string `json:"run,omitempty"` // folder of the recording
}

// running is a daemon started by hil latency.
type running struct {
	cmd       *exec.Cmd
	readyLine ReadyLine
	errs      *strings.Builder
	exited    chan struct{} // closed when it has
}

// startDaemon starts the whole daemon, which leaves the processor under test to its tick, or to the reference.
func startDaemon(ctx context.Context, o LatencyOptions, dir string, reference bool) (*running, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cpu := o.Cpu
	if reference {
		cpu = (o.Cpu + 1) % runtime.NumCPU()
	}
	args := []string{"run", "--ready-line", "--quiet", "--rate", fmt.Sprintf("%g Hz", o.Rate), "--cpu", fmt.Sprint(cpu), "--keep-off",
		fmt.Sprint(o.Cpu),
		"--record", dir, "--summary", dir + "/summary.json", "--web", "localhost:0", "--mqtt", "localhost:0"}
	switch o.Load {
	case "garbage":
		args = append(args, "--flood", "1e6")
	case "heap":
		args = append(args, "--ballast", "1e9")
	}
	d := &running{cmd: exec.Command(exe, args...), errs: &strings.Builder{}, exited: make(chan struct{})}
	d.cmd.Stderr = d.errs
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := d.cmd.Start(); err != nil {
		return nil, err
	}
	lines := make(chan string, 1)
	go func() {
		sc := bufio.NewScanner(out)
		if sc.Scan() {
			lines <- sc.Text()
		}
		close(lines)
		io.Copy(io.Discard, out)
		_ = d.cmd.Wait() // what it left says more
		close(d.exited)
	}()
	select {
	case line := <-lines:
		if json.Unmarshal([]byte(line), &d.readyLine) != nil || !d.readyLine.CoreTicking {
			d.kill()
			return nil, fmt.Errorf("the daemon did not start: %s", strings.TrimSpace(d.errs.String()))
		}
	case <-ctx.Done():
		d.kill()
		return nil, errLatencyInterrupted
	case <-time.After(30 * time.Second):
		d.kill()
		return nil, errors.New("the daemon did not get ready within 30 s")
	}
	return d, nil
}

// visit puts an ordinary load on the daemon: 20 state polls and two page loads a second, and a subscriber to everything.
func (d *running) visit() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	get := func(path string) {
		req, err := http.NewRequestWithContext(ctx, "GET", d.readyLine.Page+path, nil)
		if err != nil {
			return
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	}
	beside := func(period time.Duration, do func()) { wg.Go(func() { every(ctx, period, do) }) }
	beside(50*time.Millisecond, func() { get("/api/state") })
	beside(500*time.Millisecond, func() { get("/") })
	if path, err := exec.LookPath("mosquitto_sub"); err == nil {
		host, port, _ := strings.Cut(strings.TrimPrefix(d.readyLine.MQTT, "tcp://"), ":")
		sub := exec.CommandContext(ctx, path, "-h", host, "-p", port, "-t", "#")
		if sub.Start() == nil {
			wg.Add(1)
			go func() { defer wg.Done(); sub.Wait() }()
		}
	}
	var once sync.Once
	return func() { once.Do(func() { cancel(); wg.Wait() }) }
}

// wait stops the daemon; of a block of the loop it reads what was measured between two moments (ns of rt.Now).
func (d *running) wait(summary string, b *block, from, to int64) error {
	d.cmd.Process.Signal(syscall.SIGINT)
	select {
	case <-d.exited:
	case <-time.After(15 * time.Second):
		d.kill()
		return fmt.Errorf("the daemon did not stop: %s", strings.TrimSpace(d.errs.String()))
	}
	data, err := os.ReadFile(summary)
	if err != nil {
		return fmt.Errorf("summary of the run: %w: %s", err, strings.TrimSpace(d.errs.String()))
	}
	var s summaryFile
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("summary of the run: %w", err)
	}
	b.FIFO = s.FIFO
	if b.Reference {
		return nil
	}
	return b.read(d.readyLine.Run, from, to)
}

// read takes the loop's timing from the recording of the run.
func (b *block) read(path string, from, to int64) error {
	run, err := sink.OpenRun(path)
	if err != nil {
		return err
	}
	defer run.Close()
	hist := make([]uint64, histBins)
	var missed uint64
	var busy []float64
	var worst int32
	err = run.Rows(func(r *hil.Row) error {
		if r.T < from || r.T >= to {
			return nil
		}
		hist[min(histBins-1, max(0, int(r.Lateness)/1000))]++
		worst = max(worst, r.Lateness)
		missed += uint64(r.Skip)
		busy = append(busy, float64(r.BusyTime)/1e3)
		return nil
	})
	if err != nil {
		return err
	}
	b.timing = distribution(hist)
	b.Max = float64(worst) / 1e3
	if all := b.N + missed; all > 0 {
		b.Missed = 100 * float64(missed) / float64(all)
	}
	if len(busy) > 0 {
		b.BusyP50 = numeric.QuantileInPlace(busy, 0.5)
	}
	return nil
}

// kill stops the daemon and waits for its end; its folder can be removed then.
func (d *running) kill() {
	d.cmd.Process.Signal(syscall.SIGINT)
	select {
	case <-d.exited:
	case <-time.After(3 * time.Second):
		d.cmd.Process.Kill()
	}
}
