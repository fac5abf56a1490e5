package identify

import "hilrig/identify/fit"

// evidence is what a verdict rests on beside what the result shows, whatever was fitted. What a fit does not have is empty, and judges say
// nothing of it.
type evidence struct {
	solution   *fit.Solution
	unweighted *fit.Solution // of a weighted fit, the same records in their own unit; nil: not known
	checked    *fit.Solution // of the validation, its residuals
	// the recorded force along the recorded motion, with the derivatives of all loads; nil: the solution is it
	alongMotion    func() *fit.Solution
	withoutAssumed *fit.Solution // found without what was reckoned from an assumption; nil: none was, or nothing was found

	joint        bool         // the parameters are those of the only joint of a machine, by its names
	channels     []channel    // what was explained
	unidentified []refused    // that the fit does not give
	doubts       []fit.Reason // of the method about itself

	tolerance        map[string]float64 // by how much a parameter may move without harm
	halfErr          []float64          // standard errors of the values with half the band; nil: not known
	tops             []float64          // m/s or rad/s, speed of the record, or of both joints; 0: not known
	offsetKnown      bool               // the user says what the constant force is
	oneWay           bool               // the rows of the fit move in one direction
	contradicted     []priorDoubt       // priors
	givenNumbers     []fit.GivenNumber  // that the result rests on and that were not found
	givenKeys        string             // where a file says how well; "": under uncertainty
	negligibleParams []string           // parameters of which zero is an answer: beside the others they are next to nothing

	instruments *MachineInstruments // beside least squares; nil: there are none
	bodies      *bodies             // that have the parameters; nil: not asked
}

// axisName is the name of a parameter as that of an axis.
func (r *Result) axisName(name string) string {
	if r.joint {
		return fit.AxisName(name)
	}
	return name
}

// channel is one series that a fit explains: that of an axis, the torque of a joint, an output.
type channel struct {
	name       string   // for people, "joint 2"; "": the only one
	unit       string   //
	percent    *float64 // fit; nil: there is none
	validation *float64 // of records that were not fitted; nil: there are none
	rms        float64  // of what is left over
	noise      *float64 // of the record from sample to sample; nil: not known
	hides      []string // parameters of which what is left over may be much; nil: of all
	spread     float64  // of what was recorded; 0: not known
	uneven     bool     // what is left over of a motion that dies away changes along the record, as no noise does
	passive    bool     // nothing drives it: parts of a sum that is zero
	parts      float64  // rms of the largest part of a sum that nearly cancels; 0: it does not
}

// refused are parameters that a fit does not give, and why.
type refused struct {
	fit.Indistinct
	text string
}

// bodies tells whether real bodies have the parameters of a machine.
type bodies struct {
	possible bool     // some were found
	unreal   bool     // further from what was found than chance explains
	grown    float64  // rms with them over that without asking
	against  []string // what speaks against it, where there are none
}

// label begins a sentence about a channel.
func (c *channel) label() string {
	if c.name == "" {
		return ""
	}
	return c.name + ": "
}
