package schema

import "math"

// atom is one named unit: SI value = number · mult · 10^exp10 (+ offset for degC, which stands alone).
type atom struct {
	dim    Dim
	mult   float64
	exp10  int
	si     string // the SI unit it is turned into
	prefix bool   // takes SI prefixes
	cycles bool   // counts periods, not radians
}

// dim9 builds a dimension from whole exponents of m, kg, s, A, K, mol, cd, rad, B.
func dim9(m, kg, s, a, k, mol, cd, rad, b int8) Dim {
	return Dim{2 * m, 2 * kg, 2 * s, 2 * a, 2 * k, 2 * mol, 2 * cd, 2 * rad, 2 * b}
}

var (
	dimNone  = dim9(0, 0, 0, 0, 0, 0, 0, 0, 0)
	dimTime  = dim9(0, 0, 1, 0, 0, 0, 0, 0, 0)
	dimFreq  = dim9(0, 0, -1, 0, 0, 0, 0, 0, 0)
	dimKelv  = dim9(0, 0, 0, 0, 1, 0, 0, 0, 0)
	dimAngle = dim9(0, 0, 0, 0, 0, 0, 0, 1, 0)
	dimOmega = dim9(0, 0, -1, 0, 0, 0, 0, 1, 0)
	dimForce = dim9(1, 1, -2, 0, 0, 0, 0, 0, 0)
	dimOhm   = dim9(2, 1, -3, -2, 0, 0, 0, 0, 0)
	dimByte  = dim9(0, 0, 0, 0, 0, 0, 0, 0, 1)
)

// atoms are the units a file may name (SI brochure, 9th edition, plus rpm, turn and bytes). Names with an exact match win
// over prefix + name: min is a minute, h an hour, T a tesla, Pa a pascal.
var atoms = map[string]atom{
	"m":    {dim: dim9(1, 0, 0, 0, 0, 0, 0, 0, 0), mult: 1, si: "m", prefix: true},
	"g":    {dim: dim9(0, 1, 0, 0, 0, 0, 0, 0, 0), mult: 1, exp10: -3, si: "kg", prefix: true},
	"s":    {dim: dimTime, mult: 1, si: "s", prefix: true},
	"A":    {dim: dim9(0, 0, 0, 1, 0, 0, 0, 0, 0), mult: 1, si: "A", prefix: true},
	"K":    {dim: dimKelv, mult: 1, si: "K", prefix: true},
	"mol":  {dim: dim9(0, 0, 0, 0, 0, 1, 0, 0, 0), mult: 1, si: "mol", prefix: true},
	"cd":   {dim: dim9(0, 0, 0, 0, 0, 0, 1, 0, 0), mult: 1, si: "cd", prefix: true},
	"degC": {dim: dimKelv, mult: 1, si: "degC"}, // affine: ParseUnit adds the offset
	"°C":   {dim: dimKelv, mult: 1, si: "degC"},

	"rad":  {dim: dimAngle, mult: 1, si: "rad", prefix: true},
	"deg":  {dim: dimAngle, mult: math.Pi / 180, si: "rad"},
	"°":    {dim: dimAngle, mult: math.Pi / 180, si: "rad"},
	"turn": {dim: dimAngle, mult: 2 * math.Pi, si: "rad"},
	"rev":  {dim: dimAngle, mult: 2 * math.Pi, si: "rad"},
	"rpm":  {dim: dimOmega, mult: math.Pi / 30, si: "rad/s"},
	"Hz":   {dim: dimFreq, mult: 1, si: "Hz", prefix: true, cycles: true},
	"min":  {dim: dimTime, mult: 60, si: "s"},
	"h":    {dim: dimTime, mult: 3600, si: "s"},

	"N":   {dim: dimForce, mult: 1, si: "N", prefix: true},
	"Nm":  {dim: dim9(2, 1, -2, 0, 0, 0, 0, 0, 0), mult: 1, si: "N·m", prefix: true}, // as data sheets print it
	"Pa":  {dim: dim9(-1, 1, -2, 0, 0, 0, 0, 0, 0), mult: 1, si: "Pa", prefix: true},
	"J":   {dim: dim9(2, 1, -2, 0, 0, 0, 0, 0, 0), mult: 1, si: "J", prefix: true},
	"W":   {dim: dim9(2, 1, -3, 0, 0, 0, 0, 0, 0), mult: 1, si: "W", prefix: true},
	"C":   {dim: dim9(0, 0, 1, 1, 0, 0, 0, 0, 0), mult: 1, si: "C", prefix: true},
	"V":   {dim: dim9(2, 1, -3, -1, 0, 0, 0, 0, 0), mult: 1, si: "V", prefix: true},
	"Ω":   {dim: dimOhm, mult: 1, si: "ohm", prefix: true}, // U+03A9; U+2126 is folded into it
	"ohm": {dim: dimOhm, mult: 1, si: "ohm", prefix: true},
	"S":   {dim: dim9(-2, -1, 3, 2, 0, 0, 0, 0, 0), mult: 1, si: "S", prefix: true},
	"F":   {dim: dim9(-2, -1, 4, 2, 0, 0, 0, 0, 0), mult: 1, si: "F", prefix: true},
	"H":   {dim: dim9(2, 1, -2, -2, 0, 0, 0, 0, 0), mult: 1, si: "H", prefix: true},
	"Wb":  {dim: dim9(2, 1, -2, -1, 0, 0, 0, 0, 0), mult: 1, si: "Wb", prefix: true},
	"T":   {dim: dim9(0, 1, -2, -1, 0, 0, 0, 0, 0), mult: 1, si: "T", prefix: true},

	"%":   {dim: dimNone, mult: 1, exp10: -2, si: "1"},
	"ppm": {dim: dimNone, mult: 1, exp10: -6, si: "1"},

	"B":   {dim: dimByte, mult: 1, si: "B"},
	"kB":  {dim: dimByte, mult: 1, exp10: 3, si: "B"},
	"MB":  {dim: dimByte, mult: 1, exp10: 6, si: "B"},
	"GB":  {dim: dimByte, mult: 1, exp10: 9, si: "B"},
	"TB":  {dim: dimByte, mult: 1, exp10: 12, si: "B"},
	"KiB": {dim: dimByte, mult: 1 << 10, si: "B"},
	"MiB": {dim: dimByte, mult: 1 << 20, si: "B"},
	"GiB": {dim: dimByte, mult: 1 << 30, si: "B"},
	"TiB": {dim: dimByte, mult: 1 << 40, si: "B"},
}

// prefixes of the SI as powers of ten; both code points of micro are folded into U+00B5, and u is taken for it too.
var prefixes = []struct {
	name  string
	exp10 int
}{
	{"da", 1}, {"Y", 24}, {"Z", 21}, {"E", 18}, {"P", 15}, {"T", 12}, {"G", 9}, {"M", 6}, {"k", 3}, {"h", 2},
	{"d", -1}, {"c", -2}, {"m", -3}, {"µ", -6}, {"u", -6}, {"n", -9}, {"p", -12}, {"f", -15}, {"a", -18}, {"z", -21}, {"y", -24},
}

// misspelt maps frequent wrong or foreign spellings to what this program reads.
var misspelt = map[string]string{
	"sec": "s", "secs": "s", "second": "s", "seconds": "s", "msec": "ms", "usec": "µs", "hr": "h", "hour": "h", "minute": "min", "hz": "Hz",
	"HZ":  "Hz",
	"khz": "kHz", "KHz": "kHz", "Khz": "kHz", "RPM": "rpm", "rps": "turn/s", "radian": "rad", "radians": "rad", "degree": "deg",
	"degrees": "deg", "volt": "V",
	"volts": "V", "Volt": "V", "v": "V", "mv": "mV", "amp": "A", "amps": "A", "Amp": "A", "a": "A", "ma": "mA", "Ohm": "ohm", "ohms": "ohm",
	"Ohms": "ohm",
	"R":    "ohm", "celsius": "degC", "Celsius": "degC", "kelvin": "K", "newton": "N", "watt": "W", "w": "W", "KB": "kB", "Mb": "MB",
	"Gb": "GB",
	"gB": "GB", "mB": "MB", "revs": "rev", "turns": "turn", "percent": "%", "kgm²": "kg·m²", "gcm²": "g·cm²", "Nms": "N·m·s",
	"mNms": "mN·m·s", "Kg": "kg",
	"KG": "kg", "Ncm": "N·cm", "in": "mm (there are 25.4 to the inch)", "inch": "mm (there are 25.4 to the inch)", "ft": "m", "lb": "kg or N",
	"lbf": "N",
	"oz":  "g or N", "kgf": "N (9.80665 to the kgf)", "bar": "kPa (100 to the bar)", "counts": "nothing: a count is a pure number",
	"count": "nothing: a count is a pure number",
}

// quantities name the dimensions that people meet here, for messages.
var quantities = []struct{ name, unit string }{
	{"length", "m"}, {"mass", "kg"}, {"time", "s"}, {"current", "A"}, {"temperature", "K"}, {"angle", "rad"}, {"data size", "B"},
	{"a pure number", ""},
	{"frequency", "Hz"}, {"angular velocity", "rad/s"}, {"angular acceleration", "rad/s²"}, {"velocity", "m/s"}, {"acceleration", "m/s²"},
	{"force", "N"}, {"torque or energy", "N·m"}, {"power", "W"}, {"pressure", "Pa"}, {"voltage", "V"}, {"resistance", "ohm"},
	{"inductance", "H"},
	{"capacitance", "F"}, {"charge", "C"}, {"torque constant", "N·m/A"}, {"back-emf constant", "V·s/rad"}, {"rotary stiffness", "N·m/rad"},
	{"rotary damping", "N·m·s/rad"}, {"damping without its angle, or angular momentum", "N·m·s"}, {"inertia", "kg·m²"},
	{"stiffness", "N/m"},
	{"damping", "N·s/m"},
	{"voltage rate", "V/s"}, {"current rate", "A/s"}, {"thermal resistance", "K/W"}, {"heat capacity", "J/K"},
	{"temperature coefficient", "1/K"},
	{"torque random walk", "N·m/√s"},
}
