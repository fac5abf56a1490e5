package plot

import (
	"image/color"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgpdf"
)

// outlined is a PDF whose letters are drawn as areas: fonts of a PDF know the letters of western Europe only, without σ and the minus
// sign, and vgpdf loses the bold ones.
type outlined struct{ *vgpdf.Canvas }

// SetColor takes a translucent colour as it looks on white: vgpdf would make it darker.
func (o outlined) SetColor(c color.Color) {
	if r, g, b, a := c.RGBA(); a < 0xffff { // premultiplied
		white := 0xffff - a
		c = color.RGBA64{uint16(r + white), uint16(g + white), uint16(b + white), 0xffff}
	}
	o.Canvas.SetColor(c)
}

// FillString draws a line of text that begins at pt.
func (o outlined) FillString(face font.Face, pt vg.Point, text string) {
	var buf sfnt.Buffer
	units := face.Face.UnitsPerEm()
	scale := face.Font.Size / vg.Length(units) / 64
	em := fixed.I(int(units))
	at := func(p fixed.Point26_6) vg.Point {
		return vg.Point{X: pt.X + vg.Length(p.X)*scale, Y: pt.Y - vg.Length(p.Y)*scale}
	}
	for _, c := range text {
		glyph, err := face.Face.GlyphIndex(&buf, c)
		if err != nil {
			continue // none for this letter; 0, the box that stands for it, is no error
		}
		segments, err := face.Face.LoadGlyph(&buf, glyph, em, nil)
		if err != nil {
			continue
		}
		var p vg.Path
		for _, s := range segments {
			switch s.Op {
			case sfnt.SegmentOpMoveTo:
				if len(p) > 0 {
					p.Close()
				}
				p.Move(at(s.Args[0]))
			case sfnt.SegmentOpLineTo:
				p.Line(at(s.Args[0]))
			case sfnt.SegmentOpQuadTo:
				p.QuadTo(at(s.Args[0]), at(s.Args[1]))
			case sfnt.SegmentOpCubeTo:
				p.CubeTo(at(s.Args[0]), at(s.Args[1]), at(s.Args[2]))
			}
		}
		if len(p) > 0 {
			p.Close()
			o.Fill(p)
		}
		if wide, err := face.Face.GlyphAdvance(&buf, glyph, em, 0); err == nil {
			pt.X += vg.Length(wide) * scale
		}
	}
}
