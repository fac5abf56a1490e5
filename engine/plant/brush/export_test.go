package brush

// What only tests ask for.

// Chain hangs each segment on the one before it; the coordinates are then displacements against that neighbour.
func Chain(width float64) [segments]Joint {
	j := Star(width)
	j[1].Parent, j[2].Parent = 0, 1
	return j
}
