package ring_test

import (
	"fmt"

	"hilrig/hil/ring"
)

// One side pushes without ever waiting, the other reads when it has time; what did not fit is counted.
func Example() {
	type row struct {
		Seq uint64
		T   int64 // ns
	}
	r := ring.New[row](4)
	w := r.Writer()
	for i := range 6 {
		w.Push(&row{Seq: uint64(i + 1), T: int64(i) * 1e6})
	}
	var got row
	for rd := r.Reader(); rd.Pop(&got); {
		fmt.Printf("row %d at %d ms\n", got.Seq, got.T/1e6)
	}
	fmt.Println("dropped", r.Reader().Dropped())
	// Output:
	// row 1 at 0 ms
	// row 2 at 1 ms
	// row 3 at 2 ms
	// row 4 at 3 ms
	// dropped 2
}

// A mailbox keeps the newest value only.
func ExampleMailbox() {
	m := ring.NewMailbox[float64]()
	for _, v := range []float64{1, 2, 3} {
		m.Publish(&v)
	}
	var v float64
	fmt.Println(m.Receive(&v), v)
	fmt.Println(m.Receive(&v))
	// Output:
	// true 3
	// false
}
