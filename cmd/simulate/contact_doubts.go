package simulate

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"hilrig/cmd/report"
	"hilrig/engine/contact"
)

// errNotFinite is a step without a result.
var errNotFinite = errors.New("the step has no finite result; a shorter engine.step may have one")

// doubts says why the result of a run is not to be trusted: what the engine counted and could not mend.
func (s *contactRun) doubts() (out []string) {
	n := s.counts()
	if k := n["unverified_steps"]; k > 0 && !s.confirmed {
		out = append(out, fmt.Sprintf("the contact forces of %.0f of %.0f steps are not verified, %.0f of them because no forces exist that "+
			"fit the laws of all contacts; "+
			"a shorter engine.step, less friction or less unequal masses may help", k, n["steps"], n["steps_without_solution"]))
	}
	if k := n["contacts_left_out"]; k > 0 {
		out = append(out, fmt.Sprintf("%.0f contacts found no room and were left out", k))
	}
	if k := n["energy_gained"]; k > 0.01*n["energy_exchanged"] && s.cfg.System != "brush" {
		out = append(out, fmt.Sprintf("contacts made %.3g J of energy, %.3g %% of what they exchanged with the bodies (energy_gained); "+
			"engine.positions: true does not, nor does engine.kind: event-driven", k, 100*k/n["energy_exchanged"]))
	}
	if s.longStepText != "" {
		out = append(out, s.longStepText)
	}
	return out
}

// addedRestitution is by how much impacts act as if every eps_n were larger, because depth is taken back by a velocity.
func (s *contactRun) addedRestitution() float64 {
	if e := &s.cfg.Engine; e.Kind == "fixed-step" && !*e.Positions && !e.EndOfStep {
		return e.Beta / 2
	}
	return 0
}

// counts are the counters of the engine by name.
func (s *contactRun) counts() map[string]float64 {
	n := map[string]float64{}
	for _, m := range s.solver {
		n[m.Name] = m.Value
	}
	return n
}

// notes says what was counted and need not be wrong.
func (s *contactRun) notes() (out []string) {
	n := s.counts()
	if k := n["bridges"]; k > 0 {
		out = append(out, fmt.Sprintf("%.0f times events came too fast or could not be settled: fixed steps of %g s led on, %.3g s in all", k,
			bridgeStep, n["bridged_time"]))
	}
	if s.differs != "" {
		out = append(out, fmt.Sprintf("of %.0f steps with blows %.0f come about a step apart or have several; "+
			"in %.0f of them separate blows were settled as one impact, %.0f found a support open, "+
			"contacts opened for a step %.0f times. What they do is in doubt: %s", n["blows"],
			n["crowded_blows"], n["merged_impacts"], n["unsupported_blows"], n["flickering_contacts"], s.differs))
	}
	if s.coarseStepText != "" {
		out = append(out, s.coarseStepText)
	}
	if added := s.addedRestitution(); added > 0 && !strings.HasPrefix(s.cfg.System, "brush") {
		out = append(out, fmt.Sprintf("engine.positions: false takes penetration back by velocities: impacts act as if every eps_n were "+
			"larger by "+
			"about %.2g, half of engine.beta; engine.positions: true and engine.kind: event-driven do not", added))
	}
	return out
}

// endError is the error of a run that could not go on, with its exit code and what may help.
func (s *contactRun) endError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	code, at := report.Internal, (*contact.EventError)(nil)
	switch {
	case errors.Is(err, errUnresolved):
		code = report.Invalid
	case errors.Is(err, contact.ErrPenetration) && errors.As(err, &at) && at.T == 0:
		code = report.Invalid
	case errors.Is(err, contact.ErrMaxEvents):
		code, err = report.Quality, fmt.Errorf("%w (engine.max_events); engine.kind: fixed-step does not count them", err)
	case errors.As(err, &at):
		code, err = report.Quality, fmt.Errorf("%w; engine.kind: fixed-step may get through", err)
	case errors.Is(err, errNotFinite):
		code = report.Quality
	}
	return report.ExitWith(code, fmt.Errorf("simulate: %w", err))
}
