package fit

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Statistical reference data sets of NIST for nonlinear regression (public domain): certified estimates, standard deviations
// of the estimates and residual sums of squares, from both starts that NIST gives. Without bounds the far starts of MGH10 and
// MGH17 lead to parameters without any effect, from which no descent returns; TestMultiStartFindsFarMinima has these.
var nist = []struct {
	name   string
	x, y   []float64
	f      func(x float64, b []float64) float64
	starts [][]float64
	b, sd  []float64
	sum    float64
}{
	{
		"Misra1a",
		[]float64{77.6, 114.9, 141.1, 190.8, 239.9, 289, 332.8, 378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760},
		[]float64{10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02, 44.82, 50.76, 55.05, 61.01, 66.40, 75.47, 81.78},
		func(x float64, b []float64) float64 { return b[0] * (1 - math.Exp(-b[1]*x)) },
		[][]float64{{500, 1e-4}, {250, 5e-4}},
		[]float64{2.3894212918e+02, 5.5015643181e-04}, []float64{2.7070075241, 7.2668688436e-06}, 1.2455138894e-01,
	},
	{
		"BoxBOD",
		[]float64{1, 2, 3, 5, 7, 10}, []float64{109, 149, 149, 191, 213, 224},
		func(x float64, b []float64) float64 { return b[0] * (1 - math.Exp(-b[1]*x)) },
		[][]float64{{1, 1}, {100, 0.75}},
		[]float64{2.1380940889e+02, 5.4723748542e-01}, []float64{1.2354515176e+01, 1.0455993237e-01}, 1.1680088766e+03,
	},
	{
		"MGH09",
		[]float64{4, 2, 1, .5, .25, .167, .125, .1, .0833, .0714, .0625},
		[]float64{.1957, .1947, .1735, .16, .0844, .0627, .0456, .0342, .0323, .0235, .0246},
		func(x float64, b []float64) float64 { return b[0] * (x*x + x*b[1]) / (x*x + x*b[2] + b[3]) },
		[][]float64{{25, 39, 41.5, 39}, {.25, .39, .415, .39}},
		[]float64{1.9280693458e-01, 1.9128232873e-01, 1.2305650693e-01, 1.3606233068e-01},
		[]float64{1.1435312227e-02, 1.9633220911e-01, 8.0842031232e-02, 9.0025542308e-02}, 3.0750560385e-04,
	},
	{
		"MGH10",
		[]float64{50, 55, 60, 65, 70, 75, 80, 85, 90, 95, 100, 105, 110, 115, 120, 125},
		[]float64{34780, 28610, 23650, 19630, 16370, 13720, 11540, 9744, 8261, 7030, 6005, 5147, 4427, 3820, 3307, 2872},
		func(x float64, b []float64) float64 { return b[0] * math.Exp(b[1]/(x+b[2])) },
		[][]float64{{.02, 4000, 250}},
		[]float64{5.6096364710e-03, 6.1813463463e+03, 3.4522363462e+02},
		[]float64{1.5687892471e-04, 2.3309021107e+01, 7.8486103508e-01}, 8.7945855171e+01,
	},
	{
		"MGH17",
		[]float64{0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120, 130, 140, 150, 160, 170, 180, 190, 200, 210, 220, 230, 240,
			250, 260, 270, 280, 290, 300, 310, 320},
		[]float64{.844, .908, .932, .936, .925, .908, .881, .850, .818, .784, .751, .718, .685, .658, .628, .603, .580, .558, .538,
			.522, .506, .490, .478, .467, .457, .448, .438, .431, .424, .420, .414, .411, .406},
		func(x float64, b []float64) float64 { return b[0] + b[1]*math.Exp(-x*b[3]) + b[2]*math.Exp(-x*b[4]) },
		[][]float64{{.5, 1.5, -1, .01, .02}},
		[]float64{3.7541005211e-01, 1.9358469127, -1.4646871366, 1.2867534640e-02, 2.2122699662e-02},
		[]float64{2.0723153551e-03, 2.2031669222e-01, 2.2175707739e-01, 4.4861358114e-04, 8.9471996575e-04}, 5.4648946975e-05,
	},
	{
		"Thurber",
		[]float64{-3.067, -2.981, -2.921, -2.912, -2.840, -2.797, -2.702, -2.699, -2.633, -2.481, -2.363, -2.322, -1.501, -1.460,
			-1.274, -1.212, -1.100, -1.046, -0.915, -0.714, -0.566, -0.545, -0.400, -0.309, -0.109, -0.103, 0.010, 0.119, 0.377,
			0.790, 0.963, 1.006, 1.115, 1.572, 1.841, 2.047, 2.200},
		[]float64{80.574, 84.248, 87.264, 87.195, 89.076, 89.608, 89.868, 90.101, 92.405, 95.854, 100.696, 101.060, 401.672, 390.724,
			567.534, 635.316, 733.054, 759.087, 894.206, 990.785, 1090.109, 1080.914, 1122.643, 1178.351, 1260.531, 1273.514,
			1288.339, 1327.543, 1353.863, 1414.509, 1425.208, 1421.384, 1442.962, 1464.350, 1468.705, 1447.894, 1457.628},
		func(x float64, b []float64) float64 {
			return (b[0] + x*(b[1]+x*(b[2]+x*b[3]))) / (1 + x*(b[4]+x*(b[5]+x*b[6])))
		},
		[][]float64{{1000, 1000, 400, 40, .7, .3, .03}, {1300, 1500, 500, 75, 1, .4, .05}},
		[]float64{1.2881396800e+03, 1.4910792535e+03, 5.8323836877e+02, 7.5416644291e+01, 9.6629502864e-01, 3.9797285797e-01, 4.9727297349e-02},
		[]float64{4.6647963344, 3.9571156086e+01, 2.8698696102e+01, 5.5675370270, 3.1333340687e-02, 1.4984928198e-02, 6.5842344623e-03},
		5.6427082397e+03,
	},
}

// nistProblem is a set by its name, without bounds from the last start if no parameters are given.
func nistProblem(name string, params ...Param) *Problem {
	for _, c := range nist {
		if c.name == name {
			if params == nil {
				params = unbounded(c.starts[len(c.starts)-1]...)
			}
			return problem(len(c.x), func(b, r []float64) {
				for k, x := range c.x {
					r[k] = c.f(x, b) - c.y[k]
				}
			}, params...)
		}
	}
	panic("no set " + name)
}

func TestCertifiedEstimatesAndDeviations(t *testing.T) {
	for _, c := range nist {
		for i, start := range c.starts {
			p := nistProblem(c.name, unbounded(start...)...)
			s, err := LM{MaxIterations: 2000}.Fit(context.Background(), p, nil)
			if err != nil {
				t.Errorf("%s from start %d: %v", c.name, i+1, err)
				continue
			}
			sd := deviations(s)
			worst, worstSD := 0.0, 0.0
			for j := range c.b {
				worst = max(worst, math.Abs(s.Params[j].Value-c.b[j])/c.sd[j])
				worstSD = max(worstSD, math.Abs(sd[j]/c.sd[j]-1))
			}
			t.Logf("%-8s start %d: %4d steps, %5d evaluations, off by %.1e standard deviations, these by %.1e; %s", c.name, i+1, s.Iterations,
				s.Evaluations, worst, worstSD, s.Reason)
			if worst > 1e-3 || worstSD > 1e-4 || math.Abs(2*s.Cost/c.sum-1) > 1e-8 {
				t.Errorf("%s from start %d: %.9g, deviations %.6g, sum of squares %.11g; certified %.9g, %.6g, %.11g (%s)", c.name, i+1,
					Values(s.Params), sd, 2*s.Cost, c.b, c.sd, c.sum, s.Reason)
			}
		}
	}
}

// covarianceByQR is s²·(JᵀJ)⁻¹, by gonum's QR of the Jacobian; zeros if that is singular.
func covarianceByQR(s *Solution) []float64 {
	n, p := len(s.Residual), len(s.FreeParams)
	var qr mat.QR
	qr.Factorize(mat.NewDense(n, p, s.Jac))
	var r, in, c mat.Dense
	qr.RTo(&r)
	if err := in.Inverse(r.Slice(0, p, 0, p)); err != nil {
		return make([]float64, p*p)
	}
	c.Mul(&in, in.T())
	c.Scale(floats.Dot(s.Residual, s.Residual)/float64(n-p), &c)
	return c.RawMatrix().Data
}

func deviations(s *Solution) []float64 {
	c, sd := covarianceByQR(s), make([]float64, len(s.FreeParams))
	for j := range sd {
		sd[j] = math.Sqrt(c[j*len(sd)+j])
	}
	return sd
}
