package bristle

import (
	"hilrig/engine/numeric"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// explainPenalty is the share of the penalty by the discrepancy rule with which a record is smoothed that no parameter is
// fitted to: where the force residual is usually least [theory §9.2].
const explainPenalty = 0.05

// Explain is the force that the parameters, the answer of any method here, leave over of other records: their motion is
// smoothed and run through the model. Nothing is fitted, so that models can be compared on the records.
func Explain(recs []*record.Record, params []fit.Param, o Options) (*fit.Solution, error) {
	m, err := newModel(params)
	if err != nil {
		return nil, err
	}
	d, err := newData(recs, &o)
	if err != nil {
		return nil, err
	}
	sm, mo := newSmoother(4, len(d.y)), newMotion(d, o.Hold)
	sm.all(d, d.y, explainPenalty*sm.discrepancy(d, d.y, d.noise, mo.x), mo.x)
	mo.derive()
	mo.choose(d.reach)
	s := m.force(d, mo, &m.start)
	s.Free = nil
	if !numeric.AllFinite(s.Residual...) {
		return nil, recs[0].Fail(0, "Are these the parameters of this axis?", "the model does not stay finite along this motion")
	}
	return s, nil
}
