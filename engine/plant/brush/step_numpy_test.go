package brush

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"testing"

	"hilrig/engine"
	"hilrig/engine/contact"
	"hilrig/engine/peer"
)

// Steps of a run, each done again by testdata/step.py from the equations alone: bodies, joints, outline, contacts and their states.
func TestStepsAgainstNumPy(t *testing.T) {
	python := peer.Python(t, "numpy")
	kinds := map[uint32]int{}
	for _, c := range []struct {
		name   string
		change func(*Params)
	}{
		{"new", nil},
		{"worn", func(p *Params) { p.Brush.Length = 0.012 }},
		{"raked, holder off centre", func(p *Params) {
			p.Brush.Length, p.Holder.Rake, p.Holder.X, p.Holder.Offset = 0.014, -3e-3, 5e-4, 1e-3
		}},
	} {
		t.Run(c.name, func(t *testing.T) { stepsAgainstNumPy(t, python, build(t, false, c.change), kinds) })
	}
	// lower ends of the walls, upper ends or top corners, and the tip
	if len(kinds) < 4 {
		t.Errorf("contacts other than the face: %v", kinds)
	}
}

func stepsAgainstNumPy(t *testing.T, python string, b *Brush, kinds map[uint32]int) {
	const h, beta, theta, vth = 20e-6, 0.2, 0.55, 1e-3
	type step struct {
		T      float64   `json:"t"`
		Q      []float64 `json:"q"`
		U      []float64 `json:"u"`
		Q1     []float64 `json:"q1"`
		U1     []float64 `json:"u1"`
		closed int
	}
	in := struct {
		Params map[string]float64 `json:"params"`
		Face   [][3]float64       `json:"face"`
		Wheel  [][2]float64       `json:"wheel"`
		H      float64            `json:"h"`
		Theta  float64            `json:"theta"`
		Beta   float64            `json:"beta"`
		VTh    float64            `json:"vth"`
		Cases  []step             `json:"cases"`
	}{Params: map[string]float64{}, H: h, Theta: theta, Beta: beta, VTh: vth}
	p := b.Params()
	for _, f := range p.Table() {
		if f.Ptr != nil {
			in.Params[f.Key] = *f.Ptr
		}
	}
	for _, v := range b.point {
		in.Face = append(in.Face, [3]float64{v.xi, v.eta, float64(v.segment)})
	}
	x, y := b.Commutator().Vertices()
	for k := range x {
		in.Wheel = append(in.Wheel, [2]float64{x[k], y[k]})
	}

	m, err := contact.NewMoreau(b, contact.MoreauOptions{Step: h, Theta: theta, Beta: beta, VTh: vth})
	if err != nil {
		t.Fatal(err)
	}
	q, u := make([]float64, dof), make([]float64, dof)
	if err := b.Start(q, u); err != nil {
		t.Fatal(err)
	}
	// a few steps of each number of closed contacts, and of each contact but those of the face
	var have [5]int
	for k := range 20000 {
		s := step{T: float64(k) * h, Q: slices.Clone(q), U: slices.Clone(u)}
		if r := m.Step(s.T, q, u); r.Status != engine.OK {
			t.Fatalf("step %d: %v", k, r.Status)
		}
		s.Q1, s.U1, s.closed = slices.Clone(q), slices.Clone(u), len(m.ClosedPlaces)
		if s.closed >= len(have) || k%7 != 1 {
			continue
		}
		take := have[s.closed] < 3
		for _, c := range m.ClosedPlaces {
			take = take || !onFace(m.Set.ID[c]) && kinds[m.Set.ID[c]] < 3
		}
		if !take {
			continue
		}
		in.Cases = append(in.Cases, s)
		have[s.closed]++
		for _, c := range m.ClosedPlaces {
			if id := m.Set.ID[c]; !onFace(id) {
				kinds[id]++
			}
		}
	}
	if have[3] < 3 {
		t.Fatalf("steps by closed contacts: %d", have)
	}
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "testdata/step.py")
	cmd.Stdin = bytes.NewReader(data)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("python: %v\n%s", err, out)
	}
	worstU, worstQ := 0.0, 0.0
	for i, line := range bytes.Split(bytes.TrimSpace(out), []byte("\n")) {
		var closed int
		var du, dq float64
		if _, err := fmt.Sscan(string(line), &closed, &du, &dq); err != nil {
			t.Fatalf("python printed %q", line)
		}
		s := &in.Cases[i]
		if closed != s.closed || !(du < 1e-10) || !(dq < 1e-15) {
			t.Errorf("t = %g s: %d closed, NumPy %d; velocities differ by %.2g of their change, positions by %.2g m", s.T, s.closed, closed, du, dq)
		}
		worstU, worstQ = max(worstU, du), max(worstQ, dq)
	}
	t.Logf("%d steps, %d by closed contacts, others than the face so far %v: velocities differ by %.2g of their change, positions by %.2g",
		len(in.Cases), have, kinds, worstU, worstQ)
}
