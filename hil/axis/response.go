package axis

import (
	"math"

	"hilrig/estimator"
)

// response finds a drive whose answer stays the same while its command changes: one that holds its last command. The answer is what the
// command sets directly, so that no load is in it: the speed of a velocity drive, a measured current or effort, the voltage that current
// and speed of a winding show. It may fit the command by chance for most of a second, as that goes up and comes back; how far they are
// apart tells nothing then. But a drive that answers at all changes its answer by a part of what the command changes by: a velocity drive
// of 4 s by a twenty-fifth of it in 0.15 s. So the command must have been further than limit from where it was, for minTime, while the
// answer stayed within responseShare of that, and what its sensor does not resolve. Until the command has changed so much, one that is
// held is the command.
type response struct {
	answer     estimator.Quantity // number that answers …
	reading    estimator.Quantity // … and what is wrong where it does not
	factor     float64            // of the command, in its unit
	limit      float64            // … of a change of the command that counts
	deadZone   float64            // … of the reading: below it a drive need not answer
	resolution float64            // … of the answer
	minTime    float64            // s  longer than any delay between command and answer

	primed     bool
	stays      float64 // the answer has been the same …
	minCommand float64 // … while the command, in its unit, went from here …
	maxCommand float64 // … to there
	time       float64 // s  the command has changed enough
}

const (
	responseShare = 0.02 // of the change of a command
	responseTime  = 0.15 // s  of a motion
	responseSigma = 2    // standard deviations of a sample: 5 of a mean over 20 ms
)

// forget begins anew.
func (r *response) forget() { r.primed = false }

// step takes the answer and the command, as the same means, dt (s) after those before, of samples every so many s.
func (r *response) step(answer, command, dt, every float64) Finding {
	command *= r.factor
	change := max(r.maxCommand, command) - min(r.minCommand, command)
	if !r.primed || math.Abs(answer-r.stays) > r.resolution+responseShare*change {
		r.primed, r.stays, r.minCommand, r.maxCommand, r.time = true, answer, command, command, 0
		return Finding{}
	}
	r.minCommand, r.maxCommand = min(r.minCommand, command), max(r.maxCommand, command)
	if change <= r.limit {
		return Finding{}
	}
	if r.time += dt; r.time < max(r.minTime, minSamples*every) {
		return Finding{}
	}
	if r.reading == estimator.Position { // a way tells more than a speed
		return Finding{Disagree, estimator.Position, (answer - command) * r.time, r.limit * r.time}
	}
	return Finding{Disagree, r.reading, answer - command, r.limit}
}
