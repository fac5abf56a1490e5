package identify

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/engine/multibody"
	"hilrig/hil/sink"
	"hilrig/identify"
	"hilrig/identify/machine"
	"hilrig/identify/record"
)

// runMachine identifies a machine from positions and torques of its joints.
func runMachine(ctx context.Context, path string, f Options, stdout, stderr io.Writer) error {
	if err := f.refuseForMachine("a machine", path, "records, terms and filter"); err != nil {
		return err
	}
	cfg, err := f.loadMachine(path, stderr)
	if err != nil {
		return err
	}
	return f.answer(ctx, path, stdout, stderr, func(ctx context.Context, bar *report.Progress) (*answer, error) {
		res, mach, found, theta, err := fitMachine(ctx, cfg, bar)
		if err != nil {
			return nil, err
		}
		return &answer{
			Identification: Identification{Name: cfg.Name, Result: res, Machine: mach}, rotary: true, requireFit: cfg.RequireFit,
			printBefore: func(w io.Writer) { printMachine(w, mach) }, printAfter: func(w io.Writer) { printHandover(w, mach) },
			nextStep: func() string { return f.afterMachine(res, "docs/reference/identify-machine.md") },
			machine: &machineFile{path: cfg.Machine, records: cfg.Data.Files(),
				identified: func() ([]byte, []string, error) { return cfg.Identified(found.Base, found.Model, theta) },
				note:       "Parameters that the records do not tell are those of that file, or nearest to them."},
		}, nil
	})
}

// fitMachine is the fit of a file. theta are the parameters as they are written.
func fitMachine(ctx context.Context, cfg *configs.MachineFit, bar *report.Progress) (res *identify.Result, mach *identify.Machine,
	found *machine.Result, theta []float64, err error) {
	m, coulomb, err := cfg.Model()
	if err != nil {
		return nil, nil, nil, nil, err
	}
	recs, findings, err := readMachine(ctx, cfg, m, cfg.Data.Files(), false, bar)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	var checks identify.MachineChecks
	if len(cfg.Validate) > 0 {
		if checks.Records, checks.Findings, err = readMachine(ctx, cfg, m, cfg.Validate, true, bar); err != nil {
			return nil, nil, nil, nil, fmt.Errorf("validation: %w", err)
		}
	}
	if found, err = machine.Fit(ctx, m, cfg.Spec(m), recs, coulomb, progressWatch(bar)); err != nil {
		return nil, nil, nil, nil, err
	}
	var info []record.Info
	for _, r := range recs {
		info = append(info, r[0].Info())
	}
	res, mach, theta, err = identify.OfMachine(found, info, findings, checks)
	return res, mach, found, theta, err
}

// loadMachine is the file of a fit, or that of the mechanism of a recording.
func (f *Options) loadMachine(path string, stderr io.Writer) (*configs.MachineFit, error) {
	if f.machine {
		cfg, err := planMechanism(path)
		if err != nil {
			return nil, report.ExitWith(report.Invalid, err)
		}
		return cfg, nil
	}
	cfg, warnings, err := configs.LoadMachineFit(path)
	if err != nil {
		return nil, report.Refuse(stderr, err)
	}
	report.PrintWarnings(stderr, warnings)
	return cfg, nil
}

// readMachine reads the joints of all files, and checks each joint in all of them. A piece of a file is a recording.
func readMachine(ctx context.Context, cfg *configs.MachineFit, m *multibody.Model, files []string, whole bool,
	bar *report.Progress) ([]machine.Recording, []record.Finding, error) {
	var recs []machine.Recording
	var names []string
	for i := range m.NV() {
		names = append(names, "joint "+machine.JointName(m, i))
	}
	for _, file := range files {
		shared, err := readTogether(file, names, 0, func(i int) ([]*record.Record, error) {
			one := cfg.Section(machine.JointName(m, i), whole)
			return readRecord(ctx, file, one, &one.Data, bar)
		})
		if err != nil {
			return nil, nil, err
		}
		recs = append(recs, shared...)
	}
	var findings []record.Finding
	for i := range m.NV() {
		name := machine.JointName(m, i)
		var pieces []*record.Record
		for _, r := range recs {
			pieces = append(pieces, r[i])
		}
		for _, f := range record.Check(pieces, record.CheckOptions{Rotary: cfg.Rotary(name), Coupled: true}) {
			f.Text, f.Channel = "joint "+name+": "+f.Text, strings.TrimSpace(name+" "+f.Channel)
			findings = append(findings, f)
		}
		if cfg.Joint(name).Passive {
			for _, p := range pieces {
				p.Force = make([]float64, len(p.Position))
			}
		}
	}
	return recs, findings, nil
}

// readTogether reads series of one file, each by itself. A piece of the file is a recording of all; those of a recording of this program
// are brought to one grid. The first ones, as many as held, stay from sample to sample.
func readTogether(file string, names []string, held int, read func(i int) ([]*record.Record, error)) (recs []machine.Recording, err error) {
	_, isRun := sink.FindRun(file)
	each := make([][]*record.Record, len(names))
	for i, name := range names {
		if each[i], err = read(i); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if n := len(each[0]); len(each[i]) != n && !isRun {
			return nil, &record.Error{File: file, Msg: fmt.Sprintf("%d pieces with %s and %d with %s", n, names[0], len(each[i]), name),
				Hint: "Read all of them from the same rows."}
		}
	}
	if isRun {
		if recs = align(each, held); recs == nil {
			return nil, &record.Error{File: file, Msg: strings.Join(names, ", ") + " have no time in common without gaps"}
		}
		return recs, nil
	}
	for k := range each[0] {
		var rec machine.Recording
		for i := range each {
			rec = append(rec, each[i][k])
		}
		commonTime(rec)
		recs = append(recs, rec)
	}
	return recs, nil
}

// commonTime cuts the joints of a recording to the samples that all of them have: a delay takes some at one end.
func commonTime(rec machine.Recording) {
	from, to := math.Inf(-1), math.Inf(1)
	for _, p := range rec {
		from, to = max(from, p.Start), min(to, p.Start+float64(p.Len()-1)*p.Dt)
	}
	for i, p := range rec {
		lo := int(math.Round((from - p.Start) / p.Dt))
		hi := int(math.Round((to-p.Start)/p.Dt)) + 1
		if lo <= 0 && hi >= p.Len() || lo >= hi {
			continue
		}
		c := *p
		for _, x := range []*[]float64{&c.Position, &c.Velocity, &c.Force, &c.Reference} {
			if len(*x) == p.Len() {
				*x = (*x)[lo:hi]
			}
		}
		c.Start += float64(lo) * c.Dt
		rec[i] = &c
	}
}

// printMachine writes what each base parameter is made of, and how each joint is explained.
func printMachine(w io.Writer, m *identify.Machine) {
	t := tabwriter.NewWriter(w, 0, 8, 3, ' ', 0)
	fmt.Fprintf(w, "%d base parameters; these are sums of parameters of bodies and joints:\n", len(m.Base))
	for _, b := range m.Base {
		if len(b.Shares) > 1 {
			fmt.Fprintf(t, "  %s\t= %s\n", b.Name, b.Sum)
		}
	}
	t.Flush()
	if len(m.Unseen) > 0 {
		fmt.Fprintf(w, "no torque of this machine feels %s\n", strings.Join(m.Unseen, ", "))
	}
	fmt.Fprintln(w)
}

// printHandover writes how each joint is explained, and the parameters that go into the file of the machine.
func printHandover(w io.Writer, m *identify.Machine) {
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 8, 3, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "joint\tfit\tR²\tleft over\trows\tslow\tvalidation\tas written\t\n")
	for _, j := range m.Joints {
		valid := "–"
		if j.Valid != nil {
			valid = fmt.Sprintf("%.1f %%", *j.Valid)
		}
		name := j.Name
		if j.Passive {
			name += " (passive)"
		}
		fmt.Fprintf(t, "%s\t%.1f %%\t%.3f\t%.3g %s\t%d\t%d\t%s\t%.1f %%\t\n", name, j.Percent, j.R2, report.Number(j.RMS), j.Unit,
			j.Rows, j.SlowRows, valid, j.Written)
	}
	t.Flush()
	if iv := m.Instruments; iv != nil && iv.Failure == "" {
		of := "simulated motion under the recorded torques"
		if iv.Reference {
			of += ", near the references"
		}
		biased := 0
		for _, p := range iv.Parameters {
			if p.Biased {
				biased++
			}
		}
		fmt.Fprintf(w, "\ninstrumental variables (%s, %.3g Hz, %d rounds): least squares is off beyond doubt for %d of %d parameters\n", of,
			iv.Bandwidth, iv.Rounds, biased, len(iv.Parameters))
	}
	fmt.Fprintf(w, "\nof %d base parameters %d are taken from the records, the others from the file of the machine (rms %.3f times that "+
		"of all)\n", len(m.Base), m.Essential, m.Grown)
	switch {
	case len(m.Impossible) == 0:
		fmt.Fprintln(w, "real bodies can have these parameters")
	case m.Possible:
		fmt.Fprintf(w, "the nearest parameters of the file are those of no real machine (%s); the nearest that are leave an rms %.3f times as "+
			"large\n", strings.Join(m.Impossible, "; "), m.PossibleGrowth)
	default:
		fmt.Fprintf(w, "no real machine has these parameters: %s\n", strings.Join(m.Impossible, "; "))
	}
	t = tabwriter.NewWriter(w, 0, 8, 3, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "as written\tfile\tfound\tunit\t\n")
	for _, p := range m.Parameters {
		if math.Abs(p.Value-p.Start) > 1e-6*(math.Abs(p.Value)+math.Abs(p.Start)) && math.Abs(p.Value-p.Start) > 1e-12 {
			fmt.Fprintf(t, "%s\t%.5g\t%.5g\t%s\t\n", p.Name, report.Number(p.Start), report.Number(p.Value), p.Unit)
		}
	}
	t.Flush()
}
