package plot

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// variables are the CSS variables of an inline figure, each with the colour that it stands for and has where a page does not set it.
var variables = func() map[string]color.RGBA {
	v := map[string]color.RGBA{"--plot-ink": ink, "--plot-grid": faint, "--plot-guide": grey, "--plot-frame": frameColor,
		"--plot-zero": zeroColor}
	for i, c := range hues {
		v["--plot-"+strconv.Itoa(i+1)] = c
	}
	return v
}()

// Variables are the names of the CSS variables that the colours of an inline figure follow: --plot-1 … --plot-7 for the curves in the
// order of the legend, --plot-ink for letters, --plot-frame, --plot-zero, --plot-grid and --plot-guide for lines.
func Variables() []string { return slices.Collect(maps.Keys(variables)) }

var (
	hexColor = regexp.MustCompile(`#[0-9A-F]{6}`)
	svgHead  = regexp.MustCompile(`(?s)^.*?<svg [^>]*(viewBox="[^"]*")[^>]*>`)
)

// themed makes the SVG a part of a page: no head of its own, as wide as its place, colours by variables.
func themed(svg []byte, title string) []byte {
	svg = hexColor.ReplaceAllFunc(svg, func(hex []byte) []byte {
		rgb, _ := strconv.ParseUint(string(hex[1:]), 16, 32) // matched
		for name, c := range variables {
			if sameShade(uint8(rgb>>16), c.R) && sameShade(uint8(rgb>>8), c.G) && sameShade(uint8(rgb), c.B) {
				return fmt.Appendf(nil, "var(%s,%s)", name, hex)
			}
		}
		return hex
	})
	view := string(svgHead.FindSubmatch(svg)[1])
	out := svgHead.ReplaceAllLiteral(svg, fmt.Appendf(nil, `<svg %s role="img" aria-label="%s" xmlns="http://www.w3.org/2000/svg">`, view,
		html.EscapeString(strings.Join(strings.Fields(title), " "))))
	return bytes.TrimSpace(out)
}

// sameShade allows for the rounding of translucent colours in the file.
func sameShade(a, b uint8) bool { return max(a, b)-min(a, b) <= 2 }
