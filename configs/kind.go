package configs

import "github.com/goccy/go-yaml"

// Kind of a file.
type Kind uint8

const (
	RigFile      Kind = iota // hil run
	SimulateFile             // hil simulate
	IdentifyFile             // hil identify
	ContactFile              // hil simulate, bodies in contact
	StudyFile                // hil study
)

// KindOf tells by its sections what a file describes; a file that cannot be read, or says nothing of itself, counts as a rig.
func KindOf(path string) Kind {
	data, err := readFile(path)
	if err != nil {
		return RigFile
	}
	return kindOf(data)
}

// kindOf is KindOf for a file in memory.
func kindOf(data []byte) Kind {
	var top map[string]any
	if yaml.Unmarshal(data, &top) != nil {
		return RigFile
	}
	has := func(key string) bool { _, ok := top[key]; return ok }
	switch {
	case has("vary") || has("base"):
		return StudyFile
	case has("device") || has("rig") || has("loop") && !has("data"): // joint has a loop of another kind
		return RigFile
	case has("system"):
		return ContactFile
	case has("plant") || has("input"):
		return SimulateFile
	case has("data"):
		return IdentifyFile
	}
	return RigFile
}
