package table

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"time"
)

// Types of data and classes of arrays in a MAT file ([MAT5] tables 1-1 and 1-3).
const (
	miInt8   = 1
	miInt32  = 5
	miUint32 = 6
	miDouble = 9
	miMatrix = 14
	miUTF8   = 16

	mxCell   = 1
	mxChar   = 4
	mxDouble = 6
)

const (
	matName = 63           // bytes in a name of MATLAB
	matRows = 1 << 27      // of a variable, whose bytes are counted in 31 bits by Octave
	matPart = 1 << 12      // rows that are sorted by columns in memory
	matHead = 116 + 8      // text and offset in front of version and order of bytes
	matMark = "\x00\x01IM" // version 1, little endian
)

// WriteMAT writes a table as a MAT file of version 5: a column is a variable, N×1 and double, under its name with _ for what no name may
// hold. A column of times is the variable time, s after the first row, with the time of that row in start, as text and in s since 1970.
// Texts are numbers from 1 into NAME_names; 0 is none. names has a line of variable, name and unit for each, in ASCII: N*m, kg*m^2.
func WriteMAT(w io.Writer, t *Table) error {
	// rows come, columns go: parts of columns wait in a file
	parts, err := os.CreateTemp("", "hil-mat-*")
	if err != nil {
		return err
	}
	defer os.Remove(parts.Name())
	defer parts.Close()

	width := len(t.Columns)
	part := make([]byte, 8*width*matPart)
	words := make([]map[string]float64, width)
	lists := make([][]string, width)
	for i := range words {
		words[i] = map[string]float64{"": 0}
	}
	start, rows := int64(0), 0
	for cells, err := range t.Rows {
		if err != nil {
			return err
		}
		if rows == 0 {
			for i, c := range t.Columns {
				if c.Kind == Time {
					start = cells[i].N
				}
			}
		}
		for i, c := range cells {
			x := c.X
			switch t.Columns[i].Kind {
			case Integer:
				x = float64(c.N)
			case Time:
				x = float64(c.N-start) * 1e-9
			case Text:
				n, known := words[i][c.S]
				if !known {
					n = float64(len(words[i]))
					words[i][c.S], lists[i] = n, append(lists[i], c.S)
				}
				x = n
			}
			binary.LittleEndian.PutUint64(part[8*(i*matPart+rows%matPart):], math.Float64bits(x))
		}
		if rows++; rows%matPart == 0 {
			if _, err := parts.Write(part); err != nil {
				return err
			}
		}
		if rows > matRows {
			return fmt.Errorf("more than %d rows, which a variable of a MAT file cannot hold: take fewer, or Parquet", matRows)
		}
	}
	if _, err := parts.Write(part); err != nil {
		return err
	}

	var head bytes.Buffer
	fmt.Fprintf(&head, "%-*s", matHead-8, "MATLAB 5.0 MAT-file, "+t.Title)
	head.Truncate(matHead - 8)
	head.Write(make([]byte, 8))
	head.WriteString(matMark)
	taken := map[string]bool{"names": true, "start": true, "start_text": true}
	var variables, names, units []string
	for i, c := range t.Columns {
		name := c.Name
		if c.Kind == Time {
			name = "time"
		}
		v := matVariable(name, taken)
		variables, names, units = append(variables, v), append(names, c.Name), append(units, c.Unit)
		if c.Kind == Time && rows > 0 {
			matDoubles(&head, "start", []float64{float64(start) * 1e-9})
			head.Write(matText("start_text", time.Unix(0, start).UTC().Format(time.RFC3339Nano)))
		}
		if c.Kind == Text {
			head.Write(matCells(matVariable(v+"_names", taken), len(lists[i]), lists[i]))
		}
	}
	head.Write(matCells("names", width, variables, names, units))
	if _, err := w.Write(head.Bytes()); err != nil {
		return err
	}
	column := make([]byte, 8*matPart)
	for i, v := range variables {
		if _, err := w.Write(matDoubleHead(v, rows)); err != nil {
			return err
		}
		for row := 0; row < rows; row += matPart {
			if _, err := parts.ReadAt(column, int64(row)*8*int64(width)+int64(8*i*matPart)); err != nil {
				return err
			}
			if _, err := w.Write(column[:8*min(matPart, rows-row)]); err != nil {
				return err
			}
		}
	}
	return nil
}

// matVariable is a name that MATLAB takes and nobody has yet.
func matVariable(name string, taken map[string]bool) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, name)
	if name == "" || name[0] == '_' || name[0] >= '0' && name[0] <= '9' {
		name = "x" + name
	}
	name = name[:min(len(name), matName)]
	for n, base := 2, name; taken[name]; n++ {
		suffix := "_" + strconv.Itoa(n)
		name = base[:min(len(base), matName-len(suffix))] + suffix
	}
	taken[name] = true
	return name
}

// matElement is data with its tag, filled up to 8 bytes.
func matElement(kind uint32, data []byte) []byte {
	b := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, kind), uint32(len(data)))
	return append(append(b, data...), make([]byte, -len(data)&7)...)
}

// matArray is what stands before the data of an array: class, size, name.
func matArray(class uint32, name string, rows, columns int) []byte {
	le := binary.LittleEndian
	b := matElement(miUint32, le.AppendUint32(le.AppendUint32(nil, class), 0))
	b = append(b, matElement(miInt32, le.AppendUint32(le.AppendUint32(nil, uint32(rows)), uint32(columns)))...)
	return append(b, matElement(miInt8, []byte(name))...)
}

// matDoubleHead is what stands before the numbers of a column.
func matDoubleHead(name string, rows int) []byte {
	array, le := matArray(mxDouble, name, rows, 1), binary.LittleEndian
	b := le.AppendUint32(le.AppendUint32(nil, miMatrix), uint32(len(array)+8+8*rows))
	return le.AppendUint32(le.AppendUint32(append(b, array...), miDouble), uint32(8*rows))
}

func matDoubles(w *bytes.Buffer, name string, xs []float64) {
	w.Write(matDoubleHead(name, len(xs)))
	for _, x := range xs {
		w.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(x)))
	}
}

// matASCII spells units without letters beyond ASCII: some readers count characters, some bytes, and only here both are the same.
var matASCII = strings.NewReplacer("·", "*", "²", "^2", "³", "^3", "°", "deg", "µ", "u", "μ", "u", "Ω", "Ohm", "√", "sqrt", "±", "+-")

// matText is a line of text.
func matText(name, text string) []byte {
	text = strconv.QuoteToASCII(matASCII.Replace(text))
	text = text[1 : len(text)-1]
	return matElement(miMatrix, append(matArray(mxChar, name, min(len(text), 1), len(text)), matElement(miUTF8, []byte(text))...))
}

// matCells is an array of texts, column by column.
func matCells(name string, rows int, columns ...[]string) []byte {
	b := matArray(mxCell, name, rows, len(columns))
	for _, texts := range columns {
		for _, text := range texts {
			b = append(b, matText("", text)...)
		}
	}
	return matElement(miMatrix, b)
}
