package hil

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/control"
	"hilrig/engine/multibody"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
	"hilrig/engine/rotation"
	"hilrig/estimator"
	"hilrig/hil/axis"
)

// A mechanism whose gravity has the wrong sign, or is half or twice the true one, leaves to the feedback what is missing, and the row says
// how much of what is fed forward that is; one that is right leaves nothing, with as much friction beside it as there is. Nothing trips.
func TestMechanismIsWatched(t *testing.T) {
	const mass, arm, g = 1.3, 0.36, 9.81
	for _, kind := range []plant.DriveKind{plant.VoltageDrive, plant.CurrentDrive, plant.EffortDrive} {
		for _, comp := range []axis.CompKind{axis.CompNone, axis.CompFeedForward}[:1+int(kind)%2] {
			for _, c := range []struct {
				factor, least, most float64 // of gravity as the file has it; of what is told
			}{{1, -0.15, 0.15}, {0.9, -0.15, 0.3}, {-1, -2.2, -1.8}, {0.5, 0.8, 1.2}, {2, -0.6, -0.4}} {
				for _, side := range []float64{1, -1} {
					p := rotaryShop(kind)
					p.j, p.fc, p.fs, p.vs, p.fv, p.stiffness, p.k, p.drop, p.l = 0.2, 0.2, 0.3, 0.1, 0.05, 400, 0.8, 0, 2e-3
					p.noise[estimator.Effort], p.noise[estimator.Current] = 0.02, 0.02
					p.load = func(_, x float64) float64 { return mass * arm * g * math.Sin(x) }
					model, err := multibody.Build(multibody.Spec{Gravity: r3.Vec{Y: -g * c.factor}, Bodies: []multibody.Body{
						{Name: "shaft", Joint: multibody.Joint{Kind: multibody.Revolute, Armature: p.j - mass*arm*arm - 0.01},
							Inertia: multibody.Inertia{Mass: mass, Com: r3.Vec{Y: -arm}, I: rotation.Diag(r3.Vec{X: 0.005, Y: 0.005, Z: 0.01})}}}})
					if err != nil {
						t.Fatal(err)
					}
					s := newShop(t, p, shopOptions{top: 40, measured: []estimator.Quantity{estimator.Current},
						mechanism: &MechanismSpec{Model: model, Joint: []int{0}}, pid: &control.PID{Kp: 150, Kd: 8, Limit: 20},
						comp: axis.CompSpec{Kind: comp}, ref: reference.Spec{Kind: "sine", Amplitude: 0.9 * side, Offset: 0.3 * side, Frequency: 0.2}})
					s.start(t)
					s.ctl.guard.s.Axes[0].MaxResidual = 0 // a gravity so wrong is more than ten times the friction
					s.seconds(t, 8)
					at := s.ctl.schema.Find(Modelled, "shaft", RoleLeft)
					if left := s.row.X[at]; left < c.least || left > c.most {
						t.Errorf("%v, %v, gravity times %g, side %+g: the feedback adds %.3f, want %g to %g", kind, comp, c.factor, side, left, c.least,
							c.most)
					}
				}
			}
		}
	}
}
