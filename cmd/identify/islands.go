package identify

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/identify"
	"hilrig/identify/fit"
)

// Islands is the evolution of a file, done round by round and island by island, with what the methods after it make of its end.
type Islands struct {
	plan    identify.Plan
	recs    identify.Records
	aep     fit.AEP
	problem *fit.Problem
}

// OpenIslands reads the records of a file and does the methods before the evolution, on one processor, silently.
func OpenIslands(ctx context.Context, cfg *configs.Identify) (*Islands, error) {
	e := &Islands{}
	var err error
	if e.plan, e.recs, err = silently(ctx, cfg); err != nil {
		return nil, err
	}
	e.aep, e.problem, err = identify.Evolution(ctx, e.plan, e.recs)
	return e, err
}

// IslandEnd is an island after a round.
type IslandEnd struct {
	State       json.RawMessage
	Generation  int
	Simulations int // of this island so far
	RMS         float64
	Unit        string
	BestMember  []fit.Param // its best member
}

// Round does a round of an island from the states that it needs (fit.AEP.Needs).
func (e *Islands) Round(ctx context.Context, island int, before []json.RawMessage) (*IslandEnd, error) {
	states, err := statesOf(before)
	if err != nil {
		return nil, err
	}
	c, err := e.aep.Round(ctx, e.problem, island, states)
	if err != nil {
		return nil, err
	}
	end := &IslandEnd{Generation: c.Generation, Simulations: c.Simulated, RMS: math.Sqrt(c.Members[0].Cost / float64(e.problem.Rows)),
		Unit: e.problem.Unit, BestMember: e.problem.At(c.Values()[0]).Params}
	end.State, err = json.Marshal(c)
	return end, err
}

// Finish does what comes after the evolution, from the states of all islands: the result is that of hil identify on as many islands. agree
// is how many have their best in one place.
func (e *Islands) Finish(ctx context.Context, last []json.RawMessage) (r *identify.Result, agree int, err error) {
	states, err := statesOf(last)
	if err != nil {
		return nil, 0, err
	}
	whole, err := e.aep.Join(e.problem, states)
	if err != nil {
		return nil, 0, err
	}
	data, err := json.Marshal(whole)
	if err != nil {
		return nil, 0, err
	}
	r, err = identify.Run(ctx, e.plan, e.recs, evolved(data), nil)
	if ctx.Err() != nil {
		return nil, 0, ctx.Err()
	}
	return r, whole.Agreement(), err
}

// Identification is a result as hil identify writes it, but for the time that it took; file is what was identified.
func (e *Islands) Identification(file string, cfg *configs.Identify, r *identify.Result, command string) Identification {
	r.Compute = 0
	for i := range r.Stages {
		r.Stages[i].Compute = 0
	}
	return Identification{Name: cfg.Name, Config: file, Program: report.Version(), Command: command, Seed: cfg.Seed, Result: r}
}

func statesOf(all []json.RawMessage) (states []*fit.Checkpoint, err error) {
	for _, text := range all {
		c := &fit.Checkpoint{}
		if err := json.Unmarshal(text, c); err != nil {
			return nil, fmt.Errorf("state of an island: %w", err)
		}
		states = append(states, c)
	}
	return states, nil
}

// evolved is a keeper with the state of an evolution at its end.
type evolved []byte

func (e evolved) Load(method string) []byte {
	if method == identify.EvolutionKey {
		return e
	}
	return nil
}

func (evolved) Save(string, []byte) {}
