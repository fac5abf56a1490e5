// Package sink is what rows flow into: the recording on disk, MQTT with its embedded broker, and the metrics of the loop.
//
// A row leaves the tick through a ring. Each sink drains a ring of its own in its own goroutine, so that a slow disk or a
// frozen broker costs that sink rows (counted by the ring) and costs the tick nothing.
//
// # Recording
//
// A run is a folder: run.mcap holds every row, run.yaml the configuration in force. MCAP ([MCAP], version 0) is a sequence
// of records, each an opcode, a length and a content:
//
//	magic  header  metadata "hil.info"  attachment run.yaml  schemas  channels
//	{ chunk  message index … }  { chunk  message index … }  …
//	data end  summary  summary offsets  footer  magic
//
// A chunk is the unit of loss: rows gather in memory for at most half a second or 1 MiB, are compressed (zstd) and reach the
// file in one write. What a kill -9 can take is the chunk being gathered and the one being written; a file that ends
// without a footer is read by walking its records. Every chunk carries the CRC-32 of its content, so a flipped bit costs
// one chunk and is reported with its offset.
//
// A row is a flat JSON object that opens in Foxglove, Lichtblick and PlotJuggler, and it is exact: RowCodec gives back the
// row that was recorded, bit for bit, which is what replay lives on. Times are decimal seconds with nine digits, since
// nanoseconds of today do not fit a number of JavaScript (2^53).
//
// Assumptions: one writer per file; the rows of a file share one schema; the wall clock at the start and the loop's clock
// give the time stamps, and the channel "clock" records once a second how the two drift apart.
//
// Reference: [MCAP] Foxglove Technologies, "MCAP File Format Specification", version 0, mcap.dev/spec.
package sink

import "hilrig/hil"

// RowSource is the reading end of a ring of rows; *ring.Reader[hil.Row] is one, and so is a slice in a test.
type RowSource = interface {
	Pop(*hil.Row) bool // the next row, false when there is none just now
	Dropped() uint64   // rows lost so far because the ring was full
}
