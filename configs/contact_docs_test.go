package configs

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"hilrig/configs/schema"
	"hilrig/engine/plant/brush"
	"hilrig/engine/plant/toys"
)

const brushHead = `# The brush of an electric motor

A carbon brush in its holder on a turning commutator, in the plane across the motor's axis, after [SNB06]. It has eleven coordinates: a
main body, three face segments on springs and dampers, a holder that turns, a sprung arm. The commutator and the face are rough
outlines. The brush has clearance in its holder. All contact is unilateral with Coulomb friction: the face sticks, slides, lifts off and
hits again some thousand times a second. Every number of the model is a key below.

` + "```" + `
hil simulate configs/brush.yaml                          # 2 s of a new brush at 3000 rpm: tilt, forces, contact loss
hil simulate configs/brush.yaml --plot brush.png         # phase portrait, forces over time
hil simulate configs/brush.yaml --duration 40ms --animate brush.html     # a page that shows it moving
hil simulate configs/brush-motor.yaml --plot motor.png    # a motor runs up on its brushes: current, drop, torque
hil study brush-length                                   # 1400 runs over eleven parameters
` + "```" + `

![Phase portrait and forces of a new brush](../img/brush.png)

## Coordinates

q = (x, y, φ, u1, s1, u2, s2, u3, s3, φ_h, φ_s). The frame stands on the commutator's axis, with y outward along the brush.

- x, y, φ: centre and tilt of the main body;
- u, s: axial and tangential displacement of each segment against the main body;
- φ_h: angle of the holder about its centre of gravity;
- φ_s: angle of the spring arm.

A positive speed turns the commutator counter-clockwise: friction pushes the
face to −x and the brush leans to φ < 0.

## What the step must resolve

The face is made of points, and the surface of straight edges. This is a valid model only while a step moves the surface by less than a fifth of the
correlation length of its roughness. Where the dip at a slot is shorter, its length counts. Beyond that ` + "`hil simulate`" + ` refuses, and says which step or length is short
enough. ` + "`engine.averaged: true`" + ` goes on with an averaged contact instead and says so. At 20 µs the limit is 4340 rpm
on the standard commutator. The same holds [in the loop](brush-loop.md).

## A measured surface

A record of a profilometer takes the place of the drawn roughness. [brush-measured.yaml](../../configs/brush-measured.yaml) is an example with
files beside it; copy them and put your own numbers in:

` + "```" + `
hil simulate configs/brush-measured.yaml --plot measured.png
` + "```" + `

` + "```" + `yaml
brush:
  commutator: {profile: outline.csv}     # columns angle_deg, radius_mm, or arc_mm, radius_mm
  face: {profile: face.csv}              # columns x_mm, height_um
` + "```" + `

A CSV has a header; each column has its unit behind an underscore, any unit that a file takes. Paths start at the folder of the
file. Points are joined by straight lines.

- *Outline*: one whole turn, angles or arcs rising, slot 0 at the angle 0. An arc is divided by ` + "`commutator.radius`" + `, from which the
  mean radius may differ by 1 %. The record holds slots, bar steps and eccentricity too, so their keys are refused beside it.
- *Face*: x from the middle over the whole width; the height is that over the arc of ` + "`face.radius_ratio`" + `, positive towards the
  commutator. ` + "`face.vertices`" + ` says at how many points of a segment it is taken.

Each record is asked for its own correlation length, the distance over which the autocorrelation falls to 1/e (without mean and, on
an outline, eccentricity). At least three points have to lie in it. It takes the place of ` + "`commutator.correlation`" + ` in the rule above:
a step that moves the surface by more than a fifth of it is refused, by more than a seventh warned about.

## Measured material

The source lets restitution, stiffness and damping depend on temperature and current density, and restitution on the length of the brush
too. Keys such as ` + "`material.eps_by_temperature`" + ` name a CSV. It has the cause (` + "`temperature_degC`" + `, ` + "`current_density_A_mm2`" + ` or ` + "`length_mm`" + `) and the
` + "`factor`" + ` by which the parameter is multiplied. A table of one row with the factor 1 is the constant. Between rows the factor lies on a straight
line. A file whose temperature, current density or length lies outside a table is refused. If the current of a run leaves the table,
the nearest row is held and a warning says so. Tables and slopes multiply.

## What to trust

The defaults are plausible, not identified: the source prints none. Trends are the source's (mean |φ̇| grows as the brush
wears and falls with softer segments). The roughness of the face decides which two or three points carry. So the result of one seed is not
enough: at 32 mm the mean of |φ̇| scatters by a quarter from seed to seed. Mean face force and friction torque are set
by the spring and hardly depend on anything else; the share of time without contact and the count of interruptions depend on
the step. Where the model differs from its source: [differences.md](../evidence/differences.md).

## What is printed

After ` + "`discard`" + `; the same names are in the JSON and in the ` + "`metrics`" + ` of a study.

@FIGURES@
## Parameters

All are keys of the section ` + "`brush`" + `; a dot opens a section: ` + "`brush: {holder: {clearance: 0.1 mm}}`" + `. Numbers are SI or carry their
unit. This page is made from the source: ` + "`make docs`" + `.

`

const contactHead = `# Bodies in contact

` + "`hil simulate FILE`" + ` runs bodies that touch, stick, slide, separate and collide when FILE has the key ` + "`system`" + `. There are three kinds: the brush of a motor
([its own page](brush.md)), a scene of planar bodies, or a toy, which is a small system whose motion is known. All contact is rigid,
unilateral, with Coulomb friction.

` + "```" + `
hil simulate configs/contact/woodpecker.yaml --animate woodpecker.html     # a page that needs nothing but a browser
hil simulate configs/contact/woodpecker.yaml --plot woodpecker.png -o woodpecker.csv
hil simulate configs/contact/woodpecker.yaml --json
hil simulate configs/contact/bouncing-ball.yaml --events ball-events.csv
` + "```" + `

Two engines run the same systems. **fixed-step** is Moreau's time stepping at the level of velocities and impulses. Its work
per step is bounded, so it is the engine of the loop. It is of first order in the step. **event-driven** integrates between events and locates each of
them. It is the reference. Its work is not bounded. Where events come too fast, or forces or impulses of redundant contacts cannot be found,
fixed steps of 10 µs lead on. ` + "`bridges`" + ` and ` + "`bridged_time`" + ` of ` + "`solver`" + ` and a warning say so; the exit code stays 0. Where these steps do not
get through either, the run ends with an error that names the contacts.
A gap below a nanometre counts as closed: blows on a body within that way of each other are one impact on all of it. Fixed steps take them
one by one.

What the solver did is part of every result: steps whose contact problem was not verified, what solved the others, and steps in
which contact forces did work. After an event-driven run these come in addition: the kinds of events, impacts that were repeated with less
restitution because they would have made energy, and Painlevé's cases.

A result that is not to be trusted comes with a warning on stderr and in ` + "`warnings`" + `, and with exit code 6; CSV, figure and animation are
written all the same. The reasons, by their counts in ` + "`solver`" + `:

- ` + "`unverified_steps`" + `: contact forces that do not fulfil the laws of all contacts; ` + "`steps_without_solution`" + ` of them are known to have none.
  A scene is repeated by the event-driven engine then: where that has the same to the end, there is no warning.
- ` + "`steps_too_long`" + `: fixed-step; one of two things happened. A scene is repeated here too. The warning names the bodies and a step that is
  short enough.
  - Bodies near each other moved further in a step than half the thickness of one of them (a disc: its radius beside that). And it is not
    certain that their contact was found on the side from which they came. It is certain where an axis parts the bodies before and after, or
    where the contact lies along the axis that parted them last. Bodies of more than 64 edges, cavities and bodies that turn much in a step
    are never certain.
  - Bodies were deeper in each other than three steps of their recent fastest approach, or of what forces make of it while depth is taken
    back. This happens to bodies between heavier ones that are struck several times in a step.
- ` + "`energy_gained`" + `: fixed-step; contacts made energy, more than a hundredth of what they exchanged with the bodies (` + "`energy_exchanged`" + `). This
  comes from ` + "`positions: false`" + `, which takes depth back by a velocity: impacts act as if eps_n were larger by about half of beta.
- ` + "`contacts_left_out`" + `: contacts for which there was no room. Only the brush inside the loop has a limit, 24.

**Repeated runs.** A step has an error of its own. Blows that come about a step apart are settled at once, or in an order that the step does
not resolve. A blow on several contacts may have more than one solution. So every fixed-step run of a scene or a toy is repeated by the
event-driven engine, which takes blows one by one. ` + "`repeated_until`" + ` of ` + "`solver`" + ` is the time to which this was done, and ` + "`repeated_difference`" + `
the largest difference of a coordinate by its way. A coordinate that moves less than two fifths of the farthest of its unit counts as one
that moves as far as that.

- *The step is too long*: a coordinate is off by more than 0.7 percent of its way, or a speed at the end by twice that. The warning names it,
  the difference, and a step that is short enough where the error falls with the step.
- *What they do is in doubt*: blows come at most four steps apart or several in one step (` + "`crowded_blows`" + `), or contacts flicker. Besides, a
  coordinate is off by more than 1.4 percent and by what 20 steps go in the mean.
- The exit code stays 0. A nanometre or a nanoradian is no difference.
- Where the event-driven engine does not get through, and with ` + "`positions: false`" + `, the run is repeated with a quarter of the
  step in its place. So it is where that engine needs too long and blows are crowded. A quarter of the step that merges blows as well is said.
- The time that this takes has a limit. A long run is repeated from its start as far as that allows, and a warning says how far. The way
  over a rough wheel is not repeated.
- ` + "`merged_impacts`" + ` counts steps in which the order of the blows would change a velocity by more than a fiftieth of the fastest approach.
  ` + "`unsupported_blows`" + ` counts those in which a support was open in the step of a blow alone.
- The event engine follows rebounds down to 0.1 µm/s, the fixed step to 1 mm/s, unless ` + "`restitution_speed`" + ` says otherwise. So a body that
  rocks to rest may be open by a late blow in one and closed in the other. That is said in the same way.

` + "`flickering_contacts`" + ` counts contacts that were open for one step between two in which they carried force. With ` + "`positions: false`" + ` a warning
says by how much restitution is too large, and the exit code stays 0; for the brush, whose default that is, it is the count ` + "`restitution_added`" + `.

A run that cannot go on ends with an error that names the time and the bodies, and with exit code 6.

Impacts: ` + "`newton`" + ` reverses the approach of each contact; where friction would make energy the impact is repeated with less restitution
(` + "`lowered_impacts`" + `), but not with ` + "`positions: false`" + `. ` + "`poisson`" + ` compresses and expands, gives back the share eps_n of the impulse, and never gains energy at a single contact; ` + "`sequential`" + ` treats pair after
pair, which chains of balls need. With newton eps_t reverses the tangential velocity, with poisson it gives back a share of the
tangential impulse: the two are different laws once eps_t > 0. Multi-impact results depend on the law: none of them is exact.

CSV columns: time_s, the coordinates, their rates (` + "`…_dot`" + `), means of the normal and tangential forces since the row before, contacts with
force, sums of normal and tangential forces at that time. The means hold the impulses of impacts: times the length of their rows they add up to
the change of momentum, in both engines. For the brush ` + "`face_force`" + ` and its like are such means. JSON: ` + "`metrics`" + ` (with ` + "`units`" + `) is what
happened after ` + "`discard`" + `, ` + "`solver`" + ` how the contact problems were solved.

` + "`--events FILE.csv`" + ` or ` + "`FILE.json`" + ` writes what the event-driven engine locates: ` + "`time_s`" + `, ` + "`kind`" + `, the bodies ` + "`a`" + ` and ` + "`b`" + `, and of an
` + "`impact`" + ` also ` + "`normal_impulse_Ns`" + ` on a, away from b, and ` + "`tangential_impulse_Ns`" + `. The kinds are:

- closing: a gap closes;
- impact;
- detaching: a force reaches zero;
- slipping: a sticking contact begins to slide;
- stopping: a sliding contact sticks;
- kinking: another edge is under a contact;
- sharing: the forces of redundant contacts ask for another motion;
- jamming: Painlevé's case.

A closing without an impact came with no speed. A contact that
begins to slide because of something else at that time is counted in ` + "`slips`" + ` and not listed.

Pairs may be groups: bodies with the same ` + "`group`" + `, or ` + "`all`" + `. ` + "`pairs: [{a: all, b: all, mu: 0.3}]`" + ` lets every two bodies touch that can: both have
a shape, and one is free to move. A later entry for the same two bodies takes the place of an earlier one, so general rules come first:

` + "```" + `
pairs:
  - {a: all, b: all, mu: 0.3}
  - {a: stones, b: stones, mu: 0.6, eps_n: 0.2}     # bodies with group: stones
  - {a: plate, b: floor, mu: 0.1}
` + "```" + `

The keys below are made from the source: ` + "`make docs`" + `.
`

// docs/reference/brush.md lists every parameter of the model, docs/reference/contact.md every key and every toy.
func TestContactDocsAreCurrent(t *testing.T) {
	var b strings.Builder
	var figures strings.Builder
	figures.WriteString("| name | unit | meaning |\n|---|---|---|\n")
	for _, f := range new(brush.Stats).Figures() {
		fmt.Fprintf(&figures, "| `%s` | %s | %s |\n", f.Name, f.Unit, strings.ReplaceAll(f.Doc, "|", "\\|"))
	}
	b.WriteString(strings.Replace(brushHead, "@FIGURES@", figures.String(), 1) + "| key | symbol | unit | default | range | meaning " +
		"|\n|---|---|---|---|---|---|\n")
	p := brush.DefaultParams()
	for _, f := range p.Table() {
		def, span := "", ""
		if f.Flag != nil {
			def = fmt.Sprint(*f.Flag)
		} else {
			def, span = schema.Short(*f.Ptr), fmt.Sprintf("%s … %s", schema.Short(f.Lo), schema.Short(f.Hi))
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | `%s` | %s | %s |\n", f.Key, strings.ReplaceAll(f.Symbol, "_", "\\_"),
			strings.ReplaceAll(f.Unit, "|", " or "), def, span, strings.ReplaceAll(f.Doc, "|", "\\|"))
	}
	for _, f := range measuredFiles() {
		fmt.Fprintf(&b, "| `%s` |  |  |  |  | %s |\n", f.key, f.doc)
	}
	current(t, "brush.md", b.String())

	b.Reset()
	c := DefaultContactRun()
	c.Scene = new(Scene)
	c.Scene.SetDefaults()
	b.WriteString(contactHead + Tables(c) + "\n## Toys\n\nKeys of the section `toy` beside `kind`.\n")
	for _, info := range toys.Registry {
		fmt.Fprintf(&b, "\n### %s\n\n%s", info.Name, info.Title)
		if info.Source != "" {
			fmt.Fprintf(&b, " [%s]", info.Source)
		}
		b.WriteString("\n\n| key | unit | default | range | meaning |\n|---|---|---|---|---|\n")
		for _, f := range info.Params() {
			lo, hi := schema.Short(f.Lo), schema.Short(f.Hi)
			switch {
			case math.IsInf(f.Lo, 0):
				lo = "−∞"
			case f.Lo == math.SmallestNonzeroFloat64:
				lo = "> 0"
			}
			if math.IsInf(f.Hi, 0) {
				hi = "∞"
			}
			fmt.Fprintf(&b, "| `%s` | %s | `%s` | %s … %s | %s |\n", f.Name, f.Unit, schema.Short(f.Value), lo, hi, f.Doc)
		}
	}
	current(t, "contact.md", b.String())
}

// current compares a page of the docs with what the source says, or rewrites it.
func current(t *testing.T, name, want string) {
	t.Helper()
	path := "../docs/reference/" + name
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%s is not current (%v): make docs", path, err)
	}
}
