package study

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// ManifestFormat is the version of the manifest that this program writes and reads.
const ManifestFormat = 2

// ManifestName is the file in the folder of a study that fixes what is to be done; TaskFolder holds what is done.
const (
	ManifestName = "manifest.json"
	TaskFolder   = "tasks"
)

// Manifest fixes a study before anything runs: by what program, from which inputs, cut into which tasks. Tasks may then be done
// anywhere, in any order, more than once, and give the same bytes.
type Manifest struct {
	Format      int        `json:"hil_study"`
	Description string     `json:"about"` // for people
	Study       string     `json:"study"` // its name, or the path of its file from the folder of the manifest
	Changes     []Change   `json:"changes,omitempty"`
	Program     Program    `json:"program"`
	Inputs      []Input    `json:"inputs"`
	Runs        int        `json:"runs"`
	Tasks       []TaskSpan `json:"tasks"`
}

// Change is a flag that stood over the file of the study.
type Change struct {
	Key   string `json:"key"`
	Value int    `json:"value"`
}

// Program is what computes. Architectures differ in the last digits, because some fuse multiplication and addition.
type Program struct {
	Version string `json:"version"`
	Build   string `json:"build"` // digest
	Arch    string `json:"arch"`  // GOARCH
}

// Input is something that the outcomes depend on.
type Input struct {
	Name   string `json:"name"` // of a file, or what it is
	SHA256 string `json:"sha256"`
}

// TaskSpan is a run of runs that one program does one after the other, with the seeds that they get.
type TaskSpan struct {
	FirstRun     int     `json:"first"`
	Runs         int     `json:"runs"`
	Seeds        []int64 `json:"seeds,omitempty"` // nil: runs have none
	Dependencies []int   `json:"after,omitempty"` // tasks before this one that have to be done first
}

// SplitTasks makes tasks of so many runs each. seeds of all runs, or nil.
func SplitTasks(runs, each int, seeds []int64) []TaskSpan {
	return splitTasks(runs, seeds, func(int) int { return each })
}

// Taper makes tasks that are the shorter the fewer runs are left, at least so many runs each: few files, and processors of one machine end
// together.
func Taper(runs, least int, seeds []int64) []TaskSpan {
	return splitTasks(runs, seeds, func(left int) int { return max(least, left/64) })
}

func splitTasks(runs int, seeds []int64, each func(left int) int) (tasks []TaskSpan) {
	for first, n := 0, 0; first < runs; first += n {
		n = min(each(runs-first), runs-first)
		t := TaskSpan{FirstRun: first, Runs: n}
		if seeds != nil {
			t.Seeds = seeds[first : first+t.Runs]
		}
		tasks = append(tasks, t)
	}
	return tasks
}

// check tells whether the tasks make up the runs.
func (m *Manifest) check() error {
	next := 0
	for i, t := range m.Tasks {
		if t.FirstRun != next || t.Runs < 1 || (t.Seeds != nil) != (m.Tasks[0].Seeds != nil) || t.Seeds != nil && len(t.Seeds) != t.Runs {
			return fmt.Errorf("task %d of %d runs begins with run %d and has %d seeds, want it to begin with run %d", i, t.Runs, t.FirstRun,
				len(t.Seeds), next)
		}
		for _, k := range t.Dependencies {
			if k < 0 || k >= i {
				return fmt.Errorf("task %d comes after task %d, want one before it", i, k)
			}
		}
		next += t.Runs
	}
	if next != m.Runs || next == 0 {
		return fmt.Errorf("its tasks make up %d runs, want %d", next, m.Runs)
	}
	return nil
}

// Rounds are the rounds in which tasks can be done: a task is in the round after the last of those that it comes after.
func (m *Manifest) Rounds() []int {
	round := make([]int, len(m.Tasks))
	for i, t := range m.Tasks {
		for _, k := range t.Dependencies {
			round[i] = max(round[i], round[k]+1)
		}
	}
	return round
}

// Seeds are those of all runs; nil: they have none.
func (m *Manifest) Seeds() (all []int64) {
	for _, t := range m.Tasks {
		all = append(all, t.Seeds...)
	}
	return all
}

// Changed says what is different now from when the study was planned: the program, or inputs by name. now needs no tasks.
// The architecture counts for the program.
func (m *Manifest) Changed(now *Manifest) (program string, inputs []string) {
	p, q := m.Program, now.Program
	switch {
	case p.Arch != q.Arch:
		program = fmt.Sprintf("it was planned for %s, and this is %s: results of the two differ in the last digits and are not mixed", p.Arch,
			q.Arch)
	case p.Build != q.Build && p.Version != q.Version:
		program = fmt.Sprintf("the program was %s then, and is %s now", p.Version, q.Version)
	case p.Build != q.Build:
		program = fmt.Sprintf("the program, %s, was built anew since (%.8s… then, %.8s… now)", p.Version, p.Build, q.Build)
	}
	then := map[string]string{}
	for _, in := range m.Inputs {
		then[in.Name] = in.SHA256
	}
	for _, in := range now.Inputs {
		sum, known := then[in.Name]
		switch {
		case !known:
			inputs = append(inputs, in.Name+" is read now and was not then")
		case sum != in.SHA256:
			inputs = append(inputs, in.Name+" has changed")
		}
		delete(then, in.Name)
	}
	for _, in := range m.Inputs {
		if _, left := then[in.Name]; left {
			inputs = append(inputs, in.Name+" was read then and is not now")
		}
	}
	if m.Runs != now.Runs {
		inputs = append(inputs, fmt.Sprintf("it had %d runs then and has %d now", m.Runs, now.Runs))
	}
	return program, inputs
}

// Altered tells whether seeds or the order of tasks are others than those that the same program gives the study now: the file was changed
// since.
func (m *Manifest) Altered(now *Manifest) bool {
	after := func(m *Manifest) map[int][]int {
		out := map[int][]int{}
		for i, t := range m.Tasks {
			if len(t.Dependencies) > 0 {
				out[i] = t.Dependencies
			}
		}
		return out
	}
	return !slices.Equal(m.Seeds(), now.Seeds()) || !maps.EqualFunc(after(m), after(now), slices.Equal)
}

// Foreign is the refusal of a folder or file that belongs to another study, or to none.
type Foreign struct{ Path, Why string }

func (e *Foreign) Error() string { return fmt.Sprintf("%s: %s", e.Path, e.Why) }

// Folder is a planned study on disk. Any number of programs may work in it at the same time: no task's file is ever written by
// two, and whoever ends a task first or last puts the same bytes in its place.
type Folder struct {
	Manifest *Manifest
	dir      string
	digest   string // of the manifest, which every task's file carries
}

// Open reads the manifest of a folder.
func Open(dir string) (*Folder, error) {
	path := filepath.Join(dir, ManifestName)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f := &Folder{Manifest: &Manifest{}, dir: dir, digest: fmt.Sprintf("%x", sha256.Sum256(text))}
	var head struct {
		Format int `json:"hil_study"`
	}
	switch err := json.Unmarshal(text, &head); {
	case err != nil || head.Format == 0:
		return nil, &Foreign{path, "is not the manifest of a study"}
	case head.Format != ManifestFormat:
		return nil, &Foreign{path, fmt.Sprintf("was written in format %d, this program reads %d", head.Format, ManifestFormat)}
	}
	if err := strictly(text, f.Manifest); err != nil {
		return nil, &Foreign{path, "is damaged: " + err.Error()}
	}
	if err := f.Manifest.check(); err != nil {
		return nil, &Foreign{path, "is damaged: " + err.Error()}
	}
	return f, os.MkdirAll(filepath.Join(dir, TaskFolder), 0o755)
}

// Digest is the SHA-256 of the manifest.
func (f *Folder) Digest() string { return f.digest }

// Discard removes the manifest of a folder and everything done under it. What is no manifest is left alone and refused.
func Discard(dir string) error {
	if _, err := Open(dir); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(dir, ManifestName)); err != nil {
		return err
	}
	return os.RemoveAll(filepath.Join(dir, TaskFolder))
}
