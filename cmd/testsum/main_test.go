package main

import (
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
		{"go: no such module\n", false, []string{"go: no such module", "no test ran"}, "passed in 1"},
	} {
		var out strings.Builder
		if well := summarise(strings.NewReader(c.in), &out); well != c.well {
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
