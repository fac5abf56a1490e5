// Package pose estimates from poses of a ball that rolls on a plane how it moves, and the friction that slows it.
//
// A Rolling is a Kalman filter on the equations of a ball that rolls (package ball), with the coefficients of rolling and of spinning
// friction as states that walk randomly: what a live rig shows while the ball moves. The error state of the orientation is a small turn
// δ in body axes, R·exp(δ) [S17]. Frames may come at any time and be missing. It withholds its coefficients, with the reason, when the
// contact slips or the poses contradict the model.
//
// World axes: z is the normal of the plane, upwards. All steps work in place and allocate nothing.
package pose
