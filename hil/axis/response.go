package axis

import (
	"math"

	"hilrig/estimator"
)

// response finds a velocity drive whose speed stays the same while its command changes: one that holds its last command. Its speed may fit
// the command by chance for most of a second, as that goes up and comes back; how far they are apart tells nothing then. But a drive that
// answers at all changes its speed by a part of what the command changes by: one of 4 s by a twenty-fifth of it in 0.15 s. So the command
// must have been further than limit from where it was, for responseTime, while the speed stayed within responseShare of that, and what
// the encoder does not resolve.
type response struct {
	limit      float64 // rad/s  of a change of the command that counts; 0: nothing is compared
	resolution float64 // rad/s  of the speed

	primed     bool
	speed      float64 // rad/s  it has been the same …
	minCommand float64 // rad/s  … while the command went from here …
	maxCommand float64 // rad/s  … to there
	time       float64 // s      the command has changed enough
}

const (
	responseShare = 0.02 // of the change of a command
	responseTime  = 0.15 // s  longer than any delay between command and motion
)

// forget begins anew.
func (r *response) forget() { r.primed = false }

// step takes the speed and the command (rad/s), as the same means, dt (s) after those before, of samples every so many s.
func (r *response) step(speed, command, dt, every float64) Finding {
	if r.limit == 0 {
		return Finding{}
	}
	change := max(r.maxCommand, command) - min(r.minCommand, command)
	if !r.primed || math.Abs(speed-r.speed) > r.resolution+responseShare*change {
		r.primed, r.speed, r.minCommand, r.maxCommand, r.time = true, speed, command, command, 0
		return Finding{}
	}
	r.minCommand, r.maxCommand = min(r.minCommand, command), max(r.maxCommand, command)
	if change <= r.limit {
		return Finding{}
	}
	if r.time += dt; r.time < max(responseTime, minSamples*every) {
		return Finding{}
	}
	return Finding{Disagree, estimator.Position, (speed - command) * r.time, r.limit * r.time}
}
