package configs

import (
	"path/filepath"
	"strings"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/configs/schema"
	plant "hilrig/engine/plant/ball"
	"hilrig/engine/plant/ball/cameras"
	"hilrig/engine/rotation"
	"hilrig/identify/ball"
)

// BallRun describes a ball that rolls in front of cameras, to be simulated. Numbers follow the rules of Config.
type BallRun struct {
	Version     int          `yaml:"version" doc:"format of this file, 1"`
	Name        string       `yaml:"name" doc:"name of the run"`
	Description string       `yaml:"description,omitempty" doc:"one line for people"`
	Ball        plant.Params `yaml:"ball" doc:"ball, plane and friction"`
	Start       BallStart    `yaml:"start" doc:"where the ball starts, and how it moves"`
	Markers     []BallMarker `yaml:"markers" doc:"what the cameras follow"`
	Cameras     BallCameras  `yaml:"cameras" doc:"what the recording is made with"`
	Duration    float64      `yaml:"duration" unit:"s" want:">0 <=1e4" doc:"length of the run"`
}

// BallStart is the start of a run.
type BallStart struct {
	Turn     [3]float64 `yaml:"turn" unit:"rad" doc:"rotation vector from the axes of the plane to those of the body: its direction is the axis, its length the angle"`
	Omega    [3]float64 `yaml:"omega" unit:"rad/s" doc:"angular velocity in the axes of the plane"`
	Position [2]float64 `yaml:"position" unit:"m" doc:"of the centre on the plane"`
	Sliding  [2]float64 `yaml:"sliding" unit:"m/s" doc:"velocity of the contact over the plane; wants ball.slips"`
}

// BallMarker is a marker on the ball.
type BallMarker struct {
	Name     string     `yaml:"name" doc:"as in the recording"`
	Position [3]float64 `yaml:"at" unit:"m" doc:"from the geometric centre, in axes of the body"`
}

// BallCameras are those of a simulated recording.
type BallCameras struct {
	Rate   float64 `yaml:"rate" unit:"Hz" want:">0 <=1e5" doc:"frames per second"`
	Noise  float64 `yaml:"noise" unit:"m" want:">=0" doc:"standard deviation of a coordinate of a marker"`
	Hidden float64 `yaml:"hidden" want:">=0 <1" doc:"share of the frames in which a marker is not seen, each for itself"`
	Height float64 `yaml:"height" unit:"m" doc:"of the plane in the frame of the cameras"`
	Seed   int     `yaml:"seed" want:">=0" doc:"of noise and of what is hidden"`
}

// BallFit describes how rolling friction is found from a recording of markers on a ball. Numbers follow the rules of Config.
type BallFit struct {
	Version        int             `yaml:"version" doc:"format of this file, 1"`
	Name           string          `yaml:"name" doc:"name of the fit"`
	Description    string          `yaml:"description,omitempty" doc:"one line for people"`
	Data           BallData        `yaml:"data" doc:"the recording"`
	Ball           plant.Params    `yaml:"ball" doc:"what is known of ball, plane and friction; free numbers start here. slide is a coefficient of sliding friction that is sure: a motion that asks for more is refused"`
	Markers        []BallMarker    `yaml:"markers" doc:"where the markers sit on the ball; those of the recording that are not named are not used"`
	FreeParameters []string        `yaml:"free" doc:"what is searched: coefficients of friction (mu_roll, mu_roll2, roll_moment, roll_arm, mu_spin, mu_spin2, spin_moment, spin_arm), inertia (Ixx … Iyz), centre of mass (cx, cy, cz), fall of the plane (tilt_x, tilt_y), its height and lean in the frame of the cameras (height, lean_x, lean_y), markers: all their offsets"`
	Height         float64         `yaml:"height" unit:"m" doc:"of the plane in the frame of the cameras; free and 0: from the recording"`
	NormalLean     [2]float64      `yaml:"lean" unit:"rad" doc:"of the plane's normal in the frame of the cameras, about its x and y"`
	Noise          float64         `yaml:"noise" unit:"m" want:">=0" doc:"of a coordinate of a marker; 0: from the distances of the markers"`
	Uncertainty    BallUncertainty `yaml:"uncertainty" doc:"standard uncertainty of what is given and not searched. The intervals hold what it does; 0: exact"`
	Smoothing      BallSmooth      `yaml:"smoothing" doc:"of the levels that take derivatives"`
	Robust         bool            `yaml:"robust" doc:"residuals beyond three times the noise pull like their size (Huber); no: plain least squares"`
}

// BallData is the recording of a fit.
type BallData struct {
	File   string     `yaml:"file" doc:"C3D, TRC, CSV of Vicon or Motive, or a table with columns such as m1.x; may be packed"`
	Source string     `yaml:"source,omitempty" doc:"where it is to be had"`
	Body   string     `yaml:"body,omitempty" doc:"a body of the recording whose poses take the place of markers: its origin is the centre of the ball, its axes are those of inertia and centre of mass. Wants noise, and no markers"`
	Unit   string     `yaml:"unit,omitempty" doc:"of lengths, whatever the file says: mm, cm, m, in or ft"`
	Rate   float64    `yaml:"rate" unit:"Hz" want:">=0" doc:"frames per second, whatever the file says; 0: as it says"`
	Span   [2]float64 `yaml:"span" unit:"s" doc:"from and to, counted from the first frame; [0, 0]: all"`
}

// BallUncertainty is how well the numbers of a file are known.
type BallUncertainty struct {
	Radius  float64 `yaml:"radius" want:">=0 <=0.5" doc:"of the radius, as a share of it"`
	Mass    float64 `yaml:"mass" want:">=0 <=0.5" doc:"of the mass, as a share of it"`
	Inertia float64 `yaml:"inertia" want:">=0 <=0.5" doc:"of each moment of inertia, as a share of it"`
	Center  float64 `yaml:"center_of_mass" want:">=0 <=0.5" doc:"of each coordinate of the centre of mass, as a share of the radius"`
	Markers float64 `yaml:"markers" want:">=0 <=0.5" doc:"of each coordinate of the place of a marker on the ball, as a share of the radius"`
	Gravity float64 `yaml:"gravity" want:">=0 <=0.5" doc:"of gravity, as a share of it"`
}

// usualUncertainty is that of numbers of which the file does not say how well they are known.
var usualUncertainty = BallUncertainty{Radius: 0.01, Mass: 0.01, Inertia: 0.03, Center: 0.01, Markers: 0.01, Gravity: 0.001}

// BallSmooth is a local polynomial.
type BallSmooth struct {
	HalfWindow float64 `yaml:"half" unit:"s" want:">=0 <=10" doc:"half of its window; 0: 0.05 s"`
	Order      int     `yaml:"order" want:">=0 <=5" doc:"of the polynomial; 0: 3"`
}

// defaultBall has what is the same for most.
func defaultBall() plant.Params { return plant.Params{Gravity: 9.81, InertiaAbout: plant.AboutCenter} }

// DefaultBallRun is what a file to simulate a ball starts from.
func DefaultBallRun() *BallRun {
	return &BallRun{Version: 1, Ball: defaultBall(), Cameras: BallCameras{Rate: 200, Seed: 1}}
}

// DefaultBallFit is what a file to identify a ball starts from.
func DefaultBallFit() *BallFit {
	return &BallFit{Version: 1, Ball: defaultBall(), FreeParameters: []string{"mu_roll", "height"}, Robust: true,
		Uncertainty: usualUncertainty}
}

// LoadBallRun reads and checks a file to simulate a ball. The error is *Errors and holds every problem.
func LoadBallRun(path string) (*BallRun, []schema.Problem, error) {
	return fromFile(path, BallRunBytes)
}

// BallRunBytes is LoadBallRun of a file in memory.
func BallRunBytes(name string, data []byte) (*BallRun, []schema.Problem, error) {
	c := DefaultBallRun()
	return load(name, data, c, c.Check)
}

// LoadBallFit reads and checks a file to identify a ball. The path of the recording comes back joined to the folder of the file.
func LoadBallFit(path string) (*BallFit, []schema.Problem, error) {
	return fromFile(path, BallFitBytes)
}

// BallFitBytes is LoadBallFit of a file in memory.
func BallFitBytes(name string, data []byte) (*BallFit, []schema.Problem, error) {
	c := DefaultBallFit()
	return load(name, data, c, func(r *schema.Report) {
		c.Check(r)
		joinPaths(filepath.Dir(name), &c.Data.File)
	})
}

// Check looks at what the tags cannot say.
func (c *BallRun) Check(r *schema.Report) {
	r.CheckBounds(c)
	checkBall(r, c.Version, &c.Ball, c.Markers)
	r.ErrorIf(c.Start.Sliding != [2]float64{} && !c.Ball.Slips, "start.sliding",
		"the contact slides at the start, and ball.slips says that it cannot")
	n := c.Duration * c.Cameras.Rate
	r.ErrorIf(n > maxRows && !r.HasProblem("duration") && !r.HasProblem("cameras"), "duration", "%.3g frames, at most %d are kept", n, maxRows)
}

// Check looks at what the tags cannot say.
func (c *BallFit) Check(r *schema.Report) {
	r.CheckBounds(c)
	checkBall(r, c.Version, &c.Ball, c.Markers)
	r.ErrorIf(c.Data.File == "" && !r.HasProblem("data"), "data.file", "is missing: the recording of the markers")
	switch {
	case r.HasProblem("markers"):
	case c.Data.Body == "" && len(c.Markers) < 3:
		r.KeyErrorf("markers", "%d, want three or more that are not in a line; or name in data.body a body with poses", len(c.Markers))
	case c.Data.Body != "" && len(c.Markers) > 0:
		r.KeyErrorf("markers", "data.body takes the poses of %s in place of markers; leave one of them out", c.Data.Body)
	case c.Data.Body != "" && c.Noise == 0 && !r.HasProblem("noise"):
		r.KeyErrorf("noise", "is missing: poses do not tell their noise; that of a point of the ball, in m")
	}
	r.ErrorIf(c.Ball.Slips, "ball.slips", "a fit takes the ball to roll, and refuses a recording in which it does not; leave it out")
	s := c.Data.Span
	r.ErrorIf(s != [2]float64{} && !(s[0] >= 0 && s[1] > s[0]), "data.span", "from %g to %g s, want rising times", s[0], s[1])
	if err := ball.CheckFree(c.FreeParameters); err != nil && !r.HasProblem("free") {
		for text := range strings.Lines(err.Error()) {
			r.Errorf("free", "%s", strings.TrimSpace(text))
		}
	}
}

// checkBall is what both kinds of file share.
func checkBall(r *schema.Report, version int, p *plant.Params, markers []BallMarker) {
	r.FirstErrorIf(version != 1, "version", "%d, this program reads version 1", version)
	if !r.HasProblem("ball") {
		for _, bad := range p.Check() {
			if !r.HasProblem("ball." + bad.Path) {
				r.SectionError("ball", bad.Path, bad.Text)
			}
		}
	}
	seen := map[string]bool{}
	for i, m := range markers {
		at := schema.Join("markers", m.Name)
		switch d := r3.Norm(m.Place()); {
		case m.Name == "":
			r.Errorf("markers", "markers[%d].name is missing: as in the recording", i)
		case seen[m.Name]:
			r.Errorf("markers", "%s stands twice", at)
		case p.Radius > 0 && !(d <= 1.5*p.Radius):
			r.Errorf("markers", "%s: it sits %.4g m from the centre of a ball of radius %.4g m, want on it or inside: lengths are metres, or have "+
				"their unit", at, d, p.Radius)
		}
		seen[m.Name] = true
	}
}

// Place is where a marker sits on the ball (m).
func (m *BallMarker) Place() r3.Vec { return vector(m.Position) }

func vector(a [3]float64) r3.Vec { return r3.Vec{X: a[0], Y: a[1], Z: a[2]} }

// places are those of the markers.
func places(markers []BallMarker) []r3.Vec {
	return listOf(markers, func(m BallMarker) r3.Vec { return m.Place() })
}

// State is the start on the plane of a model of the ball.
func (c *BallRun) State(m *plant.Model) plant.State {
	s := plant.State{Q: rotation.Exp(vector(c.Start.Turn)), X: c.Start.Position[0], Y: c.Start.Position[1]}
	f := s.Frame()
	w := vector(c.Start.Omega)
	s.W = f.ToBody(w)
	s.VX, s.VY = c.Ball.Radius*w.Y+c.Start.Sliding[0], -c.Ball.Radius*w.X+c.Start.Sliding[1]
	m.Place(&s)
	return s
}

// CameraModel is what the cameras of a run see: their rate, noise, hidden markers, height, and the markers on the ball.
func (c *BallRun) CameraModel() cameras.Cameras {
	k := &c.Cameras
	return cameras.Cameras{Rate: k.Rate, Noise: k.Noise, Hidden: k.Hidden, Height: k.Height, Markers: places(c.Markers), Seed: uint64(k.Seed)}
}

// Spec is what a fit asks of package identify/ball.
func (c *BallFit) Spec() ball.Spec {
	known := c.Ball
	known.Slide = 0
	points := places(c.Markers)
	if c.Data.Body != "" {
		points = c.BodyPoints()
	}
	names := listOf(c.Markers, func(m BallMarker) string { return m.Name })
	return ball.Spec{
		Body: known, Markers: points, Names: names, FreeParams: c.FreeParameters, Height: c.Height, Tilt: c.NormalLean, Noise: c.Noise,
		Slide:      c.Ball.Slide,
		HalfWindow: c.Smoothing.HalfWindow, Order: c.Smoothing.Order, Squares: !c.Robust,
		Uncertain: ball.Uncertainty(c.Uncertainty),
	}
}

// BodyPoints are the points of the ball that stand for a pose (m): one on each axis of the body, on the sphere.
func (c *BallFit) BodyPoints() []r3.Vec {
	return []r3.Vec{{X: c.Ball.Radius}, {Y: c.Ball.Radius}, {Z: c.Ball.Radius}}
}
