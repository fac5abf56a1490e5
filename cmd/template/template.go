// Package template fills texts in the syntax of text/template. Fields, map entries and given functions stand for values; methods do not:
// a library that looks methods up by name makes the linker keep every exported method of the program, which costs 7 MB.
//
// Done: fields, variables, if, range over a list, with, define, template, pipelines, and of the functions and, or, not, eq, len, index,
// print, printf. In a page (New with html) values are escaped as html/template does for elements and quoted attributes; what is HTML
// already is a value of type HTML. A page must not have values elsewhere: not as a tag, a link, a style or a script.
package template

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"strings"
	"text/template/parse"
)

// HTML is a value that stands in a page as it is.
type HTML string

// Functions are what templates can call: results are a value, or a value and an error.
type Functions map[string]any

// Template is a set of templates with names.
type Template struct {
	html      bool
	functions Functions
	trees     map[string]*parse.Tree
}

// New is a set without templates that can call functions.
func New(html bool, functions Functions) *Template {
	return &Template{html: html, functions: functions, trees: map[string]*parse.Tree{}}
}

// Add adds the template text and those that are defined in it. It panics where the text is no template: texts are parts of the program.
func (t *Template) Add(name, text string) *Template {
	trees, err := parse.Parse(name, text, "", "", t.functions, builtins)
	if err != nil {
		panic(err)
	}
	for name, tree := range trees {
		t.trees[name] = tree
	}
	return t
}

// Execute writes the template name, filled with data. Nothing is written where it fails.
func (t *Template) Execute(w io.Writer, name string, data any) (err error) {
	x := execution{Template: t}
	defer func() {
		switch r := recover().(type) {
		case nil:
			_, err = x.out.WriteTo(w)
		case failure:
			err = fmt.Errorf("template %s: %w", name, r.error)
		default:
			panic(r)
		}
	}()
	x.template(name, reflect.ValueOf(data))
	return nil
}

// failure ends an execution.
type failure struct{ error }

func fail(format string, args ...any) { panic(failure{fmt.Errorf(format, args...)}) }

// variable of a template, such as $x.
type variable struct {
	name  string
	value reflect.Value
}

// execution is one filling of a template.
type execution struct {
	*Template
	out       bytes.Buffer
	variables []variable // the innermost is the last one
}

// template fills a template whose dot and $ are data.
func (x *execution) template(name string, data reflect.Value) {
	tree := x.trees[name]
	if tree == nil {
		fail("there is no template %q", name)
	}
	outer := x.variables
	x.variables = []variable{{"$", data}}
	x.walk(data, tree.Root)
	x.variables = outer
}

// walk fills a node.
func (x *execution) walk(dot reflect.Value, node parse.Node) {
	switch n := node.(type) {
	case *parse.ListNode:
		if n != nil {
			for _, part := range n.Nodes {
				x.walk(dot, part)
			}
		}
	case *parse.TextNode:
		x.out.Write(n.Text)
	case *parse.ActionNode:
		if v := x.pipeline(dot, n.Pipe); len(n.Pipe.Decl) == 0 {
			x.print(v)
		}
	case *parse.TemplateNode:
		x.template(n.Name, x.pipeline(dot, n.Pipe))
	case *parse.IfNode:
		x.branch(dot, &n.BranchNode)
	case *parse.WithNode:
		x.branch(dot, &n.BranchNode)
	case *parse.RangeNode:
		x.branch(dot, &n.BranchNode)
	default:
		fail("%s is not done here", node)
	}
}

// branch fills if, with and range. Their variables end with them.
func (x *execution) branch(dot reflect.Value, n *parse.BranchNode) {
	defer func(outer int) { x.variables = x.variables[:outer] }(len(x.variables))
	v := x.pipeline(dot, n.Pipe)
	switch {
	case !isTrue(v):
		x.walk(dot, n.ElseList)
	case n.NodeType == parse.NodeIf:
		x.walk(dot, n.List)
	case n.NodeType == parse.NodeWith:
		x.walk(v, n.List)
	default:
		inner := len(x.variables)
		for i := range v.Len() {
			named := []reflect.Value{reflect.ValueOf(i), v.Index(i)}
			named = named[2-len(n.Pipe.Decl):] // one variable is the element
			for k, d := range n.Pipe.Decl {
				x.variables[inner-len(named)+k] = variable{d.Ident[0], named[k]}
			}
			x.walk(v.Index(i), n.List)
			x.variables = x.variables[:inner]
		}
	}
}

// pipeline is its value, which its variables have too.
func (x *execution) pipeline(dot reflect.Value, p *parse.PipeNode) (v reflect.Value) {
	if p == nil {
		return v
	}
	for i, c := range p.Cmds {
		args := c.Args
		name, isFunction := args[0].(*parse.IdentifierNode)
		if !isFunction {
			v = x.value(dot, args[0])
			continue
		}
		var values []reflect.Value
		for _, a := range args[1:] {
			values = append(values, x.value(dot, a))
		}
		if i > 0 {
			values = append(values, v)
		}
		v = x.call(name.Ident, values)
	}
	for _, d := range p.Decl {
		x.variables = append(x.variables, variable{d.Ident[0], v})
	}
	return v
}

// value is what a node other than a call stands for.
func (x *execution) value(dot reflect.Value, node parse.Node) reflect.Value {
	switch n := node.(type) {
	case *parse.DotNode:
		return dot
	case *parse.FieldNode:
		return fields(dot, n.Ident)
	case *parse.ChainNode:
		return fields(x.value(dot, n.Node), n.Field)
	case *parse.VariableNode:
		for i := len(x.variables) - 1; i >= 0; i-- {
			if x.variables[i].name == n.Ident[0] {
				return fields(x.variables[i].value, n.Ident[1:])
			}
		}
	case *parse.IdentifierNode:
		return x.call(n.Ident, nil)
	case *parse.PipeNode:
		return x.pipeline(dot, n)
	case *parse.StringNode:
		return reflect.ValueOf(n.Text)
	case *parse.NumberNode:
		if n.IsInt && !strings.ContainsAny(n.Text, ".eE") {
			return reflect.ValueOf(int(n.Int64))
		}
		return reflect.ValueOf(n.Float64)
	}
	fail("%s is not done here", node)
	panic("unreachable")
}

// fields follows the names of fields and map entries.
func fields(v reflect.Value, names []string) reflect.Value {
	for _, name := range names {
		switch of := behind(v); of.Kind() {
		case reflect.Struct:
			v = of.FieldByName(name)
		case reflect.Map:
			v = of.MapIndex(reflect.ValueOf(name))
		default:
			v = reflect.Value{}
		}
		if !v.IsValid() {
			fail("there is no %s in .%s", name, strings.Join(names, "."))
		}
	}
	if v.Kind() == reflect.Interface {
		return v.Elem()
	}
	return v
}

// behind is what pointers and interfaces hold.
func behind(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return v
}

// isTrue tells whether a value counts as true: not zero, not empty.
func isTrue(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() > 0
	case reflect.Struct:
		return true
	}
	return v.IsValid() && !v.IsZero()
}

// builtins are the functions of every template.
var builtins = Functions{
	"print": fmt.Sprint, "printf": fmt.Sprintf,
	"not": func(v any) bool { return !isTrue(reflect.ValueOf(v)) },
	"and": func(values ...any) any { return firstOr(false, values) },
	"or":  func(values ...any) any { return firstOr(true, values) },
	"len": func(v any) int { return behind(reflect.ValueOf(v)).Len() },
	"eq": func(a, b any) bool {
		x, y := reflect.ValueOf(a), reflect.ValueOf(b)
		return a == b || x.Kind() == reflect.String && y.Kind() == reflect.String && x.String() == y.String()
	},
	"index": func(list, at any) any {
		v, i := behind(reflect.ValueOf(list)), reflect.ValueOf(at)
		if v.Kind() != reflect.Map {
			return v.Index(int(i.Int())).Interface()
		}
		if e := v.MapIndex(i.Convert(v.Type().Key())); e.IsValid() {
			return e.Interface()
		}
		return reflect.Zero(v.Type().Elem()).Interface()
	},
}

// firstOr is the first value that counts as truth, else the last one.
func firstOr(truth bool, values []any) any {
	for _, v := range values {
		if isTrue(reflect.ValueOf(v)) == truth {
			return v
		}
	}
	return values[len(values)-1]
}

// call is the result of a function.
func (x *execution) call(name string, args []reflect.Value) reflect.Value {
	f, ok := x.functions[name]
	if !ok {
		f = builtins[name]
	}
	function := reflect.ValueOf(f)
	t := function.Type()
	for i, a := range args {
		want := t.In(min(i, t.NumIn()-1))
		if t.IsVariadic() && i >= t.NumIn()-1 {
			want = want.Elem()
		}
		switch {
		case !a.IsValid():
			args[i] = reflect.Zero(want)
		case a.Type().AssignableTo(want):
		case a.Kind() == reflect.Pointer && !a.IsNil() && a.Type().Elem().AssignableTo(want):
			args[i] = a.Elem()
		case a.CanAddr() && a.Addr().Type().AssignableTo(want):
			args[i] = a.Addr()
		default:
			fail("%s takes %s, not %s", name, want, a.Type())
		}
	}
	out := function.Call(args)
	if len(out) == 2 && !out[1].IsNil() {
		panic(failure{fmt.Errorf("%s: %w", name, out[1].Interface().(error))})
	}
	if out[0].Kind() == reflect.Interface {
		return out[0].Elem()
	}
	return out[0]
}

// escaped are the characters that html/template replaces in elements and attributes.
var escaped = strings.NewReplacer("\x00", "\uFFFD", `"`, "&#34;", "&", "&amp;", "'", "&#39;", "+", "&#43;", "<", "&lt;", ">", "&gt;")

// Escape is a text as a part of a page.
func Escape(text string) HTML { return HTML(escaped.Replace(text)) }

// print writes a value.
func (x *execution) print(v reflect.Value) {
	if v = behind(v); !v.IsValid() {
		fail("a value is not there")
	}
	if ready, ok := v.Interface().(HTML); ok {
		x.out.WriteString(string(ready))
	} else if text := fmt.Sprint(v.Interface()); x.html {
		x.out.WriteString(string(Escape(text)))
	} else {
		x.out.WriteString(text)
	}
}
