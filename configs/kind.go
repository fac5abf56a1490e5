package configs

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"hilrig/configs/schema"
)

// Kind of a file.
type Kind uint8

const (
	UnknownFile     Kind = iota
	RigFile              // hil run
	SimulateFile         // hil simulate
	ContactFile          // hil simulate, bodies in contact
	IdentifyFile         // hil identify, hil compare
	StudyFile            // hil study
	BallFile             // hil simulate, a ball in front of cameras
	BallFitFile          // hil identify, markers on a ball
	ManipulatorFile      // hil simulate, a chain whose tip slides on a beam
	MachineFile          // hil simulate, bodies, joints, loops and motors
	MachineFitFile       // hil identify, positions and torques of a machine
	ResponseFile         // hil identify, inputs and outputs of a machine
	NumbersFile          // columns of numbers: a measurement
	RunFile              // a recording of this program
	MotionFile           // C3D or TRC: hil import
	RobotFile            // URDF or MJCF: hil import
)

// KindOf tells by its content what a file describes. A file that cannot be read, or says nothing of itself, is unknown.
func KindOf(path string) Kind {
	head := firstBytes(path)
	ext := strings.ToLower(filepath.Ext(strings.TrimSuffix(path, ".gz")))
	switch {
	case bytes.HasPrefix(head, []byte("\x89MCAP")) || ext == ".mcap":
		return RunFile
	case ext == ".c3d" || ext == ".trc":
		return MotionFile
	case ext == ".urdf" || ext == ".mjcf" || ext == ".xml" &&
		(bytes.Contains(head, []byte("<mujoco")) || bytes.Contains(head, []byte("<robot"))):
		return RobotFile
	case slices.Contains([]string{".csv", ".tsv", ".mat"}, ext) || bytes.HasPrefix(head, []byte("MATLAB")):
		return NumbersFile
	}
	data, err := schema.ReadFile(path)
	if err != nil {
		return UnknownFile
	}
	if kind := kindOf(data); kind != UnknownFile {
		return kind
	}
	if len(ColumnNames(path)) > 1 && !slices.Contains([]string{".yaml", ".yml", ".json"}, ext) {
		return NumbersFile
	}
	return UnknownFile
}

// kindOf tells the kind of a YAML file in memory.
func kindOf(data []byte) Kind {
	var top map[string]any
	if yaml.Unmarshal(data, &top) != nil {
		return UnknownFile
	}
	has := func(key string) bool { _, ok := top[key]; return ok }
	switch {
	case has("vary") || has("base"):
		return StudyFile
	case has("devices") || has("axes") || has("rig") || has("loop") && !has("data"): // joint has a loop of another kind
		return RigFile
	case has("machine") && has("data") && has("outputs"):
		return ResponseFile
	case has("machine") && has("data"):
		return MachineFitFile
	case has("machine"):
		return MachineFile
	case has("ball") && has("data"):
		return BallFitFile
	case has("ball"):
		return BallFile
	case has("manipulator"):
		return ManipulatorFile
	case has("system"):
		return ContactFile
	case has("plant") || has("input"):
		return SimulateFile
	case has("data"):
		return IdentifyFile
	}
	return UnknownFile
}

// firstBytes of a file, unpacked.
func firstBytes(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, 1<<14)
	n, _ := io.ReadFull(f, head)
	head = head[:n]
	if z, err := gzip.NewReader(bytes.NewReader(head)); err == nil {
		text := make([]byte, 1<<14)
		n, _ := io.ReadFull(z, text) // the rest of the file is missing: what there is will do
		head = text[:n]
	}
	return head
}

// ColumnNames are those of a text with columns: the cells of its first line that is no remark.
func ColumnNames(path string) []string {
	for line := range strings.Lines(string(firstBytes(path))) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		names := strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ';' || r == '\t' })
		for i := range names {
			names[i] = strings.Trim(names[i], " \"")
		}
		return names
	}
	return nil
}
