package study

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"hilrig/cmd/identify"
	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/engine/numeric"
	"hilrig/engine/study"
	"hilrig/identify/fit"
)

// An evolution on islands is a study whose runs are the rounds of its islands: round 0 of all islands first, then round 1 and so on, each a
// task that begins from the states of the round before. The last run takes all islands and does what comes after the evolution.

// Names of results of a round.
const (
	islandRMS    = "best_rms"
	islandRuns   = "simulations"
	islandsAgree = "islands_agreeing"
)

func (s *parameterStudy) islands() bool { return s.cfg.Design.Kind == study.Islands }

// place is the round and the island of a run; the last run is that of no island.
func (s *parameterStudy) place(run int) (round, island int, last bool) {
	d := &s.cfg.Design
	return run / d.Islands, run % d.Islands, run/d.Islands > d.Rounds
}

// ring are the tasks, a run each, with those that they come after.
func (s *parameterStudy) ring() []study.TaskSpan {
	a := fit.AEP{Islands: s.cfg.Design.Islands}
	tasks := study.SplitTasks(s.plan.Runs(), 1, nil)
	for run := range tasks {
		round, island, last := s.place(run)
		before := (round - 1) * a.Islands
		for k := range a.Islands {
			if last || slices.Contains(a.Needs(round, island), k) {
				tasks[run].Dependencies = append(tasks[run].Dependencies, before+k)
			}
		}
	}
	return tasks
}

// round does a round of an island, or in the end what comes after the evolution.
func (s *parameterStudy) round(ctx context.Context, data []byte, run int) (o study.Outcome, err error) {
	sim, err := configs.CheckSimulation(s.cfg.BaseName(), data)
	if err != nil {
		return o, err
	}
	before, err := s.startStates(run)
	if err != nil {
		return o, err
	}
	e, err := identify.OpenIslands(ctx, sim.Identify)
	if err != nil {
		return o, err
	}
	round, island, last := s.place(run)
	if last {
		r, agree, err := e.Finish(ctx, before)
		if err != nil {
			return o, err
		}
		o.Metrics = append(resultMetrics(r), study.Metric{Name: islandsAgree, Value: float64(agree)})
		text, err := json.Marshal(e.Identification(s.base(), sim.Identify, r, "hil study "+filepath.Base(s.cfg.FileName())))
		if folder := filepath.Dir(s.cfg.BaseName()); filepath.IsAbs(folder) { // the same wherever the folder is
			text = []byte(strings.ReplaceAll(string(text), folder+string(filepath.Separator), ""))
		}
		o.State = text
		return o, err
	}
	end, err := e.Round(ctx, island, before)
	if err != nil {
		return o, err
	}
	o.State = end.State
	o.Metrics = []study.Metric{{Name: "round", Value: float64(round)}, {Name: "island", Value: float64(island)}, {Name: "generation",
		Value: float64(end.Generation)}, {Name: islandRuns, Value: float64(end.Simulations)}, {Name: islandRMS, Unit: end.Unit, Value: end.RMS}}
	for _, p := range end.BestMember {
		if !fit.IsState(p.Name) {
			o.Metrics = append(o.Metrics, study.Metric{Name: p.Name, Unit: p.Unit, Value: p.Value})
		}
	}
	return o, nil
}

// startStates are the states that a run begins from.
func (s *parameterStudy) startStates(run int) (states []json.RawMessage, err error) {
	if s.folder == nil {
		return nil, nil
	}
	for _, k := range s.folder.Manifest.Tasks[run].Dependencies {
		list, err := s.folder.Read(k)
		if err != nil {
			return nil, err
		}
		if o := &list[0]; o.Failure != "" {
			round, island, _ := s.place(k)
			return nil, fmt.Errorf("round %d of island %d, which it begins from, failed", round, island)
		}
		states = append(states, list[0].State)
	}
	return states, nil
}

// islandSummary is how an evolution on islands ended.
type islandSummary struct {
	Headline    string            `json:"headline"`
	Islands     int               `json:"islands"`
	Rounds      int               `json:"rounds"`
	Simulations int               `json:"simulations"`
	Ends        []islandEnd       `json:"ends"`  // after the last round
	Agree       int               `json:"agree"` // islands whose best member is where the best of all is
	Verdict     string            `json:"verdict"`
	Reason      string            `json:"reason,omitempty"`
	Percent     *float64          `json:"fit_percent"`
	RMS         *float64          `json:"rms"`
	Unit        string            `json:"unit"`
	Parameters  []islandParameter `json:"parameters"`
}

type islandEnd struct {
	Island int      `json:"island"`
	RMS    *float64 `json:"best_rms"` // null: it failed
}

type islandParameter struct {
	Name  string   `json:"name"`
	Unit  string   `json:"unit"`
	Value *float64 `json:"value"`
	Error *float64 `json:"error"` // null: not known
}

// evolved sums the outcomes up; nil if the study is none of islands.
func (s *parameterStudy) evolved() *islandSummary {
	if !s.islands() {
		return nil
	}
	d := &s.cfg.Design
	out := &islandSummary{Islands: d.Islands, Rounds: d.Rounds, Ends: []islandEnd{}, Parameters: []islandParameter{}}
	end := &s.outcomes[len(s.outcomes)-1]
	rms, runs := s.result(islandRMS), s.result(islandRuns)
	for k := range d.Islands {
		run := d.Rounds*d.Islands + k
		out.Ends = append(out.Ends, islandEnd{k, numeric.OrNull(rms[run])})
		if numeric.IsFinite(runs[run]) {
			out.Simulations += int(runs[run])
		}
	}
	if end.Failure != "" {
		out.Headline = "the evolution has no result: " + end.Failure
		return out
	}
	of := map[string]study.Metric{}
	for _, m := range end.Metrics {
		of[m.Name] = m
	}
	for _, m := range end.Metrics {
		if e, ok := of[m.Name+".error"]; ok {
			out.Parameters = append(out.Parameters, islandParameter{m.Name, m.Unit, numeric.OrNull(m.Value), numeric.OrNull(e.Value)})
		}
	}
	out.Agree, out.Verdict, out.Reason = int(of[islandsAgree].Value), of[fitVerdict].Text, of[fitReason].Text
	out.Percent, out.RMS, out.Unit = numeric.OrNull(of["fit_percent"].Value), numeric.OrNull(of[fitRMS].Value), of[fitRMS].Unit
	out.Headline = fmt.Sprintf("%s; the best members of %d of %d islands are in one place", out.Verdict, out.Agree, d.Islands)
	return out
}

func (e *islandSummary) print(w io.Writer) {
	if e == nil {
		return
	}
	fmt.Fprintf(w, "\n%d islands, %d rounds, %d simulations\n", e.Islands, e.Rounds, e.Simulations)
	if len(e.Parameters) > 0 {
		t := tabwriter.NewWriter(w, 0, 8, 3, ' ', tabwriter.AlignRight)
		fmt.Fprintln(t, "parameter\tvalue\t± error\tunit\t")
		for _, p := range e.Parameters {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t\n", p.Name, report.OrDash("%.6g", p.Value), report.OrDash("%.2g", p.Error), p.Unit)
		}
		t.Flush()
		fmt.Fprintf(w, "residual %s %s rms, fit %s %%\n", four(e.RMS), e.Unit, report.OrDash("%.2f", e.Percent))
	}
	fmt.Fprintf(w, "\n%s\n", e.Headline)
	if e.Reason != "" {
		fmt.Fprintf(w, "   %s\n", e.Reason)
	}
}

// identification is the result as hil identify writes it; nil: there is none.
func (s *parameterStudy) identification() json.RawMessage {
	if !s.islands() || len(s.outcomes) == 0 {
		return nil
	}
	return s.outcomes[len(s.outcomes)-1].State
}
