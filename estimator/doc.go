// Package estimator is what runs in the tick to learn from samples: the estimate of an axis at the times of its samples (Axis), the
// Kalman filter in it (Kalman), recursive least squares for mechanical parameters (RLS), and compensations of friction:
// feed-forward, bristle observer, disturbance observer, adaptive laws (Compensation) and dither (Dither).
//
// Everything is built once, checked then, and steps without allocating: plain loops over flat row-major arrays. Library
// matrices serve the construction only. What goes wrong inside a step is an engine.Status, never an error value.
//
// The motor throughout is that of package plant: L·di/dt = u − R·i − K·ω − drop(i), J·dω/dt = K·i − T, with T the sum of
// friction and load, opposing positive motion. Angles in rad, currents in A, torques in N·m; an axis that moves along a line has m, kg and
// N in their place.
//
// Sources: [B77] factorised recursive least squares, [VL78] discretised noise, [C95] observer, [CL97] and [TK99] adaptive
// laws; the weak form and its whitening are derived in rls.go.
package estimator
