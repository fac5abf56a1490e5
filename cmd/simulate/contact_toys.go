package simulate

import (
	"maps"
	"math"

	"hilrig/engine/plant/toys"
)

// toyPicture draws a toy from its parameters.
func toyPicture(kind string, v map[string]float64, dof int) *picture {
	info, err := toys.Find(kind)
	if err != nil {
		return nil
	}
	p := map[string]float64{}
	for _, f := range info.Params() {
		p[f.Name] = f.Value
	}
	maps.Copy(p, v)
	plane := func(n int) func(float64, []float64, []float64) {
		return func(_ float64, q, out []float64) { copy(out[:3*n], q) }
	}
	floor := drawnBody{Name: "floor", Kind: "ground", Points: [][2]float64{{-100, 0}, {100, 0}}}
	switch kind {
	case "ball":
		r := p["radius"]
		h := p["start.height"] + 2*r
		return &picture{bodies: []drawnBody{{Name: "ball", Radius: r, Closed: true}, floor}, pose: plane(1),
			view: [4]float64{0, h / 2, 2 * h, 1.3 * h}}
	case "block":
		w, h := p["width"]/2, p["height"]/2
		return &picture{bodies: []drawnBody{box("block", w, h), floor}, pose: plane(1), view: [4]float64{0, h, 20 * w, 10 * h}}
	case "rod":
		l := p["length"] / 2
		return &picture{bodies: []drawnBody{{Name: "rod", Points: [][2]float64{{-l, 0}, {l, 0}}}, floor}, pose: plane(1),
			view: [4]float64{0, l, 6 * l, 4 * l}}
	case "discs":
		r1, r2 := p["radius_1"], p["radius_2"]
		return &picture{bodies: []drawnBody{{Name: "1", Radius: r1, Closed: true}, {Name: "2", Radius: r2, Closed: true}}, pose: plane(2),
			view: [4]float64{0, 0, 14 * (r1 + r2), 8 * (r1 + r2)}}
	case "chain":
		var bodies []drawnBody
		for range dof {
			bodies = append(bodies, drawnBody{Name: "ball", Radius: p["radius"], Closed: true})
		}
		r := p["radius"]
		return &picture{bodies: bodies, view: [4]float64{float64(dof) * r, 0, 4 * float64(dof) * r, 8 * r},
			pose: func(_ float64, q, out []float64) {
				for i, x := range q {
					out[3*i] = x
				}
			}}
	case "oscillator":
		return &picture{bodies: []drawnBody{box("mass", 0.02, 0.015), floor}, view: [4]float64{0, 0.02, 0.5, 0.2},
			pose: func(_ float64, q, out []float64) {
				out[0], out[1] = q[0], 0.015
			}}
	case "wheel":
		return wheelPicture(p)
	case "woodpecker":
		return woodpeckerPicture(p)
	}
	return nil
}

func box(name string, w, h float64) drawnBody {
	return drawnBody{Name: name, Closed: true, Points: [][2]float64{{-w, -h}, {w, -h}, {w, h}, {-w, h}}}
}

// wheelPicture has the nominal circle, which turns, and the slider, whose motion of some µm is enlarged.
func wheelPicture(p map[string]float64) *picture {
	r := p["radius"]
	slider := drawnBody{Name: "slider", Kind: "brush", Closed: true,
		Points: [][2]float64{{0, 0}, {0.1 * r, 0.1 * r}, {0.1 * r, 0.5 * r}, {-0.1 * r, 0.5 * r}, {-0.1 * r, 0.1 * r}}}
	return &picture{
		bodies:  []drawnBody{{Name: "wheel", Kind: "turning", Radius: r, Closed: true, Unscaled: true}, slider},
		view:    [4]float64{0, 0.3 * r, 3 * r, 3 * r},
		enlarge: 100, caption: "the wheel is drawn without its roughness; arrows are contact forces",
		pose: func(t float64, q, out []float64) {
			out[2] = p["speed"] * t
			out[3], out[4] = q[0], r+q[1]
		},
	}
}

// woodpeckerPicture has the sleeve, the spring as a line and the bird; the picture goes down with the sleeve.
func woodpeckerPicture(p map[string]float64) *picture {
	r, m, h := p["r_0"], p["r_M"], p["h_M"]
	lM, lG, hS, lS := p["l_M"], p["l_G"], p["h_S"], p["l_S"]
	rail := func(x float64) drawnBody {
		return drawnBody{Name: "pole", Kind: "ground", Points: [][2]float64{{x, -0.06}, {x, 0.06}}}
	}
	bird := drawnBody{Name: "bird", Kind: "turning", Closed: true, Points: [][2]float64{
		{-0.004, -0.02}, {0.004, -0.015}, {0.006, 0}, {0.004, hS + 0.003}, {-0.002, hS + 0.005}, {-lS, hS}, {-0.004, hS - 0.003}, {-0.005, 0}}}
	return &picture{
		bodies: []drawnBody{rail(-r), rail(r), {Name: "left", Kind: "holder", Points: [][2]float64{{-m, -h}, {-m, h}}},
			{Name: "right", Kind: "holder", Points: [][2]float64{{m, -h}, {m, h}, {m, 0}, {lM, 0}}}, bird},
		view:    [4]float64{0.01, 0, 0.08, 0.08},
		caption: "seen from the sleeve, which goes down the pole; arrows are contact forces",
		pose: func(_ float64, q, out []float64) {
			// q = (y, φ_M, φ_S): the spring sits at l_M on the sleeve, the bird's centre at l_G beyond it
			for i := 2; i < 4; i++ {
				out[3*i+2] = q[1]
			}
			sM, cM := math.Sincos(q[1])
			s, c := math.Sincos(q[2])
			out[12], out[13], out[14] = lM*cM+lG*c, lM*sM+lG*s, q[2]
		},
	}
}
