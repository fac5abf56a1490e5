package configs

import (
	"bytes"
	"math"
	"os"
	"strings"
	"testing"

	"hilrig/engine/multibody"
	"hilrig/engine/multibody/robot"
)

// A robot that was written as a machine file and read again has the same inertia matrix and the same torques at any state.
func TestRobotsBecomeMachines(t *testing.T) {
	for _, name := range []string{"arm.urdf", "tree.xml"} {
		text, err := os.ReadFile("../engine/multibody/robot/testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := robot.Read(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := WriteMachine(&b, r, name); err != nil {
			t.Fatal(err)
		}
		c, warnings, err := MachineBytes(name+".yaml", b.Bytes())
		if err != nil || len(warnings) > 0 {
			t.Fatalf("%v %v\n%s", warnings, err, b.String())
		}
		again, err := c.Build()
		if err != nil {
			t.Fatal(err)
		}
		m, err := multibody.Build(r.Spec)
		if err != nil {
			t.Fatal(err)
		}
		n := m.NV()
		if again.Model.NQ() != m.NQ() || again.Model.NC() != m.NC() {
			t.Fatalf("%s: %d coordinates, want %d; %d constraints, want %d", name, again.Model.NQ(), m.NQ(), again.Model.NC(), m.NC())
		}
		q, v, a := m.Neutral(), make([]float64, n), make([]float64, n)
		for i := range v {
			v[i], a[i] = math.Sin(float64(3*i)+0.5), math.Cos(float64(5*i))
		}
		multibody.Integrate(m, q, v, 1, q)
		d := m.NewData()
		for _, x := range []struct {
			m *multibody.Model
			d *multibody.Data
		}{{m, d}, {again.Model, again.Data}} {
			multibody.CRBA(x.m, x.d, q)
			multibody.RNEA(x.m, x.d, q, v, a)
		}
		for i := range n {
			tau := d.Tau[i]
			for _, body := range r.Spec.Bodies { // Coulomb friction is a part of the machine there
				if j, err := m.Joint(body.Name); err == nil {
					if _, _, _, iv := m.JointOf(j); iv == i {
						tau -= math.Copysign(body.Joint.Coulomb, v[i])
					}
				}
			}
			if math.Abs(again.Data.Tau[i]-tau) > 1e-12 {
				t.Errorf("%s: torque %d is %.15g, want %.15g", name, i, again.Data.Tau[i], tau)
			}
			for k := range n {
				if math.Abs(again.Data.H[i*n+k]-d.H[i*n+k]) > 1e-14 {
					t.Errorf("%s: inertia %d %d is %.15g, want %.15g", name, i, k, again.Data.H[i*n+k], d.H[i*n+k])
				}
			}
		}
	}
}

// Numbers that turns of 90 degrees leave where 0 is meant do not make a file that is refused; what is small and no rounding stays.
func TestWrittenRobotsAreTaken(t *testing.T) {
	for name, c := range map[string]struct{ inertia, rpy, want string }{
		"products":    {`ixx="0.01" ixy="1e-32" ixz="-3e-41" iyy="0.02" iyz="2e-33" izz="0.02"`, "0 0 0", ""},
		"turn":        {`ixx="0.01" iyy="0.02" izz="0.02"`, "3.141592653589793 1e-46 -9e-33", ""},
		"all of it":   {`ixx="0.01" iyy="0.02" izz="0.02"`, "0 0 9.2e-33", ""},
		"a real one":  {`ixx="0.01" ixy="1e-20" iyy="0.02" izz="0.02"`, "0 0 1e-17", "1e-20"},
		"a small one": {`ixx="2e-29" iyy="2e-29" izz="3e-29"`, "0 0 0", "e-29"},
	} {
		r, err := robot.Read(strings.NewReader(`<robot><link name="base"/><link name="arm"><inertial><origin xyz="0.1 0 1e-37"/><mass value="1"/><inertia ` + c.inertia + `/></inertial></link>
			<joint name="j" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="1e-35 0 0.3" rpy="` + c.rpy + `"/><axis xyz="0 1 0"/></joint></robot>`))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var b bytes.Buffer
		if err := WriteMachine(&b, r, "r.urdf"); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, _, err := MachineBytes("r.yaml", b.Bytes()); err != nil || !strings.Contains(b.String(), c.want) {
			t.Errorf("%s: %v\n%s", name, err, b.String())
		}
	}
}
