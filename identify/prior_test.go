package identify

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// A prior is one more observation: values, errors and correlation are those of Bayesian linear regression in closed form, from the rows
// themselves.
func TestPriorIsAnObservation(t *testing.T) {
	recs := Records{Fit: []*record.Record{wagon(t, 1e-4)}}
	plain := fitted(t, func(*Plan) {}, recs)
	s := plain.Solution()
	n, p := len(s.Residual), len(s.FreeParams)
	if !plain.Residual.White {
		t.Fatal("the residual of white noise is not white")
	}
	j := mat.NewDense(n, p, s.Jac)
	var info mat.Dense
	info.Mul(j.T(), j)
	sum := 0.0
	for _, e := range s.Residual {
		sum += e * e
	}
	info.Scale(float64(n-p)/sum, &info)
	at := fit.Index(s.Params, "M")
	row := -1
	for k, i := range s.FreeParams {
		if i == at {
			row = k
		}
	}
	m0, _ := plain.Param("M")
	for _, c := range []struct{ off, u float64 }{{1.5, 1}, {-2, 0.5}, {0.3, 5}, {2, 2}} { // in standard errors of the record
		mean, u := m0.Value+c.off**m0.Error, c.u**m0.Error
		r := fitted(t, func(p *Plan) { p.GivenParams = []Given{{Name: "M", Start: &mean, Prior: &u}} }, recs)
		// θ = (A + hhᵀ/u²)⁻¹·(A·θ₀ + h·μ/u²)
		var with, cov mat.Dense
		with.CloneFrom(&info)
		with.Set(row, row, with.At(row, row)+1/(u*u))
		if err := cov.Inverse(&with); err != nil {
			t.Fatal(err)
		}
		theta0, rhs, theta := mat.NewVecDense(p, nil), mat.NewVecDense(p, nil), mat.NewVecDense(p, nil)
		for k, i := range s.FreeParams {
			theta0.SetVec(k, s.Params[i].Value)
		}
		rhs.MulVec(&info, theta0)
		rhs.SetVec(row, rhs.AtVec(row)+mean/(u*u))
		theta.MulVec(&cov, rhs)
		for k, i := range s.FreeParams {
			q, _ := r.Param(s.Params[i].Name)
			want, err := theta.AtVec(k), math.Sqrt(cov.At(k, k))
			if fit.IsState(q.Name) {
				continue
			}
			if math.Abs(q.Value-want) > 0.01*err || math.Abs(*q.Error/err-1) > 0.01 {
				t.Errorf("prior %+g ± %g: %s %.8g ± %.3g, closed form %.8g ± %.3g", c.off, c.u, q.Name, q.Value, *q.Error, want, err)
			}
		}
		m, _ := r.Param("M")
		said := false
		for _, b := range m.Budget {
			said = said || b.Source == "prior" && b.Type == "B" && b.Standard > 0
		}
		if !said || !strings.Contains(m.IntervalSource, "prior") {
			t.Errorf("budget %v, %s", m.Budget, m.IntervalSource)
		}
	}
}

// A prior far from the record is contradicted, to either side; one that is much narrower than the record gives the value, and the word
// says so. So it is by every method.
func TestPriorsAgainstTheRecord(t *testing.T) {
	for _, methods := range []Chain{{"regress"}, {"lm"}, {"aep", "lm"}} {
		recs := Records{Fit: []*record.Record{wagon(t, 1e-5)}}
		run := func(given ...Given) *Result {
			return fitted(t, func(p *Plan) {
				p.Methods, p.GivenParams, p.Regress = methods, given, newBench(1, 1).trial().plan.Regress
				p.AEP.Members, p.AEP.Generations = 12, 10
			}, recs)
		}
		m0, _ := run().Param("M")
		half := math.Max(m0.CI[1]-m0.Value, m0.Value-m0.CI[0])
		for _, c := range []struct {
			off, u float64 // in halves of the interval of the record
			code   fit.Code
			word   string
		}{{0.5, 1, "", "identified"}, {-0.5, 1, "", "identified"}, {8, 1, fit.PriorContradicted, "weakly identified"},
			{-8, 1, fit.PriorContradicted, "weakly identified"}, {0.1, 0.05, fit.Prior, "prior"}} {
			mean, u := m0.Value+c.off*half, c.u*half
			r := run(Given{Name: "M", Start: &mean, Prior: &u})
			m, _ := r.Param("M")
			said := false
			for _, x := range r.Reasons {
				said = said || x.Code == fit.PriorContradicted
			}
			if said != (c.code == fit.PriorContradicted) || m.Worth != c.word {
				t.Errorf("%v, prior %+g ± %g: %s, %v", methods, c.off, c.u, m.Worth, r.Reasons)
			}
			between := (m.Value-m0.Value)*(mean-m.Value) > 0
			if own := math.Max(m.CI[1]-m.Value, m.Value-m.CI[0]); !between || own > math.Min(half, normal95*u)*1.001 {
				t.Errorf("%v, prior %+g ± %g: %.6g in %.6g, the record alone %.6g in %.6g", methods, c.off, c.u, m.Value, *m.CI, m0.Value, *m0.CI)
			}
		}
	}
}

// What the record does not tell at all is the prior.
func TestPriorOfWhatIsNotTold(t *testing.T) {
	mean, u := 7.0, 0.5
	r := judged(func(r *Result) {
		r.Parameters[0] = Parameter{Estimate: fit.Estimate{Name: "sigma1", Value: 3}}
		r.takePriors([]Given{{Name: "sigma1", Start: &mean, Prior: &u}})
	})
	if p := r.Parameters[0]; p.Value != 7 || p.CI == nil || math.Abs(p.CI[1]-7-1.96*0.5) > 1e-3 || p.Worth != PriorAlone || *p.Error != 0.5 {
		t.Errorf("%+v", p)
	}
}
