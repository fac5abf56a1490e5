package fit

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// Misfit says how well a model explains what was measured.
type Misfit struct {
	Rows     int     `json:"rows"`
	Percent  float64 `json:"fit_percent"`            // 100·(1 − ‖e‖/‖y − mean y‖)
	Relative float64 `json:"relative_error_percent"` // 100·‖e‖/‖y‖
	RMS      float64 `json:"rms"`                    // in the unit of y
	StdDev   float64 `json:"std_dev"`                // in the unit of y, √(eᵀe/(N−p)), p fitted parameters
}

// MisfitOf measures what a model with p fitted parameters leaves over, e, of the measured y. A y that does not change has
// no Percent, a y of zeros no Relative error, no more rows than parameters no StdDev: these are 0 then.
func MisfitOf(y, e []float64, p int) Misfit {
	if len(y) == 0 {
		return Misfit{}
	}
	n := float64(len(y))
	norm, mean := math.Sqrt(inner(e, e)), stat.Mean(y, nil)
	around := 0.0
	for _, x := range y {
		around += (x - mean) * (x - mean)
	}
	f := Misfit{Rows: len(y), RMS: norm / math.Sqrt(n)}
	if len(y) > p {
		f.StdDev = norm / math.Sqrt(n-float64(p))
	}
	if around > 0 {
		f.Percent = 100 * (1 - norm/math.Sqrt(around))
	}
	if yy := inner(y, y); yy > 0 {
		f.Relative = 100 * norm / math.Sqrt(yy)
	}
	return f
}
