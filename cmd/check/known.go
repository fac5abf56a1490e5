package check

import (
	"hilrig/configs"
)

// known says what follows from the numbers of a rig.
func (a *Answer) known(cfg *configs.Config) {
}
