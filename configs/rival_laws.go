package configs

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"hilrig/configs/schema"
	"hilrig/engine"
	"hilrig/hil/models"
)

// RivalLaws are the laws of a model of kind rival-laws: a list, as of a run of hil simulate. Their units are those of the model's axis,
// which stands elsewhere in the file: they are read when that is known.
type RivalLaws struct {
	Laws
	linear      bool
	decodeLater func() // what DecodeNode left for later
}

// DecodeNode keeps the node.
func (l *RivalLaws) DecodeNode(w *schema.Walker, path string, e schema.Entry, _ schema.Field) {
	l.decodeLater = func() { l.decode(w, path, e, ofARig) }
}

// of reads the laws in the units of an axis.
func (l *RivalLaws) of(r *schema.Report, a *Axis) {
	if l.linear = a.Linear(); l.decodeLater != nil {
		defer r.WithUnits(a.Units())()
		l.decodeLater()
		l.decodeLater = nil
	}
}

// EmitNode writes the laws as a list, behind the key.
func (l *RivalLaws) EmitNode(e *schema.Emitter, indent int) {
	units := rotaryTag
	if l.linear {
		units = linearTag
	}
	pad := strings.Repeat(" ", indent+2)
	e.WriteByte('\n')
	for i := range l.Laws {
		e.WriteString(pad + "-\n")
		emitLaw(e, &l.Laws[i], units, indent+4)
	}
}

// Rivals are the laws as the model takes them.
func (m *Model) Rivals() (out []models.Rival) {
	if m.Laws == nil {
		return nil
	}
	return listOf(m.Laws.Laws, func(l Law) models.Rival { return models.Rival{Name: l.Label, Model: l.Model} })
}

// Resolution is the change of the position of an axis (rad or m) that its sensor shows for certain: a count, or the noise where that is
// larger.
func (c *Config) Resolution(a *Axis) float64 {
	noise := a.Estimator.PositionNoise
	if m := c.measurement(a.Position); m != nil {
		noise = max(noise, math.Abs(m.Scale))
	}
	return noise
}

// checkRivals looks at the laws of a model.
func (c *Config) checkRivals(r *schema.Report, m *Model, a *Axis) {
	p := m.path() + ".laws"
	rivals := m.Rivals()
	switch {
	case r.HasProblem(p):
		return
	case len(rivals) < 2 || len(rivals) > models.MaxRivals:
		r.KeyErrorf(p, "%d, want a list of 2 to %d friction laws, such as {law: lugre, …}", len(rivals), models.MaxRivals)
		return
	}
	names := append([]string{"busy", "level"}, listOf(models.LawSignals, func(s engine.Signal) string { return s.Name })...)
	for i, l := range rivals {
		at := fmt.Sprintf("%s[%d]", p, i)
		switch {
		case !ownerName.MatchString(l.Name):
			r.Errorf(at, "%s.label: %s, want up to 32 letters, digits, - and _, starting with a letter: the residual is called by it", at,
				schema.Quote(l.Name))
		case slices.Contains(names, l.Name):
			r.Errorf(at, "%s.label: %s is the name of another signal of this model; give a label to tell them apart", at, l.Name)
		}
		names = append(names, l.Name)
	}
	r.ErrorIf(a.MotorModel().J == 0, m.path()+".axis",
		"of %s no inertia is known, so its friction is not estimated; give one, or leave out the model", a.Name)
}
