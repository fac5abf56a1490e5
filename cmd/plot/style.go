package plot

import (
	"image/color"
	"sync"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	imagefont "golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// hues are the colours of [OI08] without the yellow, which is pale on white; the strongest come first.
var hues = []color.RGBA{
	{0, 114, 178, 255},   // blue
	{213, 94, 0, 255},    // vermilion
	{0, 158, 115, 255},   // bluish green
	{204, 121, 167, 255}, // reddish purple
	{230, 159, 0, 255},   // orange
	{86, 180, 233, 255},  // sky blue
	{60, 60, 60, 255},    // nearly black
}

// dashes tell curves of the same colour apart.
var dashes = [][]vg.Length{nil, {vg.Points(5), vg.Points(2)}, {vg.Points(1.5), vg.Points(1.5)},
	{vg.Points(7), vg.Points(2), vg.Points(1.5), vg.Points(2)}}

var (
	ink   = color.RGBA{40, 40, 40, 255}
	faint = color.RGBA{228, 228, 228, 255}
	grey  = color.RGBA{120, 120, 120, 255}

	frameColor = color.RGBA{90, 90, 90, 255}
	zeroColor  = color.RGBA{170, 170, 170, 255}
)

var (
	frameLine = draw.LineStyle{Color: frameColor, Width: vg.Points(0.6)}
	gridLine  = draw.LineStyle{Color: faint, Width: vg.Points(0.5)}
	zeroLine  = draw.LineStyle{Color: zeroColor, Width: vg.Points(0.6)}
	guideLine = draw.LineStyle{Color: grey, Width: vg.Points(0.8), Dashes: []vg.Length{vg.Points(3), vg.Points(2)}}
)

// penOf is the pen of the i-th label of a figure.
func penOf(i int) draw.LineStyle {
	return draw.LineStyle{Color: hues[i%len(hues)], Width: vg.Points(1.1), Dashes: dashes[i/len(hues)%len(dashes)]}
}

// shade is the colour of a pen for an area: strength 0 … 1.
func shade(c color.Color, strength float64) color.Color {
	r, g, b, _ := c.RGBA()
	return color.NRGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), uint8(255*strength + 0.5)}
}

// fonts come with the program, so a figure looks the same everywhere: the two that are drawn, of the twelve of the collection. Reading them
// takes a tenth of the start of a program that draws none.
var fonts = sync.OnceValue(func() text.Plain {
	return text.Plain{Fonts: font.NewCache(font.Collection{
		readFace(liberationsansregular.TTF, imagefont.WeightNormal), readFace(liberationsansbold.TTF, boldWeight)})}
})

func readFace(ttf []byte, weight imagefont.Weight) font.Face {
	face, err := opentype.Parse(ttf)
	if err != nil {
		panic(err) // of a file in the program
	}
	return font.Face{Font: font.Font{Typeface: "Liberation", Variant: "Sans", Weight: weight}, Face: face}
}

// fontsOnUse is the text handler with these fonts, which reads them when the first letter is drawn or measured.
type fontsOnUse struct{}

func (fontsOnUse) Cache() *font.Cache               { return fonts().Cache() }
func (fontsOnUse) Extents(f font.Font) font.Extents { return fonts().Extents(f) }
func (fontsOnUse) Lines(s string) []string          { return fonts().Lines(s) }

func (fontsOnUse) Box(s string, f font.Font) (width, height, depth vg.Length) {
	return fonts().Box(s, f)
}

func (fontsOnUse) Draw(c vg.Canvas, s string, style text.Style, at vg.Point) {
	fonts().Draw(c, s, style, at)
}

const boldWeight = imagefont.WeightBold

func lettering(points float64, c color.Color, bold bool, x text.XAlignment, y text.YAlignment) text.Style {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(points)}
	if bold {
		f.Weight = boldWeight
	}
	return text.Style{Color: c, Font: f, XAlign: x, YAlign: y, Handler: fontsOnUse{}}
}

var (
	titleText = lettering(12, ink, true, text.XLeft, text.YTop)
	noteText  = lettering(8.5, grey, false, text.XLeft, text.YTop)
	entryText = lettering(9, ink, false, text.XLeft, text.YCenter)
	panelText = lettering(9.5, ink, true, text.XLeft, text.YBottom)
	labelText = lettering(9, ink, false, text.XCenter, text.YTop)
	cellText  = lettering(6.5, ink, false, text.XCenter, text.YCenter)
	xTickText = lettering(8, ink, false, text.XCenter, text.YTop)
	yTickText = lettering(8, ink, false, text.XRight, text.YCenter)
)
