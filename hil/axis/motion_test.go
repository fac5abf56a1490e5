package axis

import (
	"math"
	"testing"

	"hilrig/engine/plant"
	"hilrig/engine/reference"
)

func newMotion(t *testing.T, fade float64) *motion {
	gen, err := reference.New(reference.Spec{Kind: "sine", Amplitude: 1, Frequency: 1})
	if err != nil {
		t.Fatal(err)
	}
	return &motion{gen: gen, fade: fade, wantScale: 1}
}

// A start takes scale and offset as they are wanted, also the first one that resumes; a resume goes on where they were.
func TestMotionStart(t *testing.T) {
	for _, resume := range []bool{false, true} {
		m := newMotion(t, 1)
		m.wantScale, m.wantOffset = 2, 0.5
		m.start(0, resume)
		if m.scale.x != 2 || m.offset.x != 0.5 {
			t.Errorf("first start, resume %v: scale %g, offset %g", resume, m.scale.x, m.offset.x)
		}
		m.wantScale = 3
		for range 100 {
			m.step(1e-3)
		}
		part, at := m.scale.x, m.t
		if !(part > 2 && part < 3) {
			t.Fatalf("scale %g after 0.1 s", part)
		}
		m.pause(0.1)
		if p, v, a := m.step(1e-3); p != 0.1 || v != 0 || a != 0 {
			t.Errorf("paused at %g, %g, %g", p, v, a)
		}
		if m.start(0.1, true); m.scale.x != part || m.t != at {
			t.Errorf("resumed with scale %g at %g s, was %g at %g s", m.scale.x, m.t, part, at)
		}
		if m.start(0.1, false); m.scale.x != 3 || m.t != 0 {
			t.Errorf("started anew with scale %g at %g s", m.scale.x, m.t)
		}
	}
}

// Without a fade the generator's motion is taken as it is, and a change of the scale acts at once.
func TestMotionWithoutFade(t *testing.T) {
	m := newMotion(t, 0)
	m.start(7, false)
	for _, scale := range []float64{1, 2} {
		m.wantScale = scale
		p, v, a := m.step(0.01)
		q, w, b := m.gen.At(m.t)
		if p != scale*q || v != scale*w || a != scale*b {
			t.Errorf("scale %g: %g, %g, %g, want %g times %g, %g, %g", scale, p, v, a, scale, q, w, b)
		}
	}
}

// A step of the glide fulfils its equation, dx⁺ = dx + dt·(w²(want − x⁺) − 2w·dx⁺) and x⁺ = x + dt·dx⁺, and many small ones the closed form
// of the critically damped motion.
func TestGlide(t *testing.T) {
	const step = 1e-3
	for _, q := range []float64{0.01, 0.5, 1} {
		for _, from := range []float64{0.2, 1.5} { // 1.5: on its way through the place where it is wanted
			w, g := q/step, glide{x: from, dx: -3}
			x, dx, ddx := g.follow(1.5, w, step)
			left := dx + 3 - step*(w*w*(1.5-x)-2*w*dx)
			if math.Abs(left) > 1e-9*w || math.Abs(x-from-step*dx) > 1e-15 || math.Abs(ddx-(dx+3)/step) > 1e-9 {
				t.Errorf("w·dt %g from %g: %g left over", q, from, left)
			}
		}
	}
	// too fast for the step, or without a frequency, it jumps
	for _, w := range []float64{1.001 / step, 100 / step, 0} {
		g := glide{x: 0.2, dx: -3}
		if x, dx, ddx := g.follow(1.5, w, step); x != 1.5 || dx != 0 || ddx != 0 || g != (glide{x: 1.5}) {
			t.Errorf("w·dt %g: %g, %g, %g, want 1.5 at once", w*step, x, dx, ddx)
		}
	}
	g, w, dt := glide{}, 10.0, 1e-5
	for n := 1; n <= 30000; n++ {
		g.follow(1, w, dt)
	}
	if want := 1 - (1+w*0.3)*math.Exp(-w*0.3); math.Abs(g.x-want) > 1e-4 {
		t.Errorf("after 0.3 s %g, want %g", g.x, want)
	}
}

// The blended motion is continuous in position, velocity and acceleration through start, pause, resume and a change of
// scale; its velocity and acceleration are its derivatives.
func TestMotion(t *testing.T) {
	gen, err := reference.New(reference.Spec{Kind: "sine", Amplitude: 2, Frequency: 0.7})
	if err != nil {
		t.Fatal(err)
	}
	m := motion{gen: gen, fade: 0.5, wantScale: 1}
	const dt = 1e-4
	m.start(5, false)
	if p, v, a := m.step(1e-9); math.Abs(p-5) > 1e-6 || math.Abs(v) > 1e-3 || math.Abs(a) > 1 {
		t.Errorf("start at %g %g %g, want 5 0 0", p, v, a)
	}
	p0, v0, a0 := m.step(dt)
	for k := range 30000 {
		switch k {
		case 12000:
			m.wantScale = 0.5
		case 20000:
			m.wantOffset = 1
		}
		p, v, a := m.step(dt)
		if d := math.Abs((p-p0)/dt - (v+v0)/2); d > 1e-2 { // dt·jerk and the first-order step of the scale
			t.Fatalf("step %d: velocity %g, difference quotient %g", k, v, (p-p0)/dt)
		}
		if k != 12000 && k != 20000 && math.Abs((v-v0)/dt-(a+a0)/2) > 0.5 { // the new wish makes the acceleration jump
			t.Fatalf("step %d: acceleration %g, difference quotient %g", k, a, (v-v0)/dt)
		}
		p0, v0, a0 = p, v, a
	}
	m.pause(p0)
	if p, v, a := m.step(dt); p != p0 || v != 0 || a != 0 {
		t.Errorf("paused at %g %g %g, want %g 0 0", p, v, a, p0)
	}
	m.start(p0, true)
	if p, _, _ := m.step(1e-9); math.Abs(p-p0) > 1e-6 {
		t.Errorf("resumed at %g, want %g", p, p0)
	}
}

// The way to a reference that starts elsewhere is no faster than the limit, to either side, however short the fade, and arrives; so are
// changes of offset and scale, and a reference that runs away from the axis meanwhile. Without a limit the fade alone decides.
func TestApproach(t *testing.T) {
	const dt = 1e-3
	for _, c := range []struct {
		name     string
		spec     reference.Spec
		fade     float64
		from     float64                 // rad
		change   func(m *motion)         // after 1 s
		own      func(t float64) float64 // rad/s  speed of the reference itself
		longest  float64                 // s  until it has arrived
		unlimted float64                 // rad/s  top speed without the limit, at least
	}{
		{"40 rad away", reference.Spec{Kind: "constant", Offset: 40}, 1, 0, nil, nil, 40 * 15. / 8 / 5, 70},
		{"40 rad below", reference.Spec{Kind: "constant", Offset: -40}, 1, 0, nil, nil, 40 * 15. / 8 / 5, 70},
		{"axis elsewhere", reference.Spec{Kind: "constant"}, 0.1, -30, nil, nil, 30 * 15. / 8 / 5, 500},
		{"no fade", reference.Spec{Kind: "constant", Offset: 10}, 0, 0, nil, nil, 10 * 15. / 8 / 5, 0},
		{"near: the fade decides", reference.Spec{Kind: "constant", Offset: 1}, 1, 0, nil, nil, 1, 1.8},
		{"sine", reference.Spec{Kind: "sine", Amplitude: 3, Frequency: 0.5}, 1, 20, nil,
			func(t float64) float64 { return 3 * math.Pi * math.Abs(math.Cos(math.Pi*t)) }, 12, 30},
		{"runs away", reference.Spec{Kind: "ramp", Velocity: 20}, 2, 0, nil, func(float64) float64 { return 20 }, 30, 24},
		{"offset", reference.Spec{Kind: "constant"}, 0.5, 0, func(m *motion) { m.wantOffset = -60 }, nil, 15, 200},
		{"offset without a fade", reference.Spec{Kind: "constant"}, 0, 0, func(m *motion) { m.wantOffset = 60 }, nil, 15, 1000},
		{"scale", reference.Spec{Kind: "constant", Offset: -6}, 0.5, -6, func(m *motion) { m.wantScale = 8 }, nil, 12, 100},
		{"a little offset: the fade decides", reference.Spec{Kind: "constant"}, 0.5, 0, func(m *motion) { m.wantOffset = 0.5 }, nil, 4, 2},
	} {
		for _, limit := range []float64{5, 0} {
			gen, err := reference.New(c.spec)
			if err != nil {
				t.Fatal(err)
			}
			m := &motion{gen: gen, fade: c.fade, approach: limit, wantScale: 1}
			m.start(c.from, false)
			last, fastest, arrived := c.from, 0.0, 0.0
			for k := 1; k < 40000; k++ {
				if k == 1000 && c.change != nil {
					c.change(m)
				}
				now := float64(k) * dt
				p, v, _ := m.step(dt)
				own := 0.0
				if c.own != nil {
					own = c.own(now)
				}
				speed := math.Abs(p-last) / dt
				if limit > 0 && (speed > own+limit*1.02+0.05 || math.Abs(v) > own+limit*1.02+0.05) {
					t.Fatalf("%s: %g rad/s (told %g) after %g s, the reference itself %g, limit %g", c.name, speed, v, now, own, limit)
				}
				if last, fastest = p, max(fastest, speed); m.s < m.length || math.Abs(m.offset.x-m.wantOffset)+math.Abs(m.scale.x-m.wantScale) > 1e-3 {
					arrived = now
				}
			}
			if limit > 0 && arrived > c.longest*1.02+0.01 {
				t.Errorf("%s: arrived after %g s, want %g", c.name, arrived, c.longest)
			}
			if limit == 0 && fastest < c.unlimted {
				t.Errorf("%s: the limit has nothing to do: %g rad/s without it", c.name, fastest)
			}
		}
	}
}

// Where nothing is said the limit is a tenth of the largest speed, or of what the command can make; there is none for an effort or a
// command.
func TestApproachDefault(t *testing.T) {
	for _, c := range []struct {
		s    Spec
		want float64
	}{
		{Spec{MaxSpeed: 300}, 30},
		{Spec{MaxSpeed: 300, Approach: 7}, 7},
		{Spec{Drive: plant.VoltageDrive, TopCommand: 12, Motor: plant.Motor{K: 0.04}}, 30},
		{Spec{Drive: plant.VelocityDrive, TopCommand: 50}, 5},
		{Spec{Drive: plant.CurrentDrive, TopCommand: 50, Motor: plant.Motor{K: 0.04}}, 0},
		{Spec{Drive: plant.CurrentDrive, MaxSpeed: 20}, 2},
		{Spec{RefKind: OfEffort, MaxSpeed: 20, Approach: 3}, 0},
		{Spec{RefKind: OfCommand, Drive: plant.VelocityDrive, TopCommand: 50}, 0},
	} {
		if got := c.s.approach(); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%+v: %g, want %g", c.s, got, c.want)
		}
	}
}
