package schema_test

import (
	"fmt"

	"hilrig/configs/schema"
)

func ExampleParseUnit() {
	for _, text := range []string{"mN·m/A", "rpm", "g·cm²", "N·m/rad·s"} {
		u, err := schema.ParseUnit(text)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Printf("1 %s = %.4g %s\n", text, u.ToSI(1), u.SI)
	}
	// Output:
	// 1 mN·m/A = 0.001 N·m/A
	// 1 rpm = 0.1047 rad/s
	// 1 g·cm² = 1e-07 kg·m²
	// unit "N·m/rad·s": ambiguous: a product after a division; use brackets, as in N·m/(rad·s)
}
