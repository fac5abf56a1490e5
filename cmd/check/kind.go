package check

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hilrig/cmd/identify"
	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/hil/sink"
)

// resultFile is what hil identify -o writes.
const resultFile configs.Kind = 255

// takes are the kinds of file that a verb works on.
var takes = map[string][]configs.Kind{
	"run": {configs.RigFile}, "rig": {configs.RigFile},
	"simulate": {configs.SimulateFile, configs.ContactFile, configs.BallFile, configs.ManipulatorFile, configs.MachineFile},
	"identify": {configs.IdentifyFile, configs.BallFitFile, configs.MachineFitFile, configs.ResponseFile, configs.RunFile,
		configs.NumbersFile}, "compare": {configs.IdentifyFile, resultFile},
	"study": {configs.StudyFile}, "study plan": {configs.StudyFile},
	"replay": {configs.RunFile}, "export": {configs.RunFile}, "view": {configs.RunFile},
	"import": {configs.MotionFile, configs.NumbersFile, configs.RunFile, configs.RobotFile},
	"check": {configs.RigFile, configs.SimulateFile, configs.ContactFile, configs.BallFile, configs.ManipulatorFile, configs.MachineFile,
		configs.IdentifyFile, configs.BallFitFile, configs.MachineFitFile, configs.ResponseFile, configs.StudyFile},
	"export-model": {resultFile, configs.MachineFile}, "config apply": {resultFile}, "config show": {configs.RigFile}, "lcp": {},
}

// kinds say what a file of a kind is, and what to do with it.
var kinds = map[configs.Kind]struct{ is, next string }{
	configs.RigFile:         {"describes a rig", "hil run %s"},
	configs.SimulateFile:    {"describes a simulation", "hil simulate %s"},
	configs.ContactFile:     {"describes bodies in contact", "hil simulate %s"},
	configs.BallFile:        {"describes a ball in front of cameras", "hil simulate %s"},
	configs.BallFitFile:     {"describes the identification of a ball", "hil identify %s"},
	configs.MachineFitFile:  {"describes the identification of a machine", "hil identify %s"},
	configs.ResponseFile:    {"describes the identification of a machine by its response", "hil identify %s"},
	configs.ManipulatorFile: {"describes a chain on a beam", "hil simulate %s"},
	configs.MachineFile:     {"describes a machine", "hil simulate %s"},
	configs.IdentifyFile:    {"describes an identification", "hil identify %s"},
	configs.StudyFile:       {"describes a study", "hil study %s"},
	configs.RobotFile:       {"describes a robot", "hil import %s"},
	configs.MotionFile:      {"is a motion-capture recording", "hil import %s"},
	configs.RunFile:         {"is a recording", "hil identify %[1]s, hil replay %[1]s, or hil export %[1]s -o out.csv"},
	resultFile: {"is a result of hil identify", "hil config apply %[1]s --rig rig.yaml, hil export-model %[1]s --to c, or hil compare %[1]s " +
		"OTHER.json"},
}

// foreign are kinds of file that no verb takes, by the beginning of their MIME type.
var foreign = []struct{ mime, is string }{
	{"image/", "is a picture"}, {"text/html", "is a page for a browser"}, {"application/pdf", "is a PDF"},
	{"application/zip", "is a ZIP archive; if it is a sheet of a spreadsheet program, save it as CSV"},
}

// kindOf tells what a file is; foreignIs says it where no verb takes it.
func kindOf(file string) (kind configs.Kind, foreignIs string) {
	if _, err := identify.ReadResult(file); strings.EqualFold(filepath.Ext(file), ".json") && err == nil {
		return resultFile, ""
	}
	if kind = configs.KindOf(file); kind != configs.UnknownFile {
		return kind, ""
	}
	head := make([]byte, 512)
	f, err := os.Open(file)
	if err != nil {
		return kind, ""
	}
	defer f.Close()
	n, _ := f.Read(head)
	mime := http.DetectContentType(head[:n])
	for _, f := range foreign {
		if strings.HasPrefix(mime, f.mime) {
			return kind, f.is
		}
	}
	return kind, ""
}

// Kinds refuses a file that belongs to another verb than this one, and names that verb. Of a folder of runs it says on w which newer ones
// are passed over.
func Kinds(w io.Writer, verb string, files []string) error {
	want, known := takes[verb]
	for _, file := range files {
		if !known {
			return nil
		}
		kind, foreignIs := kindOf(file)
		if _, ok := sink.FindRun(file); ok {
			kind = configs.RunFile
			if slices.Contains(want, kind) {
				sayPassedOver(w, file)
			}
		}
		st, missing := os.Stat(file)
		switch {
		case errors.Is(missing, fs.ErrNotExist) && filepath.Ext(file) != "" && verb != "check": // that says it as an answer
			return report.ExitWith(report.Invalid, missing)
		case kind == configs.UnknownFile && slices.Contains(want, configs.RunFile) &&
			(missing == nil && st.IsDir() || missing != nil && filepath.Ext(file) == ""):
			return report.Exitf(report.Invalid, "%s: no recording there%s; hil run makes one", file, report.NearFile(missing))
		case foreignIs != "":
			return report.Exitf(report.Invalid, "%s %s; hil %s does not take that (see hil %[3]s --help)", file, foreignIs, verb)
		case kind == configs.UnknownFile || slices.Contains(want, kind):
		case kind == configs.NumbersFile && slices.Contains(want, configs.RunFile) && verb != "identify":
			return report.Exitf(report.Invalid, "%s is no recording: it holds columns of numbers; hil identify %[1]s says what it takes to fit them",
				file)
		case kind == configs.NumbersFile:
			return report.ExitWith(report.Invalid, errors.New(numbersNeed(file)))
		default:
			return report.Exitf(report.Invalid, "%s %s; hil %s does not take that. Try:  %s", file, kinds[kind].is, verb,
				fmt.Sprintf(kinds[kind].next, file))
		}
	}
	return nil
}

// sayPassedOver says which run of a folder is taken, where it is not the newest.
func sayPassedOver(w io.Writer, dir string) {
	if file, _ := sink.FindRun(dir); filepath.Dir(file) == filepath.Clean(dir) || file == dir {
		return
	}
	p, _ := sink.PickRun(dir)
	if n := len(p.Skipped); n > 0 {
		shown := strings.Join(p.Skipped[:min(n, 3)], ", ")
		if n > 3 {
			shown += fmt.Sprintf(" and %d more", n-3)
		}
		fmt.Fprintf(w, "taking %s; newer, but passed over: %s\n", p.Dir, shown)
	}
}

// numbersNeed says what is missing beside columns of numbers, with an example to start from.
func numbersNeed(file string) string {
	names := configs.ColumnNames(file)
	if strings.EqualFold(filepath.Ext(strings.TrimSuffix(file, ".gz")), ".mat") {
		names = nil
	}
	columns, use := "", []string{"t", "x", "F"}
	if len(names) > 0 {
		columns = ": " + strings.Join(names[:min(len(names), 40)], ", ")
		copy(use, names)
	}
	return fmt.Sprintf(`%s holds columns of numbers%s. Say which is what, and its unit:

hil identify %[1]s --columns time=%[3]s:s,position=%[4]s:m,force=%[5]s:N --write-config axis.yaml

fits them, and writes the file that hil compare takes. docs/reference/identify.md explains columns, methods and keys`, file, columns, use[0], use[1], use[2])
}
