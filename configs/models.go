package configs

import (
	"hilrig/configs/schema"
	"hilrig/hil"
	"hilrig/hil/models"
)

// Model is what is computed beside the rig and only watched.
type Model struct {
	Name  string        `yaml:"-" names:"models"`
	Kind  models.Choice `yaml:"kind" doc:"brush: the motor's brushes, turned by the estimated motion of the axis (docs/brush-loop.md); rival-laws: friction laws under that motion, and which of them explains it best (docs/rival-laws.md)"`
	Axis  string        `yaml:"axis" auto:"the only axis" doc:"the axis whose motion drives it"`
	Share float64       `yaml:"share" want:">0 <=0.5" auto:"equal parts of 0.3" doc:"its share of the period; all models together at most 0.5"`
	models.BrushKeys
	Parameters *RigBrush `yaml:"parameters,omitempty" doc:"of kind brush: as in docs/brush.md without its motor and commutator.speed"`
	models.LawsKeys
	Laws *RivalLaws `yaml:"laws,omitempty" doc:"of kind rival-laws: two to eight friction laws, {law: lugre, sigma0: …}, with the parameters of hil laws; label: the name of the residual, where two have the same law"`
}

// SetDefaults of a model.
func (m *Model) SetDefaults() {
	m.Step, m.Memory = 20e-6, 20
}

// completeModels fills in the axis, the shares, and what a kind needs.
func (c *Config) completeModels(r *schema.Report) {
	for i := range c.Models {
		m := &c.Models[i]
		if m.Axis == "" && len(c.Axes) == 1 {
			m.Axis = c.Axes[0].Name
		}
		if m.Share == 0 && !r.Given(m.path()+".share") {
			m.Share = hil.DefaultShares / float64(len(c.Models))
		}
		if m.Kind == models.BrushChoice && m.Parameters == nil {
			m.Parameters = schema.New[RigBrush]()
		}
		if a := c.ModelOf(m.Axis); a != nil && m.Laws != nil {
			m.Laws.of(r, a)
		}
	}
}

// checkModels looks at the models beside the rig.
func (c *Config) checkModels(r *schema.Report) {
	sum := 0.0
	for i := range c.Models {
		m, p := &c.Models[i], c.Models[i].path()
		sum += m.Share
		c.checkUnusedKeys(r, m)
		a := c.ModelOf(m.Axis)
		switch {
		case r.Bad(p) || r.Bad("axes"):
		case a == nil:
			c.unknownSignal(r, p+".axis", m.Axis, "axis", listOf(c.Axes, func(a Axis) string { return a.Name }))
		case m.Kind == models.BrushChoice && a.Linear():
			r.Errorf(p+".axis", "%s.axis: %s is linear; brushes stand on a commutator, which turns", p, m.Axis)
		case m.Kind == models.BrushChoice:
			m.Parameters.check(r, p+".parameters", a.MotorModel(), m.Step)
		case m.Kind == models.LawsChoice:
			c.checkRivals(r, m, a)
		}
	}
	if sum > hil.MaxShares+1e-9 && !r.Bad("models") {
		r.Errorf("models", "models: their shares add up to %s of the period, want at most %s: what is left is for control and for the host; lower a share, or leave out a model",
			schema.Short(sum), schema.Short(hil.MaxShares))
	}
}

// checkUnusedKeys warns of keys that the kind does not look at.
func (c *Config) checkUnusedKeys(r *schema.Report, m *Model) {
	warnUnused(r, m.path(), *m, *schema.New[Model](), m.Kind, m.Kind.Kind().Keys, listOf(models.Kinds, func(k models.Kind) []string { return k.Keys }))
}
