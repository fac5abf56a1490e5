package configs

import "hilrig/engine/plant/brush"

// Brush is the section of a brush. Its keys are the table of the model.
type Brush struct{ brush.Params }

// NewBrush is a brush with the numbers of the model.
func NewBrush() *Brush {
	b := new(Brush)
	b.SetDefaults()
	return b
}

// SetDefaults are the numbers of the model.
func (b *Brush) SetDefaults() { b.Params = brush.DefaultParams() }

func (b *Brush) keys() keyTable { return brushKeys(&b.Params) }

// brushKeys leads into p.
func brushKeys(p *brush.Params) keyTable {
	var t keyTable
	for _, f := range p.Table() {
		t = append(t, tableKey{Key: f.Key, Unit: f.Unit, Doc: f.Doc, Lo: f.Lo, Hi: f.Hi, Whole: f.Whole, Ptr: f.Ptr, Flag: f.Flag})
	}
	return t
}

// decodeNode reads the section.
func (b *Brush) decodeNode(w *walker, path string, e entry, _ field) { b.keys().decode(w, path, "", e) }

// emitNode writes what decodeNode reads, behind the key.
func (b *Brush) emitNode(e *emitter, indent int) {
	e.WriteByte('\n')
	b.keys().emit(e, indent)
}

// shape describes the section to editors.
func (b *Brush) shape() *object { return NewBrush().keys().shape("") }
