package report

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// WriteWhole writes a temporary file beside the wanted one, which appears whole or not at all. Without force an existing
// file is left alone, also one that appears meanwhile. A name that ends in .gz is packed.
func WriteWhole(path string, force bool, write func(io.Writer) error) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".hil-*")
	if err != nil {
		return fmt.Errorf("cannot write beside %s: %w", path, err)
	}
	defer os.Remove(tmp.Name()) // gone already when all went well
	defer tmp.Close()
	if strings.EqualFold(filepath.Ext(path), ".gz") {
		z, _ := gzip.NewWriterLevel(tmp, gzip.BestCompression) // a level that exists
		err = errors.Join(write(z), z.Close())
	} else {
		err = write(tmp)
	}
	place := func() error { return Place(tmp.Name(), path, force) }
	mode := fs.FileMode(0o644)
	if old, err := os.Stat(path); err == nil {
		mode = old.Mode().Perm() // who may not read the old one may not read the new one
	}
	for _, next := range []func() error{func() error { return tmp.Chmod(mode) }, tmp.Sync, tmp.Close, place} {
		if err == nil {
			err = next()
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

// Place gives the finished file its name. Without force it links rather than renames, because a rename would take the
// place of a file that appeared in the meantime; where links are not possible the name is checked once more.
func Place(tmp, name string, force bool) error {
	if st, err := os.Stat(name); err == nil && !st.Mode().IsRegular() {
		return fmt.Errorf("%s is a device, a pipe or a folder, not a file", name)
	}
	if force {
		return os.Rename(tmp, name)
	}
	err := os.Link(tmp, name)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	if _, err := os.Lstat(name); err == nil {
		return fs.ErrExist
	}
	return os.Rename(tmp, name)
}
