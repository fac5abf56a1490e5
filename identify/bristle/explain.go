package bristle

import (
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// explainPenalty is the share of the penalty by the discrepancy rule with which a record is smoothed that no parameter is
// fitted to: where the force residual is usually least [theory §9.2].
const explainPenalty = 0.05

// Explain is the force that the parameters, the answer of any method here, leave over of another record: its motion is
// smoothed and run through the model. Nothing is fitted, so that models can be compared on the record.
func Explain(rec *record.Record, params []fit.Param, o Options) (*fit.Solution, error) {
	m, err := newModel(params)
	if err != nil {
		return nil, err
	}
	d, err := newData(rec, &o)
	if err != nil {
		return nil, err
	}
	order := o.Order
	if order == 0 {
		order = 4
	}
	sm := newSmoother(order, len(d.y))
	mo := newMotion(d, o.Hold)
	sm.run(d.y, explainPenalty*sm.discrepancy(d.y, d.noise))
	copy(mo.x, sm.x)
	mo.derive()
	mo.rows()

	p := newProjector(mo, m)
	rows := mo.last - mo.first
	s := &fit.Solution{
		Residual: make([]float64, rows), Measured: mo.u[mo.first:mo.last], Unit: m.unit[1], Quantity: m.quantity("force", "torque"), Dt: d.h,
		Input: d.u[mo.first:mo.last], Velocity: mo.v[mo.first:mo.last], Converged: true, Reason: "nothing was fitted",
	}
	s.Params, _ = m.answer(m.start)
	p.residuals(&m.start, s.Residual)
	for k := range s.Residual {
		if s.Residual[k] = -s.Residual[k]; !finite(s.Residual[k]) {
			return nil, rec.Fail(0, "Are these the parameters of this axis?", "the model does not stay finite along this motion")
		}
	}
	return s, nil
}
