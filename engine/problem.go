package engine

import "fmt"

// Problem is what is wrong with a value of a section of a file: where, and what is to be said of it. Whoever read the file knows the line.
type Problem struct {
	Path string // below the section, with dots between the keys; "": the section itself
	Text string
}

// Problemf makes one.
func Problemf(path, format string, a ...any) *Problem {
	return &Problem{Path: path, Text: fmt.Sprintf(format, a...)}
}

func (p *Problem) Error() string {
	if p.Path == "" {
		return p.Text
	}
	return p.Path + ": " + p.Text
}

// Problems takes apart what errors.Join put together. An error of another kind speaks of the section itself.
func Problems(err error) []Problem {
	switch e := err.(type) {
	case nil:
		return nil
	case *Problem:
		return []Problem{*e}
	case interface{ Unwrap() []error }:
		var all []Problem
		for _, one := range e.Unwrap() {
			all = append(all, Problems(one)...)
		}
		return all
	}
	return []Problem{{Text: err.Error()}}
}
