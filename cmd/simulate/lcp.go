package simulate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"hilrig/cmd/report"
	"hilrig/engine/lcp"
	"hilrig/engine/numeric"
)

// LCPAnswer is what is printed; what would be infinite is null.
type LCPAnswer struct {
	Status      string    `json:"status"`
	Z           []float64 `json:"z"` // null without a solution
	W           []float64 `json:"w"`
	Residual    *float64  `json:"residual"`
	Pivots      int       `json:"pivots"`
	Method      string    `json:"method"`
	Certificate []float64 `json:"certificate,omitempty"`
	NoSolution  bool      `json:"no_solution,omitempty"`
}

// A person waits longer than a loop: up to so many unknowns, so much work (multiplications, some seconds) may go into a problem that no
// class of matrices makes easy.
const (
	extraWorkUnknowns = 120
	work              = 2e10
)

// LCP solves the problem in a file, or with "-" the one on stdin, and prints the answer as JSON.
func LCP(path string, stdin io.Reader, stdout io.Writer) error {
	in := stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return report.ExitWith(report.Invalid, err)
		}
		defer f.Close()
		in = f
	}
	var p struct {
		M [][]jsonNumber `json:"M"`
		Q []jsonNumber   `json:"q"`
	}
	dec := json.NewDecoder(in)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			err = fmt.Errorf("%s at byte %d is not what belongs there", wrong.Value, wrong.Offset)
		} else if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("it is empty, or ends before the problem does")
		}
		return report.Exitf(report.Invalid, "%s: %w; want {\"M\": [[…]], \"q\": […]}", path, err)
	}
	if dec.More() {
		return report.Exitf(report.Invalid, "%s: something follows the problem; one problem a file", path)
	}
	rows, q := make([][]float64, len(p.M)), numbers(p.Q)
	for i, row := range p.M {
		rows[i] = numbers(row)
	}
	m, err := lcp.Dense(rows, q)
	if err != nil {
		return report.Exitf(report.Invalid, "%s: %w", path, err)
	}
	n := len(q)
	s, z := lcp.NewSolver(n), make([]float64, n)
	if n <= extraWorkUnknowns {
		s.Work = work
	}
	r := s.Solve(m, q, z)
	out := LCPAnswer{Status: r.Status.String(), Pivots: r.Pivots, Method: r.Method.String(), Certificate: s.Certificate(),
		NoSolution: r.NoSolution, Residual: numeric.OrNull(r.Residual)}
	if r.Status.OK() {
		out.Z, out.W = z, make([]float64, n)
		for i := range n {
			out.W[i] = q[i]
			for j, x := range z {
				out.W[i] += m[i*n+j] * x
			}
		}
	}
	if err := report.EncodeJSON(stdout, out); err != nil {
		return err
	}
	switch r.Status {
	case lcp.Solved, lcp.Trivial:
		return nil
	case lcp.RayInfeasible:
		return report.Exitf(report.Quality, "there is no solution: the certificate proves it")
	}
	if r.NoSolution {
		return report.Exitf(report.Quality, "there is no solution: every choice of z_i = 0 or w_i = 0 contradicts the rest")
	}
	return report.Exitf(report.Quality, "no solution was found: %s", r.Status)
}

// jsonNumber is a number that has to be there: null, which encoding/json takes for zero, is what others write for NaN.
type jsonNumber float64

func (x *jsonNumber) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return errors.New("null where a number belongs")
	}
	return json.Unmarshal(text, (*float64)(x))
}

func numbers(list []jsonNumber) []float64 {
	out := make([]float64, len(list))
	for i, x := range list {
		out[i] = float64(x)
	}
	return out
}

// LCPHelp is the help of hil lcp.
const LCPHelp = `Solves z ≥ 0, w = M·z + q ≥ 0, zᵀw = 0 for the problem {"M": [[…]], "q": […]} in FILE (- for standard input) and prints
JSON: status, z, w, residual, pivots, method, and after "ray infeasible" the certificate u ≥ 0 with Mᵀu ≤ 0 and qᵀu < 0. The
residual is computed from M and q as they stand in the file. no_solution is true after "ray unknown" when a search through all
parts of the problem has shown that there is none although z ≥ 0 with w ≥ 0 may exist (up to 100 unknowns).

Exit codes: 0 solved; 3 a file that cannot be used; 6 there is no solution, or none was found.`
