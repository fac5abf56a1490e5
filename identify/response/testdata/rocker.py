#!/usr/bin/env python3
"""rocker.py SEED FILE PHI0 W0: the crank-rocker of theory 1.8, which a DC motor drives.

The loop is closed in closed form, so that the crank angle is the only coordinate: M(phi) phi'' + M'(phi)/2 phi'^2 + V'(phi) = torque. M and V are
splines through 20001 points; the equations are integrated by the classical method of Runge and Kutta at 0.2 ms. Measured are the current (noise 0.05 A), the crank (2 mrad) and the
rocker (1 mrad), every 2 ms for two seconds. The crank begins at PHI0 with the speed W0.
"""
import gzip
import sys

import numpy as np
from scipy.interpolate import CubicSpline

rng = np.random.default_rng(int(sys.argv[1]))
phi0, w0 = float(sys.argv[3]), float(sys.argv[4])
a, b, c, d, Jr, g, R, L, K, B = 0.1, 0.35, 0.3, 0.4, 1e-3, 9.81, 2.0, 5e-3, 0.3, 0.002


def angles(phi):
    """pin of the crank, angles of coupler and rocker"""
    A = a * np.exp(1j * phi)
    v = d - A
    r = abs(v)
    al = np.angle(v) + np.arccos((b * b + r * r - c * c) / (2 * b * r))
    return A, al, np.angle(A + b * np.exp(1j * al) - d)


def inertia(phi):
    """moment of inertia felt by the crank, and potential energy"""
    _, al, be = angles(phi)
    m = np.array([[-b * np.sin(al), c * np.sin(be)], [b * np.cos(al), -c * np.cos(be)]])
    da, db = np.linalg.solve(m, [a * np.sin(phi), -a * np.cos(phi)])
    way = 1j * a * np.exp(1j * phi) + b / 2 * np.exp(1j * al) * 1j * da
    M = Jr + a**3 / 3 + b * abs(way) ** 2 + b**3 / 12 * da * da + c**3 / 3 * db * db
    V = g * (a * a / 2 * np.sin(phi) + b * (a * np.sin(phi) + b / 2 * np.sin(al)) + c * c / 2 * np.sin(be))
    return M, V


turn = np.linspace(0, 2 * np.pi, 20001)
table = np.array([inertia(p) for p in turn])
table[-1] = table[0]
M, V = (CubicSpline(turn, table[:, k], bc_type="periodic") for k in (0, 1))
dM, dV = M.derivative(), V.derivative()


def rate(x, u):
    i, p, w = x
    q = p % (2 * np.pi)
    return np.array([(u - R * i - K * w) / L, w, (K * i - B * w - 0.5 * float(dM(q)) * w * w - float(dV(q))) / float(M(q))])


dt, rows, sub = 2e-3, 1000, 10
h = dt / sub
u = np.round(np.repeat(rng.uniform(4, 14, rows // 100), 100), 3)
x, path = np.array([0, phi0, w0]), []
for k in range(rows):
    path.append([*x, angles(x[1])[2]])
    for _ in range(sub):
        k1 = rate(x, u[k])
        k2 = rate(x + h / 2 * k1, u[k])
        k3 = rate(x + h / 2 * k2, u[k])
        k4 = rate(x + h * k3, u[k])
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
path = np.array(path)
i = path[:, 0] + 0.05 * rng.standard_normal(rows)
crank = path[:, 1] + 2e-3 * rng.standard_normal(rows)
rocker = path[:, 3] + 1e-3 * rng.standard_normal(rows)
text = "t,u,i,crank,rocker\n" + "".join(f"{k * dt:.3f},{u[k]:.3f},{i[k]:.3f},{crank[k]:.4f},{rocker[k]:.4f}\n" for k in range(rows))
with open(sys.argv[2], "wb") as f, gzip.GzipFile("", "wb", fileobj=f, mtime=0) as z:
    z.write(text.encode())
