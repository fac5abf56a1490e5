// Package failure makes of a panic, which is a slip of the program, an error that names its place: one line for people, the stack for
// those who mend it.
package failure

import (
	"fmt"
	"os"
	"path"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
)

// Panic is what a panic was.
type Panic struct {
	Value any    // it was called with
	Place string // file and line of the program, such as identify/fit/lm.go:120; "": not known
	Stack []byte // of the goroutine

	line func() string // the report
}

func (p *Panic) Error() string {
	text := strings.Join(strings.Fields(fmt.Sprint(p.Value)), " ")
	if text = strings.ToValidUTF8(text[:min(len(text), 300)], ""); p.Place == "" {
		return text
	}
	return text + " at " + p.Place
}

// Of is the panic that recover gave, in the function that was deferred. One that was passed on by another goroutine keeps its place.
func Of(v any) *Panic {
	if p, ok := v.(*Panic); ok {
		return p
	}
	p := &Panic{Value: v, Place: place(), Stack: debug.Stack()}
	p.line = sync.OnceValue(p.report)
	return p
}

// Catch is deferred by a function that answers with an error: a panic becomes one.
func Catch(err *error) {
	if v := recover(); v != nil {
		*err = Of(v)
	}
}

var handler atomic.Pointer[func(*Panic)]

// Handle says who is told of a panic of a goroutine that nobody waits for, in place of the end of the program, until the function that it
// returns is called.
func Handle(tell func(*Panic)) (restore func()) {
	before := handler.Swap(&tell)
	return func() { handler.Store(before) }
}

// Report is deferred by a goroutine that nobody waits for. Where nobody is to be told, the program ends with a line and exit code 1.
func Report() {
	if v := recover(); v != nil {
		Pass(v)
	}
}

// Pass does so with a panic that was recovered.
func Pass(v any) {
	p := Of(v)
	if tell := handler.Load(); tell != nil {
		(*tell)(p)
		return
	}
	fmt.Fprintf(os.Stderr, "hil: %s\n", p.Report())
	os.Exit(1)
}

// Report is the line for people; the stack is in a file, which it names.
func (p *Panic) Report() string { return p.line() }

func (p *Panic) report() string {
	where := "the stack could not be kept"
	if f, err := os.CreateTemp("", "hil-panic-*.txt"); err == nil {
		_, err = fmt.Fprintf(f, "%s\n%s\n\n%s", strings.Join(os.Args, " "), p.Error(), p.Stack)
		if f.Close() == nil && err == nil {
			where = "the stack is in " + f.Name()
		}
	}
	return fmt.Sprintf("internal error: %s. This is a fault of the program: please report this line, the command and its files to those who "+
		"gave you the program; %s", p, where)
}

// module is how packages of this program begin.
const module = "hilrig/"

// place is the line of this program that panicked, or that called what did.
func place() string {
	pc := make([]uintptr, 64)
	frames := runtime.CallersFrames(pc[:runtime.Callers(2, pc)])
	for panicking := false; ; {
		f, more := frames.Next()
		switch {
		case f.Function == "runtime.gopanic":
			panicking = true
		case panicking && (strings.HasPrefix(f.Function, module) || strings.HasPrefix(f.Function, "main.")):
			return fmt.Sprintf("%s:%d", path.Join(folder(f.Function), path.Base(f.File)), f.Line)
		}
		if !more {
			return ""
		}
	}
}

// folder is that of the package of a function, within this program.
func folder(function string) string {
	dir, name := path.Split(function)
	name, _, _ = strings.Cut(name, ".")
	if name == "main" && dir == "" {
		return "cmd/hil"
	}
	return strings.TrimPrefix(dir+name, module)
}
