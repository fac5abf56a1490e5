//go:build !unix

package daemon

import "os/exec"

func setOwnGroup(*exec.Cmd) {}
