package main

import (
	"io"
	"slices"
	"strings"
	"testing"
)

const run = `{"Action":"start","Package":"a"}
{"Action":"run","Package":"a","Test":"TestGood"}
{"Action":"output","Package":"a","Test":"TestGood","Output":"=== RUN   TestGood\n"}
{"Action":"output","Package":"a","Test":"TestGood","Output":"    good_test.go:3: all is well\n"}
{"Action":"pass","Package":"a","Test":"TestGood","Elapsed":0}
{"Action":"output","Package":"a","Test":"TestLeft","Output":"=== RUN   TestLeft\n"}
{"Action":"output","Package":"a","Test":"TestLeft","Output":"    left_test.go:12: a peer is absent: octave\n"}
{"Action":"output","Package":"a","Test":"TestLeft","Output":"--- SKIP: TestLeft (0.00s)\n"}
{"Action":"skip","Package":"a","Test":"TestLeft","Elapsed":0}
{"Action":"output","Package":"a","Output":"PASS\n"}
{"Action":"pass","Package":"a","Elapsed":1.25}
{"Action":"output","Package":"none","Output":"?   \tnone\t[no test files]\n"}
{"Action":"skip","Package":"none","Elapsed":0}
`

const bad = `{"Action":"output","Package":"b","Test":"TestBad","Output":"    bad_test.go:7: 3, want 4\n"}
{"Action":"fail","Package":"b","Test":"TestBad","Elapsed":0}
{"Action":"output","Package":"b","Output":"FAIL\n"}
{"Action":"fail","Package":"b","Elapsed":0.5}
`

// what go test says of a test that panics, and of a program that ends before its tests do
const panics = `{"Action":"output","Package":"b","Test":"TestBad","Output":"panic: y\n"}
{"Action":"fail","Package":"b","Test":"TestBad","Elapsed":0}
{"Action":"output","Package":"b","Output":"FAIL\tb\t0.009s\n"}
{"Action":"fail","Package":"b","Elapsed":0.009}
`

const exits = `{"Action":"output","Package":"b","Output":"FAIL\tb\t0.004s\n"}
{"Action":"fail","Package":"b","Elapsed":0.008}
`

const again = `{"Action":"pass","Package":"b","Test":"TestBad","Elapsed":0}
{"Action":"pass","Package":"b","Elapsed":0.5}
`

const broken = `{"ImportPath":"c [c.test]","Action":"build-output","Output":"c/c.go:1:1: undefined: x\n"}
{"ImportPath":"c [c.test]","Action":"build-fail"}
{"Action":"fail","Package":"c","Elapsed":0,"FailedBuild":"c [c.test]"}
`

func TestSummarise(t *testing.T) {
	for _, c := range []struct {
		in    string
		well  bool
		has   []string
		hasNo string
	}{
		{run, true, []string{"ok    a  1.2 s\n", "\n1 tests passed in 1 packages, 1 skipped:\n  a TestLeft: a peer is absent: octave\n"},
			"all is well"},
		{run + bad, false, []string{"bad_test.go:7: 3, want 4", "FAIL  b  0.5 s\n", "\nFAIL\n"}, "all is well"},
		{run + broken, false, []string{"undefined: x", "FAIL  c"}, "all is well"},
		{run + bad + again, true, []string{"bad_test.go:7: 3, want 4", "2 tests passed",
			"1 failed, and passed when repeated with nothing beside:\n  b TestBad\n"}, "no test ran"},
		{run + bad + bad, false, []string{"\nFAIL\n"}, "repeated"},
		{run + panics + again, false, []string{"panic: y", "\nFAIL\n"}, "all is well"},
		{run + exits + again, false, []string{"\nFAIL\n"}, "all is well"},
		{"go: no such module\n", false, []string{"go: no such module", "no test ran"}, "passed in 1"},
	} {
		var out strings.Builder
		if well := summarise(strings.NewReader(c.in), &out).report(&out); well != c.well {
			t.Errorf("well: %v, want %v\n%s", well, c.well, out.String())
		}
		for _, want := range c.has {
			if !strings.Contains(out.String(), want) {
				t.Errorf("lacks %q:\n%s", want, out.String())
			}
		}
		if strings.Contains(out.String(), c.hasNo) {
			t.Errorf("has %q:\n%s", c.hasNo, out.String())
		}
	}
}

// Only tests beside which all others have run, and not many, are repeated.
func TestRepeatable(t *testing.T) {
	test, end, _ := strings.Cut(bad, "Elapsed\":0}\n")
	test += "Elapsed\":0}\n"
	many := ""
	for _, name := range []string{"A", "B", "C", "D"} {
		many += strings.ReplaceAll(test, "TestBad", "Test"+name)
	}
	for _, c := range []struct {
		in   string
		want []string
	}{
		{run, nil}, {run + bad, []string{"TestBad"}}, {strings.ReplaceAll(bad, "TestBad\"", "TestBad/one case\""), []string{"TestBad"}},
		{run + bad + again, nil}, {run + panics, nil}, {run + exits, nil}, {run + broken, nil}, {many + end, nil},
		{strings.ReplaceAll(many, "TestD", "TestC") + end, []string{"TestA", "TestB", "TestC"}},
	} {
		if got := summarise(strings.NewReader(c.in), io.Discard).repeatable(); !slices.Equal(got, c.want) {
			t.Errorf("%v, want %v of\n%s", got, c.want, c.in)
		}
	}
}
