package exportmodel

import (
	"fmt"
	"strings"
)

// Rows are the steady curve as the Standard Library of Modelica takes it, and Peak is break-away friction over its first value.
func (f *file) Rows() string {
	c := &f.Contact
	if c.Fall == none && c.Power == 1 && c.Curve == nil && c.Root == 0 {
		return fmt.Sprintf("0, %s; 1, %s", formatNumber(c.Fore.Fc), formatNumber(c.Fore.Fc+c.Fore.Fv))
	}
	t, rows := f.Table(), []string{}
	for i, v := range t.Speeds {
		rows = append(rows, fmt.Sprintf("%.9g, %.9g", v, t.Forward[i]))
	}
	return strings.Join(rows, ";\n        ")
}

func (f *file) Peak() float64 {
	if c := &f.Contact; c.Fall == none && c.Fore.Fc > 0 && c.Curve == nil {
		return c.Fore.Fs / c.Fore.Fc
	}
	return 1
}

// Swing is a force (N) that moves the axis.
func (f *file) Swing() float64 {
	c := &f.Contact
	return 2*max(c.Fore.Fs, c.Fore.Fc, c.Back.Fs, c.Back.Fc) + c.Fore.Fv
}
