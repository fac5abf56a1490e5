// Package response finds any parameters of a machine from how the machine answers to what was done to it: output error [L99]. The machine
// of engine/machine is simulated with its fixed step under the recorded inputs, and the parameters are those for which the numbers that
// were measured come out nearest,
//
//	min over θ   Σ_j Σ_k ((y_j(t_k; θ) − ŷ_j(t_k))/s_j)²
//
// with s_j the noise of output j: what is given, or the rms that the fit leaves of that output, found by repetition, which is maximum
// likelihood where the noises of the outputs are independent and normal. Where a recording begins may be searched with the parameters.
//
// Steps of the simulation are made so short that halving them moves no parameter by more than a third of its standard error.
package response

import (
	"errors"
	"fmt"
	"hilrig/identify/record"
	"math"
	"slices"

	"hilrig/engine/circuit"
	"hilrig/engine/machine"
	"hilrig/identify/fit"
)

// Machine is a machine at some values of its parameters, at the start of a recording.
type Machine struct {
	Step   *machine.Stepper
	Start  []float64       // its state, loops closed
	Hold   []string        // joints that stay where they are told while loops are closed
	Joints []Joint         // that a torque may be pushed on, in the order of Step.Push
	Inputs []*circuit.Held // in the order of Spec.Inputs
}

// Joint is one with one coordinate.
type Joint struct {
	Name   string
	Rotary bool
}

// Spec says what is looked for, and in what.
type Spec struct {
	Params      []fit.Param                             // of the machine; values are the start
	Build       func(theta []float64) (*Machine, error) // for concurrent use; theta of Params, in their order
	Inputs      []string                                // what acts on the machine, for people
	Others      []Other                                 // numbers of the machine that are not searched and may be wrong
	Outputs     []Output                                // what was measured
	StartJoints []string                                // joints whose position and speed at the beginning of every recording are searched
	Uncertain   Uncertain                               // what the gains of the columns are known to
	Line        bool                                    // inputs change evenly between samples; else they are held
	Steps       int                                     // in a sampling interval; 0: as many as it takes
	Starts      int                                     // descents from drawn values besides that from the start
	Seed        uint64                                  //
	Workers     int                                     // 0: as many as there are processors
}

// Uncertain is the standard uncertainty of what a file gives and no record of responses tells for sure. 0: taken for exact.
type Uncertain struct {
	Gain float64 `yaml:"gain" unit:"%" want:">=0 <=50" json:"gain_percent" doc:"of the gain of each input and output"`
}

// Uncertain is that of what was given.
func (r *Result) Uncertain() Uncertain { return r.spec.Uncertain }

// Output is a number of the machine, named as machine.Watch does.
type Output struct {
	Name  string
	Unit  string  // for people
	Noise float64 // standard deviation, in its unit; 0: what the fit leaves
}

// Other is a number of the machine that is taken as it is.
type Other struct {
	Path  string // for people
	Text  string // its value, for people
	Value float64
	Build func(theta []float64, x float64) (*Machine, error) // as Spec.Build, with another value
}

// Recording is what was done and measured, all series of one length.
type Recording struct {
	Dt      float64     // s
	Inputs  [][]float64 // in the order of Spec.Inputs, SI
	Outputs [][]float64 // in the order of Spec.Outputs, SI
}

// Len is the number of samples.
func (r *Recording) Len() int { return len(r.Outputs[0]) }

const minSamples = 10

// withoutSpikes are the recordings with a curve in place of samples of an output that no motion makes, and what was left out.
func (s *Spec) withoutSpikes(recs []Recording) (out []Recording, left []string) {
	for i, r := range recs {
		var said []string
		name := func(j int) string { return s.Outputs[j].Name }
		r.Outputs, said = r.despiked(r.Outputs, i, name, "as no motion is")
		out, left = append(out, r), append(left, said...)
	}
	return out, left
}

// withoutPulses are the recordings with a curve in place of single samples of an input that are off, and what was left out; nil: there
// are none.
func (s *Spec) withoutPulses(recs []Recording) (out []Recording, left []string) {
	for i, r := range recs {
		var said []string
		name := func(j int) string { return s.Inputs[j] }
		r.Inputs, said = r.despiked(r.Inputs, i, name, "and the outputs know nothing of them")
		out, left = append(out, r), append(left, said...)
	}
	return out, left
}

// despiked are series of recording i with a curve in place of samples that are off, and what was left out and why.
func (r *Recording) despiked(x [][]float64, i int, name func(j int) string, why string) (out [][]float64, left []string) {
	out = slices.Clone(x)
	for j := range out {
		mended, at := record.Despike(out[j])
		if at == nil {
			continue
		}
		out[j] = mended
		left = append(left, fmt.Sprintf("%d samples of %s in recording %d are off the curve through their neighbours, %s, first at %.6g s from "+
			"its beginning: they are left out",
			len(at), name(j), i+1, why, float64(at[0])*r.Dt))
	}
	return out, left
}

// check tells what makes recordings none for a spec.
func (s *Spec) check(recs []Recording) error {
	if len(s.Outputs) == 0 || len(recs) == 0 {
		return errors.New("no output or no recording")
	}
	for r := range recs {
		rec := &recs[r]
		if len(rec.Inputs) != len(s.Inputs) || len(rec.Outputs) != len(s.Outputs) || !(rec.Dt > 0) {
			return fmt.Errorf("recording %d: %d inputs and %d outputs at intervals of %g s, want %d and %d", r+1, len(rec.Inputs), len(rec.Outputs),
				rec.Dt, len(s.Inputs), len(s.Outputs))
		}
		n := rec.Len()
		if n < minSamples {
			return fmt.Errorf("recording %d: %d samples, want at least %d", r+1, n, minSamples)
		}
		for _, list := range [][][]float64{rec.Inputs, rec.Outputs} {
			for _, y := range list {
				if len(y) != n {
					return fmt.Errorf("recording %d: series of %d and %d samples, want one length", r+1, n, len(y))
				}
			}
		}
	}
	if len(s.Params) == 0 {
		return nil
	}
	return fit.Check(s.Params)
}

// spread is the standard deviation of an output over all recordings, about the mean of each.
func spread(recs []Recording, j int) float64 {
	sum, n := 0.0, 0
	for r := range recs {
		y := recs[r].Outputs[j]
		mean := 0.0
		for _, v := range y {
			mean += v / float64(len(y))
		}
		for _, v := range y {
			sum += (v - mean) * (v - mean)
		}
		n += len(y)
	}
	return math.Sqrt(sum / float64(n))
}

// beginning is where a recording begins, by the outputs that measure it: position and speed of joint k of StartJoints. Where one is not
// measured it is that of start.
func (s *Spec) beginning(rec *Recording, joint string, start [2]float64) [2]float64 {
	at := func(name string) []float64 {
		i := slices.IndexFunc(s.Outputs, func(o Output) bool { return o.Name == name })
		if i < 0 {
			return nil
		}
		return rec.Outputs[i]
	}
	q, v := at(joint+".q"), at(joint+".v")
	if q != nil { // a straight line through the first samples
		const n = 8
		mean, slope, weight := 0.0, 0.0, 0.0
		for k, x := range q[:n] {
			t := float64(k) - (n-1)/2.
			mean += x / n
			slope += t * x
			weight += t * t
		}
		slope /= weight
		start[0] = mean - slope*(n-1)/2.
		start[1] = slope / rec.Dt
	}
	if v != nil {
		start[1] = v[0]
	}
	return start
}

// divergedResidual is the residual, in noises, of a motion that came to no number.
const divergedResidual = 1e6
