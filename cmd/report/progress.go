package report

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Stage is where a long computation is.
type Stage struct {
	Method          string // what is at work
	Phase           string // what it is doing; "" if there is one only
	Step, StepCount int    // steps done and in all; StepCount 0: not known
	Simulated       int    // simulations so far, over all stages of the method
	BestCost        float64
	Unit            string // of BestCost
	Note            string // what else there is to say
}

// lineEvery is how often a long fit says where it is when nobody looks at a terminal.
const lineEvery = 10 * time.Second

// drawEvery is how often a bar is drawn; a new phase is drawn at once.
const drawEvery = 100 * time.Millisecond

// Reading is what shows how far a file was read.
func (p *Progress) Reading(path string) func(read, size int64, rows int) {
	return func(read, size int64, rows int) {
		p.Watch(Stage{Method: "reading", Phase: filepath.Base(path) + ", MB", Step: int(read >> 20), StepCount: int(size >> 20),
			Note: fmt.Sprintf("%.3g million rows", float64(rows)/1e6)})
	}
}

// beatEvery is how often a stage that says nothing is shown again, with the time that it has taken.
const beatEvery = time.Second

// Progress shows a computation at work: a bar with phase, best cost, simulations per second and time left on a terminal, one line
// every ten seconds elsewhere, also while the stage says nothing. Nothing is shown of what is over within the first instant.
type Progress struct {
	mu          sync.Mutex
	writer      io.Writer
	terminal    bool
	bar         *progressbar.ProgressBar // of the stage; nil: not drawn yet
	startTime   time.Time
	lastOutput  time.Time
	method      string // at work …
	methodStart time.Time
	phase       string // … and its phase, which the bar belongs to
	phaseStart  time.Time
	stepped     int // steps done when the stage began
	stage       Stage
	beat        *time.Ticker // nil: nothing is shown, or it is over
	clock       func() time.Time
}

// NewProgress writes to out, usually standard error.
func NewProgress(out io.Writer) *Progress {
	p := &Progress{writer: out, clock: time.Now}
	p.startTime = p.clock()
	p.lastOutput = p.startTime
	if f, ok := out.(*os.File); ok {
		p.terminal = term.IsTerminal(int(f.Fd()))
	}
	return p
}

// Watch is what the computation calls.
func (p *Progress) Watch(s Stage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.beat == nil && p.writer != io.Discard {
		p.beat = time.NewTicker(beatEvery)
		go p.repeat(p.beat)
	}
	p.show(s)
}

// repeat shows the newest stage again until the ticker is no longer that of the progress.
func (p *Progress) repeat(beat *time.Ticker) {
	for range beat.C {
		p.mu.Lock()
		over := p.beat != beat
		if !over {
			p.show(p.stage)
		}
		p.mu.Unlock()
		if over {
			beat.Stop()
			return
		}
	}
}

// show shows a stage where it is time for it.
func (p *Progress) show(s Stage) {
	p.stage = s
	t := p.clock()
	if s.Method != p.method {
		p.method, p.methodStart = s.Method, t
	}
	if phase := s.Method + s.Phase; phase != p.phase {
		p.phase, p.phaseStart, p.stepped = phase, t, s.Step
		p.clearBar()
	}
	switch {
	case p.terminal && t.Sub(p.startTime) > 300*time.Millisecond && (p.bar == nil || t.Sub(p.lastOutput) >= drawEvery):
		p.lastOutput = t
		p.draw(s, t)
	case !p.terminal && t.Sub(p.lastOutput) >= lineEvery:
		p.lastOutput = t
		fmt.Fprintln(p.writer, p.describe(s, t))
	}
}

// draw shows the bar, which is never full: a full one would end itself.
func (p *Progress) draw(s Stage, t time.Time) {
	steps := -1 // a spinner
	if s.StepCount > 0 {
		steps = s.StepCount + 1
	}
	text := fmt.Sprintf("%-80s", p.describe(s, t)) // what was longer before is written over
	if p.bar == nil {
		p.bar = progressbar.NewOptions(steps, progressbar.OptionSetWriter(p.writer), progressbar.OptionSetWidth(24),
			progressbar.OptionSetDescription(text),
			// a spinner that drew itself would outlive its stage
			progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false), progressbar.OptionShowDescriptionAtLineEnd(),
			progressbar.OptionSetSpinnerChangeInterval(0))
	}
	p.bar.Describe(text)
	if s.StepCount > 0 {
		_ = p.bar.Set(min(s.Step, s.StepCount))
	} else {
		_ = p.bar.Add(1)
	}
	_ = p.bar.RenderBlank()
}

func (p *Progress) clearBar() {
	if p.bar != nil {
		_ = p.bar.Clear()
		p.bar = nil
	}
}

// describe is "aep: generation 120 of 200, best 0.4123 mm, 9100 simulations/s, 12 s left".
func (p *Progress) describe(s Stage, t time.Time) string {
	text := s.Method
	if s.Phase != "" {
		text += ": " + s.Phase
	}
	if strings.Contains(s.Phase, " of ") {
		// it counts by itself
	} else if s.StepCount > 0 {
		text += fmt.Sprintf(" %d of %d", s.Step, s.StepCount)
	} else if s.Step > 0 {
		text += fmt.Sprintf(" %d", s.Step)
	}
	if s.Note != "" {
		text += ", " + s.Note
	}
	if s.BestCost > 0 && !math.IsInf(s.BestCost, 0) {
		text += fmt.Sprintf(", best %.4g", s.BestCost)
		if s.Unit != "" {
			text += " " + s.Unit
		}
	}
	if d := t.Sub(p.methodStart).Seconds(); d > 0 && s.Simulated > 0 {
		text += fmt.Sprintf(", %.3g simulations/s", float64(s.Simulated)/d)
	}
	if done := s.Step - p.stepped; s.StepCount > 0 && done > 0 {
		left := t.Sub(p.phaseStart).Seconds() * float64(s.StepCount-s.Step) / float64(done)
		text += fmt.Sprintf(", %s left", time.Duration(left*float64(time.Second)).Round(time.Second))
	} else if d := t.Sub(p.phaseStart).Round(time.Second); d >= 2*time.Second {
		text += fmt.Sprintf(", %s so far", d)
	}
	return text
}

// Finish removes the bar.
func (p *Progress) Finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clearBar()
	if p.beat != nil {
		p.beat.Reset(time.Nanosecond) // ends repeat
		p.beat = nil
	}
}
