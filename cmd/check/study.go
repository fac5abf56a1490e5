package check

import (
	"fmt"

	"hilrig/cmd/report"
	"hilrig/cmd/study"
	"hilrig/configs"
)

// study says what a study would do.
func (a *Answer) study(name string, c *configs.Study) error {
	a.fact("base", "%s", c.BaseName())
	if list := c.Recordings(); len(list) > 0 {
		a.fact("records", "%d, from %s to %s", len(list), list[0], list[len(list)-1])
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
		a.fact(lead, "%s", text)
	}
	if p, err := study.PlanOf(c); err != nil {
		a.fact("plan", "%v", err)
	} else {
		a.fact("plan", "%s, %d runs, seed %d", c.Design.Kind, p.Runs(), c.Design.Seed)
	}
	a.then("study", name)
	return nil
}
