package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// writeWhole writes a temporary file beside the wanted one, which appears whole or not at all. Without force an existing
// file is left alone, also one that appears meanwhile.
func writeWhole(path string, force bool, write func(io.Writer) error) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".hil-*")
	if err != nil {
		return fmt.Errorf("cannot write beside %s: %w", path, err)
	}
	defer os.Remove(tmp.Name()) // gone already when all went well
	defer tmp.Close()
	if err = write(tmp); err == nil {
		err = tmp.Chmod(0o644)
	}
	if err == nil {
		err = tmp.Sync()
	}
	if err == nil {
		err = tmp.Close()
	}
	if err == nil && force {
		err = os.Rename(tmp.Name(), path)
	} else if err == nil {
		// a link fails where a rename would write over; file systems without links check first
		if err = os.Link(tmp.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
			if _, there := os.Lstat(path); there == nil {
				err = fs.ErrExist
			} else {
				err = os.Rename(tmp.Name(), path)
			}
		}
	}
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists; --force writes over it", path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
