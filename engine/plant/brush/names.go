package brush

// Pair is contact.Namer.Pair.
func (b *Brush) Pair(id uint32) (string, string) {
	switch {
	case onFace(id):
		return "brush", "commutator"
	case id < idSpring:
		return "brush", "holder"
	}
	return "spring", "brush"
}
