// Package configs reads the files that describe a rig: strictly, with units, and with every problem of a file reported at
// once where it stands.
//
// A file is laid over the defaults (Default). A walker follows the YAML tree and the tags of the Go structs (see Config)
// side by side, so that each value knows its line: unknown keys, wrong units, wrong types and repeated keys become
// Problems with line, caret and a guess at what was meant. Numbers may carry any unit of the right dimension (ParseUnit)
// and are SI from then on; angle counts as a dimension, so that Hz, rad/s and rpm cannot be taken for each other.
// Then Check compares the numbers with their ranges and with one another: does the line carry the frames, is the friction
// law passive, is the loop stable with its delay, does the guard see what it watches. The tags also make the JSON Schema
// (Schema), the reference in docs/config.md (Tables), and the text of the configuration in force (Marshal).
//
// Other verbs bring structs of their own.
package configs

//go:generate go test . -run Docs -update
