package identify

import (
	"fmt"
	"io"
	"path/filepath"

	"hilrig/cmd/fitreport"
	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/identify"
	"hilrig/identify/axis"
)

// assumptions are what an identification without a file takes for granted: shown to people, and why each line of the file is as it is.
type assumptions struct {
	entries []fitreport.Assumption
	reasons map[string]string // by the path of the key
}

// add shows something.
func (a *assumptions) add(about, format string, args ...any) {
	a.entries = append(a.entries, fitreport.Assumption{Topic: about, Text: fmt.Sprintf(format, args...)})
}

// because gives the reason of a key.
func (a *assumptions) because(path, format string, args ...any) {
	if a.reasons == nil {
		a.reasons = map[string]string{}
	}
	a.reasons[path] = fmt.Sprintf(format, args...)
}

// chain takes the methods that were asked for, or those that suit the law.
func (a *assumptions) chain(cfg *configs.Identify, asked identify.Chain, law string) {
	if cfg.Method = asked; len(asked) > 0 {
		return
	}
	cfg.Method = identify.ChainFor(law)
	if law == "" {
		a.because("method", "inertia, Coulomb and viscous friction; --law asks for more")
	} else {
		a.because("method", "they find %s from any motion with reversals", law)
	}
}

// law makes a law that of the model, with a constant force and viscous friction.
func (a *assumptions) law(cfg *configs.Identify, law string) {
	m := &cfg.Model
	if m.Law = law; !simulates(cfg.Method) {
		return
	}
	m.Terms = []string{"offset"}
	a.because("model.terms", "a constant force: weight, or an offset of the sensor")
	if !axis.Damped(law) {
		m.Terms = append(m.Terms, "viscous")
		a.because("model.terms", "a constant force: weight, or an offset of the sensor; %s has no viscous friction itself", law)
	}
}

// simulates tells that a method of the chain runs the model.
func simulates(chain identify.Chain) bool {
	return chain.ContainsFunc(func(m *identify.MethodInfo) bool { return m.Simulates })
}

// write writes the identification file, from which the same result follows.
func (a *assumptions) write(path string, force bool, cfg *configs.Identify) error {
	folder, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return err
	}
	a.because("version", "of the format of this file")
	text, err := cfg.Marshal(folder, a.reasons)
	if err != nil {
		return err
	}
	return report.WriteWhole(path, force, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "# Made by: %s\n# What was assumed, and not given, says why. hil identify %s gives the same result.\n%s",
			report.CommandLine(), filepath.Base(path), text)
		return err
	})
}
