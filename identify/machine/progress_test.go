package machine

import (
	"context"
	"errors"
	"strings"
	"testing"

	"hilrig/identify/fit"
)

// A fit says how far it is, from the columns to the suspects, also within the simulation of a round; a context that ends there ends it.
func TestFitSaysHowFarItIs(t *testing.T) {
	t.Parallel()
	s := simulatedArms(t)[1]
	spec := s.spec()
	spec.Instruments = UseCheck
	noisy := []Recording{s.noisy(s.clean, 7, 1)}
	var steps []int
	stages := map[string]bool{}
	r, err := Fit(t.Context(), s.model(t, 0.2), spec, noisy, nil, func(p fit.Progress) {
		steps, stages[p.Note] = append(steps, p.Step), true
	})
	if err != nil {
		t.Fatal(err)
	}
	within := 0
	for i := range steps[1:] {
		if steps[i+1] < steps[i] && r.IV.Rounds <= usualRounds {
			t.Errorf("from %d to %d %%", steps[i], steps[i+1])
		}
		within = max(within, steps[i+1]-steps[i])
	}
	if steps[0] != 0 || steps[len(steps)-1] < 50 || within > 35 || len(stages) != 4+r.IV.Rounds {
		t.Errorf("%d rounds, from %d to %d %% in steps of up to %d %%, %v", r.IV.Rounds, steps[0], steps[len(steps)-1], within, stages)
	}
	for stage := range stages {
		ctx, cancel := context.WithCancel(t.Context())
		after := 0
		_, err := Fit(ctx, s.model(t, 0.2), spec, noisy, nil, func(p fit.Progress) {
			if p.Note == stage {
				cancel()
			} else if ctx.Err() != nil && !strings.HasPrefix(stage, "simulated motion") {
				after++
			}
		})
		if !errors.Is(err, context.Canceled) || after > 0 {
			t.Errorf("ended in %s: %v, %d reports later", stage, err, after)
		}
	}
}
