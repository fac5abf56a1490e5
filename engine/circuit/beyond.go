package circuit

// GapOutOfRange is the first electromagnet whose gap x (m, rad) at the positions q is below −X0/2, where its formula is left; false: there
// is none.
func (c *Circuit) GapOutOfRange(q []float64) (name string, x, x0 float64, beyond bool) {
	for g := range c.groups {
		if p, ok := c.groups[g].field.(*Plunger); ok {
			if x, _ = p.gap(coordinate(q, c.groups[g].axis)); x < -p.X0/2 {
				return c.groups[g].name, x, p.X0, true
			}
		}
	}
	return "", 0, 0, false
}
