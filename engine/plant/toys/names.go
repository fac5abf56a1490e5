package toys

import "fmt"

// Who touches whom, for contact.Namer.

func (b *Ball) Pair(uint32) (string, string)       { return "ball", "ground" }
func (b *Block) Pair(uint32) (string, string)      { return "block", "ground" }
func (o *Oscillator) Pair(uint32) (string, string) { return "mass", "belt" }
func (d *Discs) Pair(uint32) (string, string)      { return "disc 1", "disc 2" }
func (w *Wheel) Pair(uint32) (string, string)      { return "slider", "wheel" }

func (r *Rod) Pair(id uint32) (string, string) {
	return [...]string{"left end of the rod", "right end of the rod"}[id&1], "ground"
}

func (c *Chain) Pair(id uint32) (string, string) {
	return fmt.Sprintf("ball %d", id+1), fmt.Sprintf("ball %d", id+2)
}

func (w *Woodpecker) Pair(id uint32) (string, string) {
	return [...]string{"beak", "lower edge of the sleeve", "upper edge of the sleeve"}[id%3], "pole"
}
