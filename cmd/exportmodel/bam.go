package exportmodel

import (
	"errors"
	"io"

	"hilrig/cmd/report"
)

// bam writes parameters for BAM: model m1, Coulomb and viscous friction, or m2 with the fall
//
//	friction_base + friction_stribeck·exp(−|v/dtheta_stribeck|^alpha) + friction_viscous·|v|.
//
// m3 to m6 have friction that grows with the load on the gears, which no law here has. JSON has no comments: the notes are a key
// that BAM does not read.
func (f *file) bam(w io.Writer) error {
	if !f.Rotary {
		return errors.New("BAM is for servos, and this axis is linear")
	}
	f.lossTexts = append(f.lossTexts,
		"the motor: kt (N·m/A) and R (Ohm) are no part of the result; until you add them BAM takes those it starts a fit with",
		"an actuator of BAM: register the name "+f.ID+" in bam/actuators.py, or put the name of one that is there")
	p := struct {
		Model     string   `json:"model"`
		Actuator  string   `json:"actuator"`
		Base      float64  `json:"friction_base"`
		Viscous   float64  `json:"friction_viscous"`
		Increment *float64 `json:"friction_stribeck,omitempty"`
		Speed     *float64 `json:"dtheta_stribeck,omitempty"`
		Alpha     *float64 `json:"alpha,omitempty"`
		Armature  *float64 `json:"armature,omitempty"`
		Notes     []string `json:"notes"`
	}{Model: "m1", Actuator: f.ID, Base: f.Contact.Fore.Fc, Viscous: f.Contact.Fore.Fv}
	if f.Contact.peaked() {
		d := f.Contact.Fore.Fs - f.Contact.Fore.Fc
		p.Model, p.Increment, p.Speed, p.Alpha = "m2", &d, &f.Contact.Vs, &f.Contact.Delta
	}
	if f.Inertia > 0 {
		p.Armature = &f.Inertia
		f.lossTexts = append(f.lossTexts, "the split of the inertia: armature is that of the whole axis; take off what BAM adds as load")
	}
	p.Notes = f.Notes()
	return report.EncodeJSON(w, p)
}
