// Package schema reads YAML files into structs with tags: strictly, with units, and with every problem of a file reported at
// once where it stands. It knows what a number, a unit, a key and a range are, and nothing of what the files describe.
//
// A struct comes with its defaults (Load). A Walker follows the YAML tree and the tags of the struct (Field) side by side, so that
// each value knows its line: unknown keys, wrong units, wrong types and repeated keys become Problems with line, caret and a
// guess at what was meant. Numbers may carry any unit of the right dimension (ParseUnit) and are SI from then on; angle counts as a
// dimension, so that Hz, rad/s and rpm cannot be taken for each other. A type whose keys depend on what it says reads
// itself (SelfReading). The same tags make the JSON Schema for editors (JSON) and the text of what is in force (Marshal).
package schema
