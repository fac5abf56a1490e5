"""Motions of benchmark machines, by SciPy from Lagrange's equations in as few coordinates as they have.

governor  stiff flyball governor (IFToMM): the turn of the shaft follows from its angular momentum, the rods swing together by beta
          below the horizontal, the slider stands at s; two springs of 0.5 m with dampers hold it. Rows: t, beta, s, speed of the shaft.
pendulum  two equal rods of 1 m and 1 kg, let go in the horizontal, the angles counted from there. Rows: t, first angle, second
          angle relative to the first.

Run: /usr/bin/python3 motions.py > motions.json (Debian: python3-scipy)
"""
import json

import numpy as np
from scipy.integrate import solve_ivp

G = 9.81


def governor():
    rod, ball, slider, x0, k, c, l0 = 0.3, 5.0, 3.0, 0.05, 8e5, 4e4, 0.5
    across, along = rod / 12 * (1 + 1e-4), rod / 12 * 2e-4
    swing = across + rod * 0.25 + ball
    fixed = 0.3 / 12 * 2e-4 + slider / 12 * 0.02

    def inertia(b):
        one = rod * (x0 + 0.5 * np.cos(b)) ** 2 + along * np.sin(b) ** 2 + across * np.cos(b) ** 2 + ball * (x0 + np.cos(b)) ** 2
        slope = -rod * (x0 + 0.5 * np.cos(b)) * np.sin(b) + 2 * (along - across) * np.sin(b) * np.cos(b) - 2 * ball * (x0 + np.cos(b)) * np.sin(b)
        return fixed + 2 * one, 2 * slope

    beta, s, w = np.pi / 6, 0.5, 2 * np.pi
    spin = inertia(beta)[0] * w

    def f(t, y):
        b, s, db, ds = y
        total, slope = inertia(b)
        dx, dz = 0.5 * np.cos(b), 1 - 0.5 * np.sin(b) - s
        length = np.hypot(dx, dz)
        by_b = (-dx * 0.5 * np.sin(b) - dz * 0.5 * np.cos(b)) / length
        by_s = -dz / length
        pull = 2 * (k * (length - l0) + c * (by_b * db + by_s * ds))
        weight = 2 * G * np.cos(b) * (0.5 * rod + ball)
        return [db, ds, (0.5 * slope * (spin / total) ** 2 + weight - pull * by_b) / (2 * swing), -G - pull * by_s / slider]

    times = [0.02, 0.1, 0.3, 0.6, 1.0]
    out = solve_ivp(f, (0, 1), [beta, s, 0, 0], method="Radau", rtol=1e-11, atol=1e-12, t_eval=times)
    return [[t, y[0], y[1], spin / inertia(y[0])[0]] for t, y in zip(out.t, out.y.T)]


def pendulum():
    def f(t, y):
        a, b, da, db = y  # absolute angles
        m = np.array([[1 / 3 + 1, 0.5 * np.cos(a - b)], [0.5 * np.cos(a - b), 1 / 3]])
        r = [-0.5 * np.sin(a - b) * db ** 2 - 1.5 * G * np.cos(a), 0.5 * np.sin(a - b) * da ** 2 - 0.5 * G * np.cos(b)]
        return [da, db, *np.linalg.solve(m, r)]

    times = [0.5, 1.0, 2.0, 3.0]
    out = solve_ivp(f, (0, 3), [0, 0, 0, 0], method="DOP853", rtol=1e-13, atol=1e-13, t_eval=times)
    return [[t, y[0], y[1] - y[0]] for t, y in zip(out.t, out.y.T)]


print(json.dumps({"governor": governor(), "pendulum": pendulum()}, indent=0))
