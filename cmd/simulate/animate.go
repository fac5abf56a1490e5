package simulate

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"io"
	"math"
	"slices"

	"hilrig/engine/contact"
	"hilrig/engine/numeric"
)

//go:embed animation.html
var animationPage []byte

// drawnBody is a body in its own frame: a circle, or a line through points that may be closed.
type drawnBody struct {
	Name     string       `json:"name"`
	Kind     string       `json:"kind"` // chooses the colour
	Radius   float64      `json:"radius,omitempty"`
	Points   [][2]float64 `json:"points,omitempty"`
	Closed   bool         `json:"closed,omitempty"`
	Unscaled bool         `json:"plain,omitempty"` // its motion is never enlarged
}

// picture is what an animation shows of a system.
type picture struct {
	bodies  []drawnBody
	pose    func(t float64, q, out []float64) // x, y, angle of every body
	view    [4]float64                        // centre and size (m)
	enlarge float64                           // by which motion about the first frame is enlarged; 0: never
	caption string
	traces  []string     // coordinates whose curves stand below; nil: all
	face    *facePicture // what lies under a brush; nil: nothing
}

// facePicture is the gap under a face on a wheel that is body 0 of the picture.
type facePicture struct {
	radius, width float64                                                       // m
	profile       []float64                                                     // m  of the wheel over its radius, at even angles in its frame
	points        func(q []float64, forces []contact.ContactForce) [][3]float64 // m along the face, m over the radius, N
}

// tracePanel is a curve over time below the picture.
type tracePanel struct {
	Name string     `json:"name"`
	Unit string     `json:"unit"`
	Y    []*float64 `json:"y"`
}

type animationFace struct {
	X       [2]float64     `json:"x"`
	Y       [2]float64     `json:"y"`
	Radius  float64        `json:"radius"`
	Profile []float64      `json:"profile"`
	Points  [][][3]float64 `json:"points"`
}

type animationData struct {
	Title    string         `json:"title"`
	Note     string         `json:"note"`
	Caption  string         `json:"caption,omitempty"`
	T        []float64      `json:"t"`
	Bodies   []drawnBody    `json:"bodies"`
	Pose     [][]float64    `json:"pose"`
	Rest     []float64      `json:"rest"`
	Contacts [][][4]float64 `json:"contacts"`
	Force    float64        `json:"force"` // N  drawn at full length
	View     [4]float64     `json:"view"`
	Enlarge  float64        `json:"enlarge,omitempty"`
	Face     *animationFace `json:"face,omitempty"`
	Traces   []tracePanel   `json:"traces,omitempty"`
	Space    *spacePicture  `json:"space,omitempty"` // in place of bodies and poses
}

// spacePicture is a machine that does not move in one plane: lines between ends, in three axes of which the last is up.
type spacePicture struct {
	Lines        [][3]int      `json:"lines"` // two ends, and the body that it is on
	Names        []string      `json:"names"` // of the bodies
	EndPositions [][]float64   `json:"at"`    // of every row, three numbers of each end (m)
	Ground       []int         `json:"ground"`
	Trail        int           `json:"trail"` // the end whose way is drawn; −1: none
	Axes         [3][3]float64 `json:"axes"`  // x, y and z of the world
	Centre       [3]float64    `json:"centre"`
	Size         float64       `json:"size"` // m
}

// animate writes a page that needs nothing but a browser: every row of the run, with its contact forces.
func (s *contactRun) animate(w io.Writer) error {
	p := s.animation
	if p == nil {
		return errNoPicture
	}
	d := animationData{Title: s.title(), Note: s.engineText(), Caption: p.caption, Bodies: p.bodies, View: p.view, Enlarge: p.enlarge}
	if p.face != nil {
		d.Face = &animationFace{X: [2]float64{-p.face.width / 2, p.face.width / 2}, Radius: p.face.radius}
		lo, hi := 0.0, 0.0
		for _, v := range p.face.profile {
			d.Face.Profile = append(d.Face.Profile, shown7(v))
			lo, hi = min(lo, v), max(hi, v)
		}
		d.Face.Y = [2]float64{lo, hi + 2.5*(hi-lo)}
	}
	var forces []float64
	for _, r := range s.rows {
		pose := make([]float64, 3*len(p.bodies))
		p.pose(r.t, r.q, pose)
		for i := range pose {
			pose[i] = shown7(pose[i])
		}
		d.T, d.Pose = append(d.T, r.t), append(d.Pose, pose)
		touch := [][4]float64{}
		for _, c := range r.forces {
			fx, fy := c.Components()
			touch = append(touch, [4]float64{shown7(c.X), shown7(c.Y), shown7(fx), shown7(fy)})
			forces = append(forces, math.Hypot(fx, fy))
		}
		d.Contacts = append(d.Contacts, touch)
		if p.face != nil {
			points := p.face.points(r.q, r.forces)
			for i := range points {
				for j := range points[i] {
					points[i][j] = shown7(points[i][j])
				}
			}
			d.Face.Points = append(d.Face.Points, points)
		}
	}
	d.Rest = d.Pose[0]
	d.Force = 1
	if len(forces) > 0 {
		slices.Sort(forces)
		d.Force = max(forces[len(forces)*9/10], 1e-12)
	}
	for i, c := range s.coords {
		if p.traces != nil && !slices.Contains(p.traces, c.Name) {
			continue
		}
		y := make([]float64, len(s.rows))
		for k := range s.rows {
			y[k] = s.rows[k].q[i]
		}
		d.Traces = append(d.Traces, trace(c.Name, c.Unit, y))
	}
	return d.write(w)
}

// trace is a curve below a picture.
func trace(name, unit string, y []float64) tracePanel {
	p := tracePanel{Name: name, Unit: unit, Y: make([]*float64, len(y))}
	for k, v := range y {
		p.Y[k] = numeric.OrNull(shown7(v))
	}
	return p
}

// write puts the data into the page.
func (d *animationData) write(w io.Writer) error {
	data, err := json.Marshal(d)
	if err != nil {
		return err
	}
	_, err = w.Write(bytes.Replace(animationPage, []byte("{{DATA}}"), data, 1)) // JSON has no < that would end the script
	return err
}

// shown7 keeps seven digits: enough for a picture, and half the size.
func shown7(x float64) float64 {
	if x == 0 || x-x != 0 {
		return x
	}
	scale := math.Pow(10, 6-math.Floor(math.Log10(math.Abs(x))))
	if math.IsInf(scale, 0) || scale == 0 {
		return 0
	}
	return math.Round(x*scale) / scale
}
