//go:build soak

package sink

import "time"

func init() { freeze = 35 * time.Second }
