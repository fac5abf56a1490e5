package beam_test

import (
	"fmt"

	"hilrig/engine/beam"
)

// The beam of the source under a weight of 1 N at a third of its length.
func Example() {
	b, err := beam.New(beam.Paper())
	if err != nil {
		fmt.Println(err)
		return
	}
	at, err := b.At(1.0 / 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	q := make([]float64, b.N)
	at.Add(-1, q)
	if err := b.Static(q); err != nil {
		fmt.Println(err)
		return
	}
	f, _ := b.Frequencies()
	fmt.Printf("%.3f mm under the weight, first frequency %.4f Hz\n", 1e3*at.Of(&at.N, q), f[0])
	// Output: -1.740 mm under the weight, first frequency 2.3803 Hz
}
