package multibody

import "math"

// nearness tells a singular position that comes near.
type nearness struct {
	angle      float64 // of the equation that is nearest to those before it
	startAngle float64 // where the last step began
	fall       float64 // 1/s  how fast it falls
	cruise     float64 // s    last step away from singular positions
}

// tight is the angle (rad) between equations below which a step goes over the singular position instead of up to it. There the
// equations of motion depend on the constraints being met the better the nearer it is, and stages of a step do not meet them: error
// control would creep to where rounding decides how the machine goes on.
const tight = 2e-3

// cruiseAngle is the angle above which a position is not near a singular one: the steps there say how long a leap may be.
const cruiseAngle = 0.1

// measure notes the angle where constraints were last factored.
func (n *nearness) measure(d *Data) {
	n.startAngle = n.angle
	if n.angle = math.Sqrt(d.gram.minPivot); d.Rank < d.FullRank {
		n.angle = 0
	}
}

// noteStep takes a step of h (s), at whose end the angle has been measured; a leap says nothing of how long steps may be.
func (n *nearness) noteStep(h float64, leapt bool) {
	if n.fall = (n.startAngle - n.angle) / h; n.angle > cruiseAngle && !leapt {
		n.cruise = h
	}
}

// leap is the step (s) from t that goes over the singular position ahead: the angle falls to zero and rises again, and no stage of the leap
// may be where it is zero. ok is false where none is near.
func (n *nearness) leap(t, end float64) (h float64, ok bool) {
	if n.angle >= tight || n.fall <= 0 {
		return 0, false
	}
	left := n.angle / n.fall
	h = math.Min(left+math.Max(2*left, tight/n.fall), end-t)
	return h, h <= 4*n.cruise
}
