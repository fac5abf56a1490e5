// Package pose estimates how a rigid body with markers moves: its pose frame by frame, its angular velocity and acceleration, and,
// while it rolls on a plane, the friction that slows it.
//
// A Tracker finds the pose from the markers of one frame: least squares over at least three of them [H87], with labels that were
// exchanged mended and outliers left out.
//
// A Motion is a Kalman filter of the whole motion, whatever drives it. Orientation and position obey
//
//	dR/dt = R·[ω]×,   dω/dt = α,   dα/dt = white noise,       dp/dt = v,   dv/dt = a,   da/dt = white noise
//
// with ω and α in body axes. The error state of the orientation is a small turn δ in body axes, R·exp(δ) [S17]. Smooth runs
// backwards over the filtered frames [RTS65]. Frames may come at any time and be missing.
//
// A Rolling is the same filter on the equations of a ball that rolls (package ball), with the coefficients of rolling and of spinning
// friction as states that walk randomly: what a live rig shows while the ball moves. It withholds its coefficients, with the reason, when
// the contact slips or the markers contradict the model.
//
// World axes: z is the normal of the plane, upwards. All steps work in place and allocate nothing.
package pose
