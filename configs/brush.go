package configs

import (
	"fmt"
	"slices"
	"strings"

	"hilrig/configs/schema"
	"hilrig/engine/contact"
	"hilrig/engine/plant/brush"
	"hilrig/engine/reference"
)

// Brush is the section of a brush. Its keys are the table of the model, and the files of what was measured.
type Brush struct {
	brush.Params
	Measured []string // paths of measuredFiles; "": none
}

// measuredFile is a key that names a CSV with two columns: a cause and what was measured over it.
type measuredFile struct {
	key, doc string
	x        []measuredColumn // one of them
	y        measuredColumn
	apply    func(p *brush.Params, x string, xs, ys []float64) error // x is the name of the column that was found
	instead  []string                                                // keys of the section that the file stands in place of
}

// measuredColumn is a column of a CSV: its name, and the unit in which it is taken. The header adds the unit of the file: radius_mm.
type measuredColumn struct{ name, unit string }

// measuredFiles are the files that a brush may name.
func measuredFiles() []measuredFile {
	files := []measuredFile{{
		key: "commutator.profile", doc: "CSV of a measured outline over one turn: angle or arc, and radius, as in docs/reference/brush.md",
		x: []measuredColumn{{"angle", "rad"}, {"arc", "m"}}, y: measuredColumn{"radius", "m"},
		apply: func(p *brush.Params, x string, xs, ys []float64) (err error) {
			if x == "arc" {
				for i := range xs {
					xs[i] /= p.Commutator.Radius
				}
			}
			p.Commutator.Profile, err = contact.RingProfile(xs, ys)
			return err
		},
		instead: []string{"eccentricity", "phase", "roughness", "slot_depth", "dip_depth", "edge_length", "bar_step", "seed", "true_slots",
			"smooth"},
	}, {
		key: "face.profile", doc: "CSV of a measured face: x from the middle, and height over the arc of the face, positive towards the " +
			"commutator",
		x: []measuredColumn{{"x", "m"}}, y: measuredColumn{"height", "m"},
		apply: func(p *brush.Params, _ string, xs, ys []float64) (err error) {
			p.Face.Profile, err = contact.LineProfile(xs, ys)
			return err
		},
		instead: []string{"roughness", "seed"},
	}}
	cause := [len(brush.Causes)]measuredColumn{{"temperature", "K"}, {"current_density", "A/m²"}, {"length", "m"}}
	what := [len(brush.Properties)]string{"every normal restitution", "k_a and k_s", "c_a and c_s"}
	for i, property := range brush.Properties {
		for j, name := range brush.Causes {
			if name == "length" && property != "eps" {
				continue // the source lets restitution alone depend on it
			}
			files = append(files, measuredFile{
				key: "material." + property + "_by_" + name, doc: fmt.Sprintf("CSV of a factor of %s over %s_%s", what[i], cause[j].name,
					strings.ReplaceAll(strings.ReplaceAll(cause[j].unit, "/", "_"), "²", "2")),
				x: []measuredColumn{cause[j]}, y: measuredColumn{"factor", ""},
				apply: func(p *brush.Params, _ string, xs, ys []float64) error {
					p.Material.Factors[i][j] = &brush.Curve{X: xs, Y: ys}
					return nil
				},
			})
		}
	}
	return files
}

// SetDefaults are the numbers of the model.
func (b *Brush) SetDefaults() {
	b.Params, b.Measured = brush.DefaultParams(), make([]string, len(measuredFiles()))
}

// Keys are those of the model, and in each section the files behind its numbers.
func (b *Brush) Keys() schema.KeyTable {
	t := brushKeys(&b.Params)
	for i, f := range measuredFiles() {
		section, _, _ := strings.Cut(f.key, ".")
		last := len(t)
		for last > 0 && !strings.HasPrefix(t[last-1].Key, section+".") {
			last--
		}
		t = slices.Insert(t, last, schema.TableKey{Key: f.key, Doc: f.doc, Word: &b.Measured[i]})
	}
	return t
}

// brushKeys leads into p.
func brushKeys(p *brush.Params) schema.KeyTable {
	return listOf(p.Table(), func(f brush.Field) schema.TableKey {
		return schema.TableKey{Key: f.Key, Unit: f.Unit, Doc: f.Doc, Lo: f.Lo, Hi: f.Hi, Integer: f.Integer, Ptr: f.Ptr, Flag: f.Flag}
	})
}

// measure reads the files; relative ones start at the folder dir.
func (b *Brush) measure(r *schema.Report, dir string) {
	for i, f := range measuredFiles() {
		path := &b.Measured[i]
		if *path == "" || r.HasProblem("brush") {
			continue
		}
		joinPaths(dir, path)
		at := "brush." + f.key
		section, _, _ := strings.Cut(at, "."+f.key[strings.Index(f.key, ".")+1:])
		for _, key := range f.instead {
			k := section + "." + key
			r.ErrorIf(r.HasKey(k), k, "not used, %s has what was measured; leave it out", at)
		}
		err := f.read(*path, &b.Params)
		r.ErrorIf(err != nil, at, "%v", err)
	}
}

// read takes the file at path into p.
func (f *measuredFile) read(path string, p *brush.Params) error {
	var x, y measuredColumn
	var ux, uy string
	c, _, err := reference.ReadColumns(path, func(header []string) ([]int, error) {
		find := func(columns ...measuredColumn) (at int, c measuredColumn, unit string) {
			for _, c := range columns {
				for i, h := range header {
					if unit, ok := strings.CutPrefix(h, c.name); ok && (unit == "" || unit[0] == '_') {
						return i, c, strings.NewReplacer("_", "/", "2", "²").Replace(strings.TrimPrefix(unit, "_"))
					}
				}
			}
			return -1, c, ""
		}
		var ix, iy int
		ix, x, ux = find(f.x...)
		iy, y, uy = find(f.y)
		if ix < 0 || iy < 0 {
			want := listOf(f.x, func(c measuredColumn) string { return c.name })
			return nil, fmt.Errorf("want the columns %s and %s, each with its unit behind an underscore, such as radius_mm; found %s",
				strings.Join(want, " or "), f.y.name, strings.Join(header, ", "))
		}
		return []int{ix, iy}, nil
	})
	if err != nil {
		return err
	}
	for i, k := range []struct {
		measuredColumn
		fileUnit string
	}{{x, ux}, {y, uy}} {
		if k.unit == "" && k.fileUnit == "" {
			continue
		}
		if k.fileUnit == "" {
			return fmt.Errorf("%s:1: column %s has no unit; want one behind an underscore, such as %s_%s", path, k.name, k.name,
				strings.NewReplacer("/", "_", "²", "2").Replace(k.unit))
		}
		zero, err := schema.ParseValue("0 "+k.fileUnit, k.unit)
		if err != nil {
			return fmt.Errorf("%s:1: column %s: %w", path, k.name, err)
		}
		one, _ := schema.ParseValue("1 "+k.fileUnit, k.unit)
		for j, v := range c[i] {
			c[i][j] = zero + v*(one-zero)
		}
	}
	if err := f.apply(p, x.name, c[0], c[1]); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
