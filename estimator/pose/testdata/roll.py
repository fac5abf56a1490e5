"""A ball rolling on a plane, by SciPy, for the tests of estimator/pose.

Newton's and Euler's equations about the centre of mass in world axes, with the contact force as an unknown: nothing is
shared with the Go program, whose equations are condensed about the contact.

    m a = F + G,   d(I w)/dt = M + r x F,   r from the centre of mass to the contact

Rolling: the material point of the contact has no velocity, 6 unknowns (dw, F). Slipping: the tangential force is mu N against
the velocity u of the contact, smoothed as u / sqrt(u^2 + e^2) with e = 0.1 mm/s.

Output: one JSON object per run, rows of t, q (w, x, y, z), x, y, w (body axes), F (world axes).

Run: /usr/bin/python3 roll.py (Debian: python3-scipy) writes roll_*.json
"""
import json
import sys

import numpy as np
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

R, m, g = 0.035, 0.054, 9.81
I_centre = np.diag([36535.4e-9, 36535.4e-9, 22355.6e-9])
c = np.array([0, 0, 0.0109])
I_com = I_centre - m * (c @ c * np.eye(3) - np.outer(c, c))
ez = np.array([0, 0, 1.0])


def skew(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def matrix(q):
    return Rotation.from_quat([q[1], q[2], q[3], q[0]]).as_matrix()


def moment(w, mu, spin, quad):
    wn = w @ ez * ez
    wh = w - wn
    return -(mu + quad * np.linalg.norm(wh)) * wh - spin * wn


def rhs(t, s, mu, spin, quad, slide):
    q, w, v = s[:4] / np.linalg.norm(s[:4]), s[6:9], s[9:11]  # w in world axes
    A = matrix(q)
    I = A @ I_com @ A.T
    d = A @ c
    r = -R * ez - d
    M = moment(w, mu, spin, quad) - np.cross(w, I @ w)
    if slide is None:
        # dv = R dw x ez of the centre; a = dv + dw x d + w x (w x d)
        K = np.zeros((6, 6))
        K[:3, :3] = m * (-R * skew(ez) - skew(d))
        K[:3, 3:] = -np.eye(3)
        K[3:, :3] = I
        K[3:, 3:] = -skew(r)
        b = np.concatenate([-m * g * ez - m * np.cross(w, np.cross(w, d)), M])
        x = np.linalg.solve(K, b)
        dw, F = x[:3], x[3:]
        v = R * np.cross(w, ez)[:2]
        dv = np.zeros(2)
    else:
        u = np.array([v[0], v[1], 0]) + np.cross(w, -R * ez)
        e = -slide * u / np.sqrt(u @ u + 1e-8)
        f = ez + np.array([e[0], e[1], 0])  # force per N
        # unknown dw (3), dv (2), N
        K = np.zeros((6, 6))
        K[:3, :3] = -m * skew(d)
        K[0, 3] = K[1, 4] = m
        K[:3, 5] = -f
        K[3:, :3] = I
        K[3:, 5] = -np.cross(r, f)
        b = np.concatenate([-m * g * ez - m * np.cross(w, np.cross(w, d)), M])
        x = np.linalg.solve(K, b)
        dw, dv, F = x[:3], x[3:5], x[5] * f
    dq = 0.5 * np.concatenate([[-w @ q[1:]], q[0] * w + np.cross(w, q[1:])])
    return np.concatenate([dq, v, dw, dv]), F


def run(name, tilt, w0, mu, spin, quad=0.0, slide=None, seconds=4.0):
    q0 = Rotation.from_rotvec(tilt).as_quat()
    w0 = np.array(w0, float)  # world axes
    s0 = np.concatenate([[q0[3]], q0[:3], [0, 0], w0, R * np.cross(w0, ez)[:2]])
    t = np.arange(0, seconds + 1e-9, 0.005)
    kind = dict(method="DOP853", rtol=1e-11, atol=1e-13) if slide is None else dict(method="LSODA", rtol=1e-9, atol=1e-11)
    sol = solve_ivp(lambda t, s: rhs(t, s, mu, spin, quad, slide)[0], (0, t[-1]), s0, t_eval=t, **kind)
    rows = []
    most = 0
    for k in range(len(t)):
        s = sol.y[:, k]
        q = s[:4] / np.linalg.norm(s[:4])
        F = rhs(t[k], s, mu, spin, quad, slide)[1]
        most = max(most, np.hypot(F[0], F[1]) / F[2])
        w = matrix(q).T @ s[6:9]
        rows.append([float("%.11g" % x) for x in [t[k], *q, s[4], s[5], *w, *F]])
    print(name, "largest T/N %.3f" % most, "final w", s[6:9], file=sys.stderr)
    with open("roll_%s.json" % name, "w") as f:
        json.dump(dict(mu=mu, spin=spin, quadratic=quad, rows=rows), f, separators=(",", ":"))


if __name__ == "__main__":
    run("paper", [0.9, 0, 0], [1.0, 2.0, 6.0], 2.5e-4, 4e-5)
    run("glass", [0.3, 0.8, 0], [-2.0, 1.0, -4.0], 1.6e-4, 2e-5, seconds=3.0)
    run("quadratic", [1.2, 0, 0], [3.0, 1.0, 5.0], 1e-4, 4e-5, quad=3e-5, seconds=3.0)
    run("slip", [1.3, 0, 0], [4.0, 0.0, 0.0], 2.5e-4, 4e-5, slide=0.08, seconds=3.0)
