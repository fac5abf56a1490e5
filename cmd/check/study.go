package check

import (
	"fmt"
	"io"

	"hilrig/cmd/report"
	"hilrig/cmd/study"
	"hilrig/configs"
)

// describeStudy says what a study would do.
func describeStudy(w io.Writer, name string, c *configs.Study) {
	fmt.Fprintf(w, "base           %s\n", c.BaseName())
	if list := c.Recordings(); len(list) > 0 {
		fmt.Fprintf(w, "records        %d, from %s to %s\n", len(list), list[0], list[len(list)-1])
	}
	for i := range c.Vary {
		v := &c.Vary[i]
		lead, text := v.Name, ""
		if len(v.Values) > 0 {
			for k, x := range v.Values {
				if k > 0 {
					text += ", "
				}
				text += x.Text()
			}
		} else {
			text = fmt.Sprintf("%s … %s", report.WithUnit(v.Range.Lo, v.Unit()), report.WithUnit(v.Range.Hi, v.Unit()))
			if v.Scale != "linear" {
				text += ", " + v.Scale
			}
		}
		if v.Name != v.Path {
			text += "   " + v.Path
		}
		fmt.Fprintf(w, "%-14s %s\n", lead, text)
	}
	if p, err := study.PlanOf(c); err != nil {
		fmt.Fprintf(w, "plan           %v\n", err)
	} else {
		fmt.Fprintf(w, "plan           %s, %d runs, seed %d\n", c.Design.Kind, p.Runs(), c.Design.Seed)
	}
	fmt.Fprintf(w, "next: %s study %s\n", report.StartName, name)
}
