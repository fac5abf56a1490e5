package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"hilrig/configs"
	"hilrig/identify/linear"
	"hilrig/identify/record"
)

// identifyFlags are what the user chose.
type identifyFlags struct {
	data, validate string
	terms          []string
	asymmetric     bool
	requireFit     float64
	json, force    bool
	out            string
}

func newIdentifyCmd() *cobra.Command {
	var f identifyFlags
	c := &cobra.Command{
		Use:   "identify FILE.yaml",
		Short: "Inertia and friction of a measured axis, with their uncertainty",
		Long: `Fits the parameters of an axis (inertia, viscous and Coulomb friction, offset …) to a recording of position and drive
force by inverse-dynamics least squares, and says how far they can be trusted. FILE.yaml names the record, its columns with
units, the terms and the filter; docs/identify.md explains every number.

Exit codes: 0 done; 2 wrong usage; 3 file or data that cannot be used; 6 the record cannot tell the parameters apart, the
fit is rejected, or it misses --require-fit.`,
		Example: `  hil identify configs/emps.yaml
  hil identify configs/emps.yaml --asymmetric --json -o emps.json
  hil identify configs/emps.yaml --data monday.csv --validate tuesday.csv.gz --require-fit 90`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if !c.Flags().Changed("terms") {
				f.terms = nil
			}
			return runIdentify(args[0], f, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.data, "data", "", "another record with the same columns, CSV or CSV.gz")
	fl.StringVar(&f.validate, "validate", "", "second record, explained by the parameters but not used to find them")
	fl.StringSliceVar(&f.terms, "terms", nil, "terms in place of those of the file, separated by commas")
	fl.BoolVar(&f.asymmetric, "asymmetric", false, "friction that depends on the direction: Fv+, Fv-, Fc+, Fc- (no offset)")
	fl.Float64Var(&f.requireFit, "require-fit", 0, "end with 6 if a fit is below this many percent")
	fl.BoolVar(&f.json, "json", false, "print the result as JSON")
	fl.StringVarP(&f.out, "output", "o", "", "also write the result to this JSON file")
	fl.BoolVar(&f.force, "force", false, "write over an existing file")
	return c
}

// identification is what is printed and stored: the result and where it came from.
type identification struct {
	Name    string `json:"name"`
	Config  string `json:"config"`
	Program string `json:"program"`
	*linear.Result
}

func runIdentify(path string, f identifyFlags, stdout, stderr io.Writer) error {
	if math.IsNaN(f.requireFit) || f.requireFit < 0 || f.requireFit > 100 {
		return exitWith(exitUsage, fmt.Errorf("identify: --require-fit %g, want 0 to 100 percent", f.requireFit))
	}
	if f.out != "" && !f.force {
		if _, err := os.Lstat(f.out); err == nil {
			return exitWith(exitUsage, fmt.Errorf("identify: %s exists; --force writes over it", f.out))
		}
	}
	cfg, err := configs.LoadIdentify(path)
	if err != nil {
		printProblems(stderr, "hil: ", err)
		return exitWith(exitInvalid, nil)
	}
	f.over(cfg)
	spec, err := f.spec(cfg)
	if err != nil {
		return exitWith(exitUsage, err)
	}

	data, err := readRecord(cfg.Data.File, cfg)
	if err != nil {
		return exitWith(exitInvalid, err)
	}
	res, err := linear.InverseDynamics(data, spec)
	if err != nil {
		return f.refuse(path, err, stdout)
	}
	if cfg.Validate != "" {
		second, err := readRecord(cfg.Validate, cfg)
		if err == nil {
			err = res.Validate(second)
		}
		if err != nil {
			return exitWith(exitInvalid, fmt.Errorf("validation: %w", err))
		}
	}

	result := identification{Name: cfg.Name, Config: path, Program: programVersion(), Result: res}
	if f.out != "" {
		if err := writeResult(f.out, result); err != nil {
			return exitWith(exitUnavailable, err)
		}
	}
	if f.json {
		if err := encodeJSON(stdout, result); err != nil {
			return err
		}
	} else {
		printIdentification(stdout, result)
		for _, w := range res.Warnings {
			fmt.Fprintf(stderr, "warning: %s\n", w)
		}
		fmt.Fprintf(stdout, "\nnext: %s\n", nextIdentify(path, f, data, result))
	}
	return gate(res, cfg.RequireFit)
}

// over puts the flags over the file.
func (f *identifyFlags) over(cfg *configs.Identify) {
	if f.data != "" {
		cfg.Data.File = f.data
	}
	if f.validate != "" {
		cfg.Validate = f.validate
	}
	if f.terms != nil {
		cfg.Terms = f.terms
	}
	if f.requireFit > 0 {
		cfg.RequireFit = f.requireFit
	}
}

// spec translates the file for the fit.
func (f *identifyFlags) spec(cfg *configs.Identify) (linear.Spec, error) {
	s := linear.Spec{
		Rotary: cfg.Axis == "rotary", Order: cfg.Filter.Order, Cutoff: cfg.Filter.Cutoff,
		Decimate: cfg.Decimate, Trim: cfg.Trim, MinVelocity: cfg.MinVelocity,
	}
	for _, t := range cfg.Terms {
		s.Terms = append(s.Terms, linear.Term(t))
	}
	if f.asymmetric {
		split, changed := s.Asymmetric()
		if !changed {
			return s, fmt.Errorf("identify: --asymmetric: the terms %v hold neither viscous nor coulomb, there is nothing to split", cfg.Terms)
		}
		s = split
	}
	return s, nil
}

// readRecord reads a record with the columns of the file.
func readRecord(path string, cfg *configs.Identify) (*record.Record, error) {
	position, force := "m", "N"
	if cfg.Axis == "rotary" {
		position, force = "rad", "N·m"
	}
	m := record.Mapping{Rate: cfg.Data.Rate, DecimalComma: cfg.Data.Decimal == "comma", SameUnit: sameUnit}
	m.Separator = map[string]rune{"comma": ',', "semicolon": ';', "tab": '\t'}[cfg.Data.Separator] // auto: 0
	cols := cfg.Data.Columns
	for _, c := range []struct {
		from configs.IdentifyColumn
		to   *record.Column
		si   string
	}{{cols.Time, &m.Time, "s"}, {cols.Position, &m.Position, position}, {cols.Force, &m.Force, force}} {
		if c.from.Name == "" {
			continue // no time column
		}
		scale, err := c.from.Scale(c.si)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", c.from.Name, err)
		}
		*c.to = record.Column{Name: c.from.Name, Unit: c.from.Unit, Scale: scale}
	}
	return record.ReadCSV(path, m)
}

// sameUnit compares units by meaning, so that "Nm" and "N·m" are equal. A unit that cannot be read is left to the user.
func sameUnit(a, b string) bool {
	u, errA := configs.ParseUnit(a)
	v, errB := configs.ParseUnit(b)
	if errA != nil || errB != nil {
		return true
	}
	return u.Dim == v.Dim && math.Abs(u.Factor-v.Factor) <= 1e-12*math.Abs(v.Factor)
}

// refuse ends without a result. A refusal by the data is also said as JSON where JSON was asked for.
func (f *identifyFlags) refuse(path string, err error, stdout io.Writer) error {
	var u *linear.Unidentifiable
	var s *linear.SpecError
	switch {
	case errors.As(err, &u):
		if f.json {
			if err := encodeJSON(stdout, refusal(u)); err != nil {
				return err
			}
		}
		return exitWith(exitQuality, fmt.Errorf("%s: %w", path, err))
	case errors.As(err, &s) && f.terms != nil:
		return exitWith(exitUsage, fmt.Errorf("identify: %w", err))
	case errors.As(err, &s):
		return exitWith(exitInvalid, fmt.Errorf("%s: %w", path, err))
	}
	return exitWith(exitInvalid, err)
}

// refusal is the JSON of a refusal: reasons, and no parameters.
func refusal(u *linear.Unidentifiable) any {
	type combination struct {
		Terms   []linear.Term `json:"terms"`
		Weights []float64     `json:"weights"`
		Text    string        `json:"text"`
		Advice  string        `json:"advice"`
	}
	out := struct {
		Verdict      string        `json:"verdict"`
		Condition    *float64      `json:"condition_scaled"` // null: infinite
		Limit        float64       `json:"condition_limit"`
		Combinations []combination `json:"combinations"`
	}{Verdict: "not identifiable", Limit: u.Limit}
	if !math.IsInf(u.Condition, 0) {
		out.Condition = &u.Condition
	}
	for _, c := range u.Combinations {
		out.Combinations = append(out.Combinations, combination{c.Terms, c.Weights, c.String(), c.Advice})
	}
	return out
}

// gate turns a result that is not good enough into exit code 6. The numbers were printed before.
func gate(r *linear.Result, want float64) error {
	fits := []float64{r.Fit.Percent}
	if r.Validation != nil {
		fits = append(fits, r.Validation.Fit.Percent)
	}
	switch worst := slices.Min(fits); {
	case r.Verdict == linear.Rejected:
		return exitWith(exitQuality, fmt.Errorf("rejected: %s", r.Reasons[0]))
	case worst < want:
		return exitWith(exitQuality, fmt.Errorf("fit %.2f %% is below the %g %% that are required", worst, want))
	}
	return nil
}

// writeResult writes the result as JSON.
func writeResult(path string, v any) error {
	if err := writeWhole(path, true, func(w io.Writer) error { return encodeJSON(w, v) }); err != nil {
		return fmt.Errorf("identify: %w", err)
	}
	return nil
}
