package main

import (
	"os"
	"path/filepath"
)

// writeFileWhole writes a temporary file beside the wanted one, which then appears whole or not at all.
func writeFileWhole(path string, data []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".hil-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // gone already when all went well
	defer tmp.Close()
	if _, err = tmp.Write(data); err != nil {
		return err
	}
	if err = tmp.Chmod(0o644); err != nil {
		return err
	}
	if err = tmp.Sync(); err != nil {
		return err
	}
	if err = tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
