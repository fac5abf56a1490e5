package main

import (
	"github.com/spf13/cobra"

	"hilrig/cmd/simulate"
)

func newLCPCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "lcp FILE.json",
		Short: "Solve a linear complementarity problem",
		Long: `Solves z ≥ 0, w = M·z + q ≥ 0, zᵀw = 0 for the problem {"M": [[…]], "q": […]} in FILE (- for standard input) and prints
JSON: status, z, w, residual, pivots, method, and after "ray infeasible" the certificate u ≥ 0 with Mᵀu ≤ 0 and qᵀu < 0. The
residual is computed from M and q as they stand in the file. no_solution is true after "ray unknown" when a search through all
parts of the problem has shown that there is none although z ≥ 0 with w ≥ 0 may exist (up to 100 unknowns).

Exit codes: 0 solved; 3 a file that cannot be used; 6 there is no solution, or none was found.`,
		Example: `  echo '{"M": [[2, 1], [1, 2]], "q": [-5, -6]}' | hil lcp -`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return simulate.LCP(args[0], c.InOrStdin(), c.OutOrStdout())
		},
	}
}
