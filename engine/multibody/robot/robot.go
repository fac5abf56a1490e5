// Package robot reads machines from the files of other programs: URDF, the description of robots in ROS, and MJCF, the model of MuJoCo.
// Taken are bodies with their inertias, joints with their axes, damping, friction and armature, mimic joints and equality constraints as
// couplings and loops, sites as frames. Shapes are looked at only where MJCF derives inertias from them. What is left out is said.
package robot

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/multibody"
	"hilrig/engine/rotation"
)

// Robot is a machine that was read.
type Robot struct {
	Format  string // URDF, MJCF
	Name    string
	Spec    multibody.Spec
	Joints  map[string]string // body → joint, by their names in the file
	Ignored []string          // what the file says and is not taken, how often
	Assumed []string          // where the file says what no machine can be, and what stands in its place
}

// ErrFormat is what Read says of other files.
var ErrFormat = errors.New("neither a URDF (robot) nor an MJCF (mujoco)")

// maxBytes is the size of a file, and of one that it includes (bytes).
const maxBytes = 64 << 20

// opener opens a file by its name in another one.
type opener func(name string) (io.ReadCloser, error)

// ReadFile is Read of a file and of those that it includes, whose names start at its folder.
func ReadFile(path string) (*Robot, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return readFrom(in, func(name string) (io.ReadCloser, error) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(path), name)
		}
		return os.Open(name)
	})
}

// Read reads a file that includes no other. The machine has been built once: the error says what is wrong with it, with the names of the
// file.
func Read(in io.Reader) (*Robot, error) { return readFrom(in, nil) }

func readFrom(in io.Reader, open opener) (*Robot, error) {
	root, err := parse(io.LimitReader(in, maxBytes))
	if err != nil {
		return nil, err
	}
	if root.name == "mujoco" {
		if err := include(root, open, map[string]bool{}); err != nil {
			return nil, err
		}
	}
	r := &reader{robot: Robot{Joints: map[string]string{}, Name: root.text("name")}, ignored: map[string]int{},
		usedNames: map[string]bool{multibody.Ground: true}}
	switch root.name {
	case "robot":
		r.robot.Format = "URDF"
		r.urdf(root)
	case "mujoco":
		r.robot.Format, r.robot.Name = "MJCF", root.text("model")
		r.mjcf(root)
	default:
		return nil, fmt.Errorf("the root is <%s>: %w", root.name, ErrFormat)
	}
	if len(r.errs) == 0 {
		r.errs = append(r.errs, r.mend())
	}
	if err := errors.Join(r.errs...); err != nil {
		return nil, err
	}
	for what, n := range r.ignored {
		r.robot.Ignored = append(r.robot.Ignored, fmt.Sprintf("%s (%d)", what, n))
	}
	slices.Sort(r.robot.Ignored)
	return &r.robot, nil
}

type reader struct {
	robot     Robot
	ignored   map[string]int
	usedNames map[string]bool // names of bodies, frames, loops and couplings
	errs      []error
}

func (r *reader) fail(e *element, format string, a ...any) {
	r.errs = append(r.errs, fmt.Errorf("line %d, %v: %s", e.line, e, fmt.Sprintf(format, a...)))
}

func (r *reader) ignore(what string) { r.ignored[what]++ }

// element is a node of the file.
type element struct {
	name string
	line int
	attr map[string]string
	kids []*element

	// of the frames of MJCF around it
	frame multibody.Pose
	class string // of defaults
}

func (e *element) String() string {
	if n := e.attr["name"]; n != "" {
		return fmt.Sprintf("<%s name=%q>", e.name, n)
	}
	return "<" + e.name + ">"
}

// undeclared is an XML file behind its declaration. Bullet's files have the version 0.0, which readers of robots do not look at; the text
// is taken as UTF-8, and is refused where it is not.
func undeclared(in io.Reader) io.Reader {
	const most = 1024
	b := bufio.NewReaderSize(in, most)
	head, _ := b.Peek(most)
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	if end := bytes.Index(text, []byte("?>")); bytes.HasPrefix(text, []byte("<?xml")) && end > 0 {
		skipped, _ := b.Discard(len(head) - len(text) + end + len("?>"))
		// lines count from the beginning of the file
		return io.MultiReader(strings.NewReader(strings.Repeat("\n", bytes.Count(head[:skipped], []byte("\n")))), b)
	}
	return b
}

// parse reads XML as a tree.
func parse(in io.Reader) (*element, error) {
	d := xml.NewDecoder(undeclared(in))
	d.Strict = true
	var stack []*element
	for {
		token, err := d.Token()
		if err == io.EOF {
			return nil, errors.New("no XML element: the file is empty or cut off")
		}
		if err != nil {
			return nil, fmt.Errorf("not valid XML: %w", err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			if strings.Contains(t.Name.Space, "xacro") {
				return nil, fmt.Errorf("<xacro:%s>: macros are not expanded here: run xacro on the file first", t.Name.Local)
			}
			line, _ := d.InputPos()
			e := &element{name: t.Name.Local, line: line, attr: map[string]string{}}
			for _, a := range t.Attr {
				e.attr[a.Name.Local] = a.Value
			}
			if len(stack) > 0 {
				top := stack[len(stack)-1]
				top.kids = append(top.kids, e)
			}
			if stack = append(stack, e); len(stack) > 200 {
				return nil, errors.New("elements are nested more than 200 deep")
			}
		case xml.EndElement:
			if len(stack) == 1 {
				return stack[0], nil
			}
			stack = stack[:len(stack)-1]
		}
	}
}

func (e *element) text(key string) string { return strings.TrimSpace(e.attr[key]) }

// first child of a name; nil: none.
func (e *element) first(name string) *element {
	for _, k := range e.kids {
		if k.name == name {
			return k
		}
	}
	return nil
}

// numbers reads an attribute of n numbers (n < 0: any number of them); without it, instead.
func (r *reader) numbers(e *element, key string, n int, instead ...float64) []float64 {
	s, ok := e.attr[key]
	if !ok {
		return instead
	}
	var out []float64
	for f := range strings.FieldsSeq(s) {
		x, err := strconv.ParseFloat(f, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			r.fail(e, "%s=%q: %q is no finite number", key, s, f)
			return instead
		}
		out = append(out, x)
	}
	if n >= 0 && len(out) != n {
		r.fail(e, "%s=%q: %d numbers, want %d", key, s, len(out), n)
		return instead
	}
	return out
}

func (r *reader) number(e *element, key string, instead float64) float64 {
	return r.numbers(e, key, 1, instead)[0]
}

func (r *reader) vector(e *element, key string, instead r3.Vec) r3.Vec {
	v := r.numbers(e, key, 3, instead.X, instead.Y, instead.Z)
	return r3.Vec{X: v[0], Y: v[1], Z: v[2]}
}

// axisRotation is a turn by an angle (rad) about an axis of length one.
func axisRotation(axis r3.Vec, angle float64) quat.Number { return rotation.Exp(r3.Scale(angle, axis)) }

// clean is a name as machine files take it.
func clean(name string) string {
	return strings.Map(func(c rune) rune {
		if c == '-' || c == '_' || unicode.IsLetter(c) || unicode.IsNumber(c) {
			return c
		}
		return '_'
	}, name)
}

// unique is a name that nothing has yet, and takes it: the files have names for bodies, joints and sites apart, and clean makes some equal.
func (r *reader) unique(name, kind string) string {
	free := name
	for n := 1; r.usedNames[free]; n++ {
		if free = name + "_" + kind; n > 1 {
			free += strconv.Itoa(n)
		}
	}
	r.usedNames[free] = true
	return free
}
