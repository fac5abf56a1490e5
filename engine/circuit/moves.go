package circuit

// CoupledAxes are the axes that some winding or lead moves with: the circuit acts on no other.
func (c *Circuit) CoupledAxes() []int { return c.step.coupledAxes }
