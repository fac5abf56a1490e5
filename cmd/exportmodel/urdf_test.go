package exportmodel

import (
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hilrig/engine/friction"
	"hilrig/engine/peer"
)

// The parser of ROS reads the robot, and the joint has the numbers of the law.
func TestURDF(t *testing.T) {
	check := peer.Program(t, "check_urdf", "liburdfdom-tools")
	for _, rotary := range []bool{true, false} {
		m := model(t, "static-coulomb-viscous", map[string]float64{"Fc": 0.75, "Fv": 0.125})
		m.Rotary = rotary
		text, _ := written(t, URDF, m)
		path := filepath.Join(t.TempDir(), "axis.urdf")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(check, path).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "Successfully Parsed XML") || !strings.Contains(string(out), "body") {
			t.Fatalf("check_urdf: %v\n%s\n%s", err, out, text)
		}
		var robot struct {
			Joint struct {
				Type     string `xml:"type,attr"`
				Dynamics struct {
					Damping  float64 `xml:"damping,attr"`
					Friction float64 `xml:"friction,attr"`
				} `xml:"dynamics"`
			} `xml:"joint"`
		}
		if err := xml.Unmarshal([]byte(text), &robot); err != nil {
			t.Fatal(err)
		}
		if d := robot.Joint.Dynamics; d.Damping != 0.125 || d.Friction != 0.75 || rotary != (robot.Joint.Type == "continuous") {
			t.Errorf("%+v", robot)
		}
	}
	for _, info := range friction.Laws() { // every file that is written is XML
		var b strings.Builder
		if _, err := Write(&b, string(URDF), model(t, info.Name, nil)); err != nil {
			continue
		}
		if err := xml.Unmarshal([]byte(b.String()), new(struct{})); err != nil {
			t.Errorf("%s: %v", info.Name, err)
		}
	}
}
