package configs

import (
	"hilrig/configs/schema"
	"hilrig/engine/plant/brush"
)

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

func (b *Brush) keys() schema.KeyTable { return brushKeys(&b.Params) }

// brushKeys leads into p.
func brushKeys(p *brush.Params) schema.KeyTable {
	var t schema.KeyTable
	for _, f := range p.Table() {
		t = append(t, schema.TableKey{Key: f.Key, Unit: f.Unit, Doc: f.Doc, Lo: f.Lo, Hi: f.Hi, Whole: f.Whole, Ptr: f.Ptr, Flag: f.Flag})
	}
	return t
}

// DecodeNode reads the section.
func (b *Brush) DecodeNode(w *schema.Walker, path string, e schema.Entry, _ schema.Field) {
	b.keys().Decode(w, path, "", e)
}

// EmitNode writes what DecodeNode reads, behind the key.
func (b *Brush) EmitNode(e *schema.Emitter, indent int) {
	e.WriteByte('\n')
	b.keys().Emit(e, indent)
}

// Shape describes the section to editors.
func (b *Brush) Shape() *schema.Object { return NewBrush().keys().Shape("") }
