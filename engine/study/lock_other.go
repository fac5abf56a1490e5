//go:build !unix

package study

import "os"

// lock does nothing where there are no advisory locks: two programs on one study would do runs twice, with the same numbers.
func lock(*os.File) error { return nil }
