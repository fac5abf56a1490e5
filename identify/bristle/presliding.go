package bristle

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"hilrig/engine"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// Presliding fits motion that never breaks loose, [MOGI] (6.48) and (6.49) with g = Fs,
//
//	u = M·d²x/dt² + σ1·dz/dt + σ2·dx/dt + σ0·z + offset,
//
// by the prediction error of the same filter as Kalman, whose likelihood is exact where the model is linear: no data are
// differentiated, and noise of position and force bias nothing. The bristles are taken as relaxed at the first sample; a load
// that they carry there is counted as offset. If Fs is given as a fixed parameter, they bend with it, and with the whole curve
// g(v) if Fc and vs are fixed too. Otherwise z = x, which is right as long as the path of the whole record, not only its reach,
// stays well below Fs/σ0: bristles creep a little at every turn and forget where they were.
//
// σ1 and σ2 act alike here. sigma2 is taken as it is given, sigma1 is what remains; if sigma2 is free, both are refused and
// only their sum has a meaning. Extra is that of Kalman.
func Presliding(ctx context.Context, recs []*record.Record, params []fit.Param, o Options, watch fit.Watch) (*fit.Solution, error) {
	inner, asked, bends := withinReach(recs, params)
	s1, s2 := fit.Index(params, "sigma1"), fit.Index(params, "sigma2")
	both := s1 >= 0 && s2 >= 0 && !params[s1].Fixed && !params[s2].Fixed
	if both {
		inner[s2].Fixed = true
	}
	m, err := newModel(inner)
	if err != nil {
		return nil, err
	}
	m.presliding = true
	s, err := m.track(ctx, recs, o, watch)
	if err != nil {
		return nil, err
	}
	for i := range params { // levels out of reach are no answer
		if !inner[i].Fixed {
			params[i].Value = s.Params[i].Value
		}
	}
	s.Params = params
	for _, name := range asked {
		s.Unidentifiable = append(s.Unidentifiable, fit.Indistinct{Names: []string{name}, Reason: "the contact does not slide in presliding",
			Advice: "fix it here, and find it where the axis slides"})
	}
	if both {
		s.Unidentifiable = append(s.Unidentifiable, fit.Indistinct{
			Names: []string{"sigma1", "sigma2"}, Weights: []float64{1, -1},
			Reason: fmt.Sprintf("in presliding both damp alike: only their sum, %.4g, is known; sigma2 was left at its start",
				params[s1].Value+params[s2].Value),
			Advice: "take sigma2 from sliding at constant speeds and fix it here",
		})
	}
	s.Notes = append(s.Notes, "The bristles were taken as relaxed at the first sample: a load that they carried there is in the offset.")
	if !bends && ctx.Err() == nil {
		m.tryBent(ctx, recs, inner, s, o, watch)
	}
	return s, nil
}

// withinReach are the parameters of a model that does not slide: levels that are not given are out of reach. asked are those of them that
// were to be searched; bends says that the bristles bend, with a break-away force that is given.
func withinReach(recs []*record.Record, params []fit.Param) (inner []fit.Param, asked []string, bends bool) {
	most := 0.0
	for _, rec := range recs {
		most = max(most, floats.Norm(rec.Force, math.Inf(1)))
	}
	given := func(name string) (at int, known bool) {
		at = fit.Index(params, name)
		return at, at >= 0 && params[at].Fixed && params[at].Value > 0
	}
	inner = slices.Clone(params)
	level := 1e6 * most
	fs, bends := given("Fs")
	if bends {
		level = params[fs].Value
	}
	_, knowsFc := given("Fc")
	_, knowsVs := given("vs")
	for _, name := range []string{"Fs", "Fc", "vs"} {
		at, known := given(name)
		if at >= 0 && !params[at].Fixed {
			asked = append(asked, name)
		}
		if known && bends && (name == "Fs" || knowsFc && knowsVs) {
			continue
		}
		p := fit.Param{Param: engine.Param{Name: name, Value: level, Fixed: true, Hi: math.Inf(1)}}
		if name == "vs" {
			p.Value = 1
		}
		if at < 0 {
			inner = append(inner, p)
		} else {
			inner[at] = p
		}
	}
	return inner, asked, bends
}

// tryBent asks of a solution whose bristles are a linear spring, which inner was made for, whether one that gives way explains more.
func (m *model) tryBent(ctx context.Context, recs []*record.Record, inner []fit.Param, s *fit.Solution, o Options, watch fit.Watch) {
	path, k := s.Extra["path"].(float64), s.Params[m.places[sigma0]].Value
	s.Notes = append(s.Notes, fmt.Sprintf("The bristles were taken as a linear spring. The motion adds up to %.3g %s, which would bend them "+
		"by %.3g %s: if that is more than a few per cent of the break-away force, give Fs as a fixed value.", path, m.unit[0], k*path, m.unit[1]))
	for i, p := range s.Params {
		inner[i].Value = p.Value
	}
	for i := range inner {
		switch inner[i].Name {
		case "Fs":
			inner[i] = fit.Param{Param: engine.Param{Name: "Fs", Value: 3 * k * path, Lo: 1e-3 * k * path, Hi: 1e3 * k * path}, Log: true}
		case "Fc":
			inner[i].Value = k * path
		case "vs":
			inner[i].Value = 1e6 // g is Fs
		}
	}
	soft, err := newModel(inner)
	if err != nil {
		return
	}
	soft.presliding, o.WarmStart = true, true
	if b, err := soft.track(ctx, recs, o, watch); err == nil && b.Extra["deviance"].(float64) < s.Extra["deviance"].(float64)-bent {
		s.Doubts = append(s.Doubts, fmt.Sprintf("the bristles do not act as the linear spring they were taken for: with a break-away force of "+
			"about %.2g %s they explain the motion much better; give Fs as a fixed value", b.Params[soft.places[breakout]].Value, m.unit[1]))
	}
}

// bent is the gain of −2·ln L by a break-away force from which on the bristles are no linear spring.
const bent = 8
