package capture

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"strings"

	"hilrig/engine/spelling"
	"hilrig/identify/record"
)

// Options are what the user knows of a file and the file does not say. The zero value takes everything from the file.
type Options struct {
	Rate float64 // Hz, of the frames; 0: from the file
	Unit string  // of lengths, mm, cm, m, in or ft: instead of the unit that the file names
}

// largestFile bounds what is read, bytes, unpacked.
const largestFile = 1 << 31

// Read reads a recording, plain or gzip.
func Read(path string, o Options) (*Capture, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &record.Error{Msg: err.Error()}
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, largestFile+1))
	if err != nil {
		return nil, &record.Error{Msg: err.Error()}
	}
	sum := sha256.Sum256(data)
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		if data, err = unpack(data); err != nil {
			return nil, &record.Error{File: path, Msg: "the compressed file is cut short or damaged: " + err.Error(), Hint: "Copy it again."}
		}
	}
	c, err := Decode(path, data, o)
	if err != nil {
		return nil, err
	}
	c.SHA256 = hex.EncodeToString(sum[:])
	return c, nil
}

// FormatOf tells the format of a file by its content; "" for none that is read here, or a file that cannot be read.
func FormatOf(path string) Format {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	head, _ := io.ReadAll(io.LimitReader(f, 1<<20)) // what there is will do
	if z, err := gzip.NewReader(bytes.NewReader(head)); err == nil {
		head, _ = io.ReadAll(io.LimitReader(z, 1<<20)) // the rest of the file is missing
	}
	return Detect(head)
}

func unpack(data []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(z, largestFile+1))
}

// Decode reads a recording from memory. name stands in messages.
func Decode(name string, data []byte, o Options) (*Capture, error) {
	c := &Capture{File: name}
	if len(data) > largestFile {
		return nil, c.fail(0, "Cut the recording.", "more than %d bytes", largestFile)
	}
	if _, ok := lengths[o.Unit]; o.Unit != "" && !ok {
		return nil, c.fail(0, spelling.Hint(o.Unit, lengthNames, "Known: "+strings.Join(lengthNames, ", ")+"."), "%q is no unit of length",
			o.Unit)
	}
	if !usable(o.Rate) || o.Rate < 0 {
		return nil, c.fail(0, "Such as 200.", "a rate of %g Hz", o.Rate)
	}
	var err error
	switch Detect(data) {
	case C3D:
		err = c.readC3D(data, o)
	case TRC:
		err = c.readTRC(data, o)
	case Vicon:
		err = c.readVicon(data, o)
	case Motive:
		err = c.readMotive(data, o)
	case Table:
		err = c.readTable(data, o)
	default:
		return nil, c.unknown(data)
	}
	if err != nil {
		return nil, err
	}
	if len(c.Time) == 0 {
		return nil, c.fail(0, "Was the recording closed properly when it was written?", "no frame in it")
	}
	c.uniqueNames()
	return c, nil
}

// Detect tells the format by the first bytes; "" for none.
func Detect(data []byte) Format {
	if len(data) >= 512 && data[1] == c3dKey && data[0] > 0 {
		return C3D
	}
	if bytes.IndexByte(data[:min(len(data), 4096)], 0) >= 0 {
		return ""
	}
	text := newRows(data[:min(len(data), 1<<20)])
	first, err := text.read()
	switch {
	case err != nil:
		return ""
	case strings.HasPrefix(first[0], "PathFileType"):
		return TRC
	case first[0] == "Format Version":
		return Motive
	case viconSection(first) != "":
		return Vicon
	}
	if _, ok := tableHead(data); ok {
		return Table
	}
	return ""
}

// unknown says what else a file is.
func (c *Capture) unknown(data []byte) error {
	const hint = "Read are C3D, TRC, CSV of Vicon and Motive, and tables with columns such as time, ball.x, ball.y, ball.z, ball.qw; " +
		"docs/reference/motion-capture.md has the formats."
	switch {
	case len(data) == 0:
		return c.fail(0, "Was it closed properly when it was written?", "empty file")
	case strings.EqualFold(filepath.Ext(c.File), ".c3d"):
		return c.fail(0, "Export it again from the program that recorded it.", "is not a C3D file: the second byte is not %d, or it is shorter "+
			"than its header of 512 bytes", c3dKey)
	}
	if what, hint := record.Unread(data[:min(len(data), 1<<14)]); what != "" {
		return c.fail(0, hint, "%s", what)
	}
	return c.fail(0, hint, "no motion-capture recording that is known here")
}

// uniqueNames numbers markers, bodies and channels of one name.
func (c *Capture) uniqueNames() {
	unique := func(what string, n int, name func(i int) *string) {
		seen, first, again := map[string]int{}, "", 0
		for i := range n {
			seen[*name(i)]++
		}
		count := map[string]int{}
		for i := range n {
			old := *name(i)
			for count[old]++; count[old] > 1; count[old]++ {
				next := numbered(old, count[old])
				if seen[next] == 0 {
					seen[next], *name(i) = 1, next
					if again++; first == "" {
						first = next
					}
					break
				}
			}
		}
		if again > 0 {
			c.addFinding("same-name", record.Warning, first, float64(again), "names",
				"Short labels are often cut off; the program that recorded may export longer ones.",
				"%d %s have a name that another one has and are numbered, such as %s", again, what, first)
		}
	}
	unique("markers", len(c.Markers), func(i int) *string { return &c.Markers[i].Name })
	unique("bodies", len(c.Bodies), func(i int) *string { return &c.Bodies[i].Name })
	unique("channels", len(c.Analog), func(i int) *string { return &c.Analog[i].Name })
}
