package population_test

import (
	"fmt"
	"math"

	"hilrig/engine/population"
)

// Which of three contacts moved like this? Every member is simulated over the whole record; the least cost tells.
func Example() {
	t := population.Trace{Dt: 1e-3, U: make([]float64, 2000)}
	for k := range t.U {
		t.U[k] = 2 * math.Sin(2*math.Pi*1e-3*float64(k))
	}
	//                     M  sigma0 sigma1 sigma2 Fc   Fs   vs  offset
	members := [][]float64{
		{1, 1e4, 60, 0.5, 0.8, 1.2, 0.02, 0},
		{1, 1e4, 60, 0.5, 1.0, 1.5, 0.02, 0},
		{1, 1e4, 60, 0.5, 1.2, 1.8, 0.02, 0},
	}

	// without measured data the residuals are the output: the record is that of the second
	model, err := population.New(t)
	if err != nil {
		panic(err)
	}
	t.Y = make([]float64, len(t.U))
	model.Residuals(members[1:2], [][]float64{t.Y})

	kernel, err := population.New(t)
	if err != nil {
		panic(err)
	}
	cost := make([]float64, len(members))
	kernel.Costs(members, nil, cost)
	for i, c := range cost {
		fmt.Printf("Fc = %.1f N: rms %.3f m/s\n", members[i][4], math.Sqrt(c/float64(kernel.Rows())))
	}
	// Output:
	// Fc = 0.8 N: rms 0.047 m/s
	// Fc = 1.0 N: rms 0.000 m/s
	// Fc = 1.2 N: rms 0.069 m/s
}
