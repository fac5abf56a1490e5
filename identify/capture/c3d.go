package capture

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/identify/record"
)

// A C3D file [C3D08] is a row of blocks of 512 bytes: a header, a section of parameters in groups, and the frames. Each frame has four
// words a point (x, y, z, and a residual whose sign says whether the point was seen) and behind them the analog samples. Words are
// 16-bit integers or 32-bit floats, in the order and format of the processor that wrote the file; the parameters say how they are
// scaled. Numbers of the parameters count, those of the header only where there is no parameter.

const (
	c3dKey   = 0x50
	c3dBlock = 512
)

// c3dFile is a file while it is read.
type c3dFile struct {
	*Capture
	data   []byte
	proc   processor
	params map[string]*c3dParam

	points, frames, channels int
	perFrame                 int     // analog samples a frame and channel
	firstFrame               int     // number of the first frame
	scale                    float64 // of integers, to the unit of lengths
	floats                   bool
	start                    int // byte of the first frame
}

// readC3D reads a C3D file.
func (c *Capture) readC3D(data []byte, o Options) error {
	c.Format = C3D
	f := &c3dFile{Capture: c, data: data}
	if err := f.parameters(); err != nil {
		return err
	}
	if err := f.layout(o); err != nil {
		return err
	}
	length, err := c.lengthIn(f.text("POINT", "UNITS"), "mm", o)
	if err != nil {
		return err
	}
	f.clock()
	names := f.labels("POINT", f.points, "point")
	computed := f.quantities(names)
	if err := f.readPoints(length, names, computed); err != nil {
		return err
	}
	if err := f.readAnalog(); err != nil {
		return err
	}
	f.readQuantities(names, computed)
	f.events()
	return nil
}

// layout finds the numbers of points, channels and frames, and compares them with the length of the file.
func (f *c3dFile) layout(o Options) error {
	word := func(n int) int { return int(f.proc.u16(f.data[2*(n-1):])) } // words of the header, counted from 1
	f.points = f.count("POINT", "USED", word(2))
	f.perFrame = word(10)
	if f.Rate = f.number("POINT", "RATE", 0); !(f.Rate > 0) {
		f.Rate = f.proc.f32(f.data[20:])
	}
	if o.Rate > 0 {
		if f.Rate != o.Rate {
			f.addFinding("rate", record.Note, "", o.Rate, "Hz", "", "%g frames/s as asked; the file says %g", o.Rate, f.Rate)
		}
		f.Rate = o.Rate
	}
	if !(f.Rate > 0) || !usable(f.Rate) {
		return f.fail(0, "Say how many frames a second there are: --rate 200.", "a rate of %g frames/s", f.Rate)
	}
	if f.perFrame > 0 {
		f.channels = word(3) / f.perFrame
	}
	f.scale = f.number("POINT", "SCALE", f.proc.f32(f.data[12:]))
	if header := f.proc.f32(f.data[12:]); header != f.scale && usable(header) && header != 0 {
		if header < 0 != (f.scale < 0) {
			f.addFinding("header", record.Warning, "", header, "", "", "the scale is %g in the header and %g in POINT:SCALE; the header counts",
				header, f.scale)
			f.scale = header
		}
	}
	if f.floats = f.scale < 0; f.scale == 0 || !usable(f.scale) {
		return f.fail(0, "Export it again.", "a scale of %g", f.scale)
	}
	if err := f.extent(word(2), word(4), word(5), word(9)); err != nil {
		return err
	}
	if f.points != word(2) {
		f.addFinding("header", record.Warning, "", float64(word(2)), "points", "",
			"the header says %d points, POINT:USED %d; the parameter counts", word(2), f.points)
	}
	return nil
}

// extent finds how many frames there are and where.
func (f *c3dFile) extent(points, first, last, block int) error {
	f.firstFrame = first
	frames := f.count("POINT", "FRAMES", int(uint16(last-first+1)))
	if long := f.number("POINT", "LONG_FRAMES", 0); frames >= 65535 || frames == 0 {
		start, end := f.longNumber("TRIAL", "ACTUAL_START_FIELD"), f.longNumber("TRIAL", "ACTUAL_END_FIELD")
		switch {
		case end >= start && start > 0:
			frames, f.firstFrame = end-start+1, start
		case long > 0 && long < 1<<40:
			frames = int(long)
		}
	} else if start, end := f.longNumber("TRIAL", "ACTUAL_START_FIELD"), f.longNumber("TRIAL", "ACTUAL_END_FIELD"); start > 0 {
		f.firstFrame = start
		frames = f.wrapped(frames, end-start+1)
	} else {
		frames = f.wrapped(frames, int(max(0, min(long, 1<<40))))
	}
	if at := f.count("POINT", "DATA_START", block); at != block {
		if block == 0 {
			block = at
		} else {
			f.addFinding("header", record.Warning, "", float64(block), "", "",
				"the frames begin in block %d by the header and in block %d by POINT:DATA_START; the header counts", block, at)
		}
	}
	f.start = c3dBlock * (block - 1)
	f.chooseChannels(frames)
	frames = f.beyondCounters(frames)
	if f.frameSize() == 0 || frames == 0 {
		f.frames = 0
		return f.fail(0, "Was the recording closed properly when it was written?", "no frame in it: %d points, %d analog channels, %d frames",
			f.points, f.channels, frames)
	}
	if block < 2 || f.start > len(f.data) {
		return f.fail(0, "Copy it again.", "cut short: the frames begin at byte %d, the file has %d", f.start, len(f.data))
	}
	there := (len(f.data) - f.start) / f.frameSize()
	if used := f.points; frames > there && points > 0 && points < used {
		if f.points = points; frames <= (len(f.data)-f.start)/f.frameSize() {
			f.addFinding("header", record.Warning, "", float64(used), "points", "",
				"POINT:USED says %d points, the header %d, and only so many have room in the file", used, points)
			there = frames
		} else {
			f.points = used
		}
	}
	if n := last - first + 1; frames > there && n == there { // some programs count one too many
		f.addFinding("header", record.Warning, "", float64(frames), "frames", "",
			"POINT:FRAMES says %d frames, the header %d, and so many there are", frames, n)
		frames = n
	}
	if frames > there {
		return f.fail(0, "Copy it again from where it was recorded.", "cut short: %d frames by the header, there are %d", frames, there)
	}
	if f.frames = frames; there > frames && f.bytesBehind(frames) >= c3dBlock {
		f.addFinding("header", record.Warning, "", float64(there-frames), "frames",
			"Is the recording longer in the program that made it? Then export it again.",
			"behind the %d frames that are counted there is room for %d more; they are not read", frames, there-frames)
	}
	return nil
}

// wrapped is the whole number of frames where frames is what 16 bits hold of it.
func (f *c3dFile) wrapped(frames, whole int) int {
	if whole <= frames || (whole-frames)%(1<<16) != 0 {
		return frames
	}
	f.addFinding("header", record.Warning, "", float64(frames), "frames", "",
		"POINT:FRAMES says %d frames, which is all that 16 bits hold of the %d of the trial; these count", frames, whole)
	return whole
}

// bytesBehind is the number of bytes behind so many frames; below 0 they are not there.
func (f *c3dFile) bytesBehind(frames int) int { return len(f.data) - f.start - frames*f.frameSize() }

// ends tells that the file ends with the last of so many frames, or with the block that it is in.
func (f *c3dFile) ends(frames int) bool {
	left := f.bytesBehind(frames)
	return left >= 0 && left < c3dBlock
}

// endsExactly is ends where what fills the last block is zero.
func (f *c3dFile) endsExactly(frames int) bool {
	return f.ends(frames) && len(bytes.Trim(f.data[len(f.data)-f.bytesBehind(frames):], "\x00")) == 0
}

// layout is how the samples of a frame lie.
type layout struct {
	channels, perFrame int
	counts             string // header or parameter
}

// chooseChannels decides between the analog channels and samples a frame of the header and those of ANALOG:USED and the rates, where these
// differ: those count with which the frames end where the file does, else those of the header.
func (f *c3dFile) chooseChannels(frames int) {
	header, perFrame, used := f.channels, f.perFrame, f.count("ANALOG", "USED", f.channels)
	ratio := 0 // samples a frame by the rates
	if x := math.Round(f.number("ANALOG", "RATE", 0) / f.Rate); x >= 1 && x < 1<<16 {
		ratio = int(x)
	}
	if used == header && (header == 0 || ratio == 0 || ratio == perFrame) {
		return
	}
	list := []layout{{header, perFrame, "header"}, {used, max(1, cmp.Or(perFrame, ratio)), "parameter"}}
	if ratio > 0 {
		list = append(list, layout{used, ratio, "parameter"}) // the header is wrong in both
	}
	if used != header && used > 0 && used*ratio == header*perFrame { // as many numbers a frame either way, and the rate agrees
		list = list[2:]
	}
	counts := "header"
choice:
	for _, ends := range []func(int) bool{f.endsExactly, f.ends} {
		for _, whole := range []func(int) int{func(n int) int { return n }, f.beyondTurns} {
			for _, l := range list {
				if f.channels, f.perFrame, counts = l.channels, l.perFrame, l.counts; ends(whole(frames)) {
					break choice
				}
			}
		}
		f.channels, f.perFrame, counts = header, perFrame, "header"
	}
	if used != header || counts != "header" {
		f.addFinding("header", record.Warning, "", float64(header), "channels", "", "the header says %d analog channels and %d samples a frame, "+
			"ANALOG:USED and RATE %d and %d; the frames are laid out by the %s", header, perFrame, used, ratio, counts)
	}
}

// counterTurn is the number of frames after which a counter of 16 bits begins again.
const counterTurn = 1 << 16

// beyondTurns is the largest number of frames that have room, if a counter began again at 0 some times before it came to frames.
func (f *c3dFile) beyondTurns(frames int) int {
	if f.frameSize() == 0 || f.start < c3dBlock || f.bytesBehind(frames) < c3dBlock {
		return frames
	}
	return frames + ((len(f.data)-f.start)/f.frameSize()-frames)/counterTurn*counterTurn
}

// beyondCounters is the number of frames where a counter of 16 bits was too small for it: it began again at 0, or stayed at its largest.
// The frames end where the file does.
func (f *c3dFile) beyondCounters(frames int) int {
	n := f.beyondTurns(frames)
	if frames == counterTurn-1 && f.frameSize() > 0 && f.start >= c3dBlock && !f.endsExactly(n) {
		zero := func(k int) bool { // as what fills the last block
			return !bytes.ContainsFunc(f.data[f.start+k*f.frameSize():][:f.frameSize()], func(r rune) bool { return r != 0 })
		}
		for n = (len(f.data) - f.start) / f.frameSize(); n > frames && f.ends(n-1) && zero(n-1); n-- {
		}
	}
	if n == frames || !f.ends(n) {
		return frames
	}
	f.addFinding("header", record.Warning, "", float64(frames), "frames", "",
		"the counters of the file say %d frames, which is all that 16 bits hold of %d; so many there are", frames, n)
	return n
}

// clock numbers and dates the frames.
func (f *c3dFile) clock() {
	f.Frame, f.Time = make([]int, f.frames), make([]float64, f.frames)
	for k := range f.frames {
		f.Frame[k], f.Time[k] = f.firstFrame+k, float64(k)/f.Rate
	}
}

// readPoints reads the paths of the markers, which points that are something else are not.
func (f *c3dFile) readPoints(length float64, names []string, other map[int]string) error {
	step, invalid, unscaled, zeros, computed := f.frameSize(), 0, f.scale, 0, 0
	if f.floats {
		unscaled = 1
	}
	for i := range f.points {
		if _, is := other[i]; is {
			continue
		}
		m := Marker{Name: names[i], Path: make([]r3.Vec, f.frames), Visible: make([]bool, f.frames)}
		for k := range f.frames {
			x, residual := f.point(f.data[f.start+k*step:], i)
			seen := residual >= 0
			switch {
			case residual < 0:
			case !(seen && usable(x.X) && usable(x.Y) && usable(x.Z)):
				invalid++
				seen = false
			case x == r3.Vec{}:
				zeros++
				seen = false
			case residual == 0:
				computed++
			}
			if m.Visible[k] = seen; seen {
				m.Path[k] = r3.Scale(unscaled*length, x)
			} else {
				m.Path[k] = nowhere
			}
		}
		f.Markers = append(f.Markers, m)
	}
	if invalid > 0 {
		f.addFinding("not-finite", record.Warning, "", float64(invalid), "points", "",
			"%d points are no usable numbers and are taken as not seen", invalid)
	}
	if zeros > 0 {
		f.addFinding("zeros", record.Note, "", float64(zeros), "points", "", "%d points at exactly (0, 0, 0) are taken as not seen", zeros)
	}
	if computed > 0 {
		f.addFinding("computed", record.Note, "", float64(computed), "points",
			"Use the recording before gaps were filled and paths were smoothed, if there is one.",
			"%d points have the residual 0: they were computed, filled in or filtered, or the program keeps no residuals", computed)
	}
	return nil
}

// frameSize is the distance of two frames, bytes.
func (f *c3dFile) frameSize() int {
	if f.floats {
		return 4 * (4*f.points + f.channels*f.perFrame)
	}
	return 2 * (4*f.points + f.channels*f.perFrame)
}

// point is the i-th point of a frame as it stands there, and its residual: below 0 it was not seen.
func (f *c3dFile) point(frame []byte, i int) (x r3.Vec, residual float64) {
	if f.floats {
		b := frame[16*i:]
		x = r3.Vec{X: f.proc.f32(b), Y: f.proc.f32(b[4:]), Z: f.proc.f32(b[8:])}
		fourth := f.proc.f32(b[12:])
		if !(math.Abs(fourth) < 1<<31) {
			return x, math.NaN()
		}
		if fourth < 0 {
			return x, -1
		}
		return x, float64(int64(fourth) & 0xff)
	}
	b := frame[8*i:]
	x = r3.Vec{X: float64(int16(f.proc.u16(b))), Y: float64(int16(f.proc.u16(b[2:]))), Z: float64(int16(f.proc.u16(b[4:])))}
	if fourth := int16(f.proc.u16(b[6:])); fourth >= 0 {
		return x, float64(fourth & 0xff)
	}
	return x, -1
}

// readAnalog reads the analog channels: (sample − offset)·scale·general scale.
func (f *c3dFile) readAnalog() error {
	if f.channels == 0 {
		return nil
	}
	names := f.labels("ANALOG", f.channels, "channel")
	units := f.texts("ANALOG", "UNITS")
	unsigned := strings.EqualFold(f.text("ANALOG", "FORMAT"), "UNSIGNED")
	scales, offsets := f.numbers("ANALOG", "SCALE", false), f.numbers("ANALOG", "OFFSET", unsigned)
	general := f.number("ANALOG", "GEN_SCALE", 1)
	if n := len(scales); n < f.channels {
		f.addFinding("analog-scale", record.Warning, "", float64(n), "channels", "",
			"ANALOG:SCALE has %d values for %d channels; the others are as the converter counted", n, f.channels)
	}
	step, size := f.frameSize(), 2
	if f.floats {
		size = 4
	}
	f.Analog = make([]Channel, f.channels)
	rate := f.Rate * float64(f.perFrame)
	if said := f.number("ANALOG", "RATE", rate); math.Abs(said-rate) > 1e-3*rate {
		f.addFinding("analog-rate", record.Warning, "", said, "Hz", "", "ANALOG:RATE says %g Hz, %d samples a frame are %g Hz; these count",
			said, f.perFrame, rate)
	}
	notFinite := 0
	for j := range f.Analog {
		scale, offset := general, 0.0
		if j < len(scales) {
			scale *= scales[j]
		}
		if j < len(offsets) {
			offset = offsets[j]
		}
		a := Channel{Name: names[j], Unit: cell(units, j), Rate: rate, Samples: make([]float64, f.frames*f.perFrame)}
		for k := range a.Samples {
			frame := f.data[f.start+k/f.perFrame*step+size*4*f.points:]
			at := frame[size*(k%f.perFrame*f.channels+j):]
			x := 0.0
			switch {
			case f.floats:
				x = f.proc.f32(at)
			case unsigned:
				x = float64(f.proc.u16(at))
			default:
				x = float64(int16(f.proc.u16(at)))
			}
			if x = (x - offset) * scale; !usable(x) {
				x = math.NaN()
				notFinite++
			}
			a.Samples[k] = x
		}
		f.Analog[j] = a
	}
	if notFinite > 0 {
		f.addFinding("not-finite", record.Warning, "", float64(notFinite), "samples", "", "%d analog samples are no usable numbers", notFinite)
	}
	return nil
}

// headerEvents is the word in front of the events of the header, whose labels have four letters.
const headerEvents = 12345

// events reads the group EVENT, minutes and seconds since frame 1 of the trial, or else the events of the header, in seconds. The file may
// hold a later part of the trial. Where no event would lie in the file then, and some do otherwise, they count from its first frame.
func (f *c3dFile) events() {
	times := f.numbers("EVENT", "TIMES", false)
	names, contexts := f.texts("EVENT", "LABELS"), f.texts("EVENT", "CONTEXTS")
	n := min(f.count("EVENT", "USED", 0), len(times)/2)
	at := func(i int) float64 { return 60*times[2*i] + times[2*i+1] }
	if f.params["EVENT:USED"] == nil && f.proc.u16(f.data[298:]) == headerEvents {
		n, names = min(int(f.proc.u16(f.data[300:])), 18), nil
		for i := range n {
			names = append(names, plainName(strings.ToValidUTF8(strings.TrimRight(string(f.data[396+4*i:][:4]), "\x00"), "?")))
		}
		at = func(i int) float64 { return f.proc.f32(f.data[304+4*i:]) }
	}
	from, end := float64(max(f.firstFrame-1, 0))/f.Rate, float64(f.frames)/f.Rate
	within, without := 0, 0 // of the file, counted from frame 1 and from the first frame of the file
	for i := range n {
		t := at(i)
		if !usable(t) {
			continue
		}
		if t >= from && t <= from+end {
			within++
		}
		if t >= 0 && t <= end {
			without++
		}
		name := strings.TrimSpace(cell(contexts, i) + " " + cell(names, i))
		f.Events = append(f.Events, Event{Name: name, Time: t - from})
	}
	if from > 0 && within == 0 && without > 0 {
		f.addFinding("events", record.Warning, "", float64(without), "events", "",
			"the events are counted from the first frame of the file: counted from the start of the trial, %.6g s before it, none would lie in it",
			from)
		for i := range f.Events {
			f.Events[i].Time += from
		}
	}
}

// labels are the names of points or channels; one without gets its number.
func (f *c3dFile) labels(group string, n int, what string) []string {
	out := f.texts(group, "LABELS")
	names := make([]string, n)
	for i := range names {
		if names[i] = cell(out, i); names[i] == "" {
			names[i] = fmt.Sprintf("%s %d", what, i+1)
		}
	}
	return names
}
