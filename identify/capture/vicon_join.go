package capture

import (
	"math"
	"slices"

	"hilrig/identify/record"
)

// joinVicon brings the sections together. The frames are those of the first section with markers or bodies, else of the first one.
func (c *Capture) joinVicon(parts []*viconPart, o Options) error {
	parts = slices.DeleteFunc(parts, func(p *viconPart) bool {
		if len(p.Time) > 0 {
			return false
		}
		c.addFinding("empty-section", record.Warning, "", 0, "", "", "the section %s in line %d holds no frame", p.title, p.line)
		return true
	})
	if len(parts) == 0 {
		return nil // no frame: said by Decode
	}
	base := parts[max(slices.IndexFunc(parts, func(p *viconPart) bool { return len(p.Markers)+len(p.Bodies) > 0 }), 0)]
	base.definesFrames = true
	c.Rate, c.Frame, c.Time = base.Rate, base.Frame, base.Time
	for _, p := range parts {
		c.Findings = append(c.Findings, p.Findings...)
		if len(p.Markers)+len(p.Bodies) > 0 && p.Rate != c.Rate {
			return c.fail(p.line, "Export the sections into files of their own.", "the %s have %g frames/s, those before %g", p.title, p.Rate,
				c.Rate)
		}
		if err := c.placeFrames(p); err != nil {
			return err
		}
		if err := c.placeSignals(p); err != nil {
			return err
		}
	}
	return nil
}

// placeFrames takes the markers and bodies of a section; frames that the others do not have are counted and left out.
func (c *Capture) placeFrames(p *viconPart) error {
	if len(p.Markers)+len(p.Bodies) == 0 {
		return nil
	}
	if p.definesFrames || slices.Equal(p.Frame, c.Frame) {
		c.Markers, c.Bodies = append(c.Markers, p.Markers...), append(c.Bodies, p.Bodies...)
		return nil
	}
	if len(c.Frame)*(len(p.Markers)+len(p.Bodies)) > maxPoints {
		return c.fail(p.line, "Export the sections into files of their own.", "the %s have other frames than the section before", p.title)
	}
	at, strangers := p.framesAt(c.Frame), len(p.Frame)
	for _, k := range at {
		if k >= 0 {
			strangers--
		}
	}
	for i := range p.Markers {
		c.Markers = append(c.Markers, p.Markers[i].pick(at))
	}
	for i := range p.Bodies {
		c.Bodies = append(c.Bodies, p.Bodies[i].pick(at))
	}
	if strangers > 0 {
		c.addFinding("frames-differ", record.Warning, "", float64(strangers), "frames", "Export all sections over the same frames.",
			"%d frames of the %s are not among the frames of the section before and are left out", strangers, p.title)
	}
	return nil
}

// placeSignals takes the signals of a section at its own rate, with NaN where samples are missing.
func (c *Capture) placeSignals(p *viconPart) error {
	if len(p.Analog) == 0 {
		return nil
	}
	n := p.Frame[len(p.Frame)-1] - p.Frame[0] + 1 // samples, if none were missing
	if n > 4*len(p.Frame)+1000 {
		return c.fail(p.line, "Cut the recording into its parts.", "the %s have %d samples over %d of their periods", p.title, len(p.Frame), n)
	}
	perFrame := max(math.Round(p.Rate/c.Rate), 1)
	start := float64(p.Frame[0])/perFrame - float64(c.Frame[0]) // frames
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = p.Frame[0] + i
	}
	at := p.framesAt(numbers)
	for _, a := range p.Analog {
		a.Samples = pick(a.Samples, at, math.NaN())
		a.Rate, a.Start = p.Rate, c.Time[0]+start/c.Rate
		c.Analog = append(c.Analog, a)
	}
	return nil
}
