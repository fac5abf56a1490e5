package daemon

import (
	"slices"

	"hilrig/configs"
	"hilrig/hil"
	"hilrig/hil/models"
)

// modelSpec is a configured model beside the rig.
func modelSpec(cfg *configs.Config, m *configs.Model) hil.ModelSpec {
	at := slices.IndexFunc(cfg.Axes, func(a configs.Axis) bool { return a.Name == m.Axis })
	a := &cfg.Axes[at]
	s := &models.Spec{Axis: at, BrushKeys: m.BrushKeys, LawsKeys: m.LawsKeys, Laws: m.Rivals(), Resolution: cfg.Resolution(a), Effort: a.Unit("N·m")}
	if m.Parameters != nil {
		s.Brush = m.Parameters.Of(a.MotorModel())
	}
	return hil.ModelSpec{Name: m.Name, Axis: m.Axis, Share: m.Share, New: func() (hil.Model, error) { return m.Kind.Kind().New(s) }}
}
