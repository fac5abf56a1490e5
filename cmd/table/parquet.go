package table

import (
	"io"
	"reflect"

	"github.com/parquet-go/parquet-go"
)

// parquetColumn is a column of a table.
type parquetColumn struct {
	parquet.Node
	name string
}

func (c *parquetColumn) Name() string { return c.name }

// Value is not asked for: rows are written as rows.
func (c *parquetColumn) Value(base reflect.Value) reflect.Value { return base }

// parquetColumns are those of a table in their order; parquet.Group would sort them.
type parquetColumns struct {
	parquet.Group
	list []parquet.Field
}

func (c *parquetColumns) Fields() []parquet.Field { return c.list }

// parquetNode is how a kind of columns is stored.
func parquetNode(k ColumnKind) parquet.Node {
	switch k {
	case Integer:
		return parquet.Int(64)
	case Time:
		return parquet.Timestamp(parquet.Nanosecond)
	case Text:
		return parquet.Optional(parquet.Encoded(parquet.String(), &parquet.RLEDictionary))
	}
	return parquet.Optional(parquet.Leaf(parquet.DoubleType))
}

// Rows written at a time, and of a part of the file.
const (
	parquetBatch = 1 << 10
	parquetGroup = 1 << 17
)

// WriteParquet writes a table as Parquet, snappy-compressed; what is no number is null. The unit of column x is the metadata unit:x.
func WriteParquet(w io.Writer, t *Table) error {
	var columns parquetColumns
	options := []parquet.WriterOption{parquet.CreatedBy("hil", t.Title, ""), parquet.MaxRowsPerRowGroup(parquetGroup)}
	for _, c := range t.Columns {
		columns.list = append(columns.list, &parquetColumn{parquet.Compressed(parquetNode(c.Kind), &parquet.Snappy), c.Name})
		if c.Unit != "" {
			options = append(options, parquet.KeyValueMetadata("unit:"+c.Name, c.Unit))
		}
	}
	out := parquet.NewWriter(w, append(options, parquet.NewSchema(t.Title, &columns))...)
	batch := make([]parquet.Row, 0, parquetBatch)
	flush := func() error {
		_, err := out.WriteRows(batch)
		batch = batch[:0]
		return err
	}
	for cells, err := range t.Rows {
		if err != nil {
			return err
		}
		batch = batch[:len(batch)+1]
		row := &batch[len(batch)-1]
		*row = (*row)[:0]
		for i, c := range cells {
			v, level := parquet.NullValue(), 0
			switch k := t.Columns[i].Kind; {
			case k == Integer || k == Time:
				v = parquet.Int64Value(c.N) // there in every row
			case k == Number && c.X == c.X: // NaN is null
				v, level = parquet.DoubleValue(c.X), 1
			case k == Text && c.S != "":
				v, level = parquet.ByteArrayValue([]byte(c.S)), 1
			}
			*row = append(*row, v.Level(0, level, i))
		}
		if len(batch) == cap(batch) {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	return out.Close()
}
