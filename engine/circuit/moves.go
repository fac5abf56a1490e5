package circuit

// Moves are the axes that some winding or lead moves with: the circuit acts on no other.
func (c *Circuit) Moves() []int { return c.step.moved }
