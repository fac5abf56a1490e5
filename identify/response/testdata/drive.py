#!/usr/bin/env python3
"""drive.py SEED FILE: a DC motor turns a load behind a gear and a flexible shaft.

The equations are written out, and integrated by the classical method of Runge and Kutta at 20 µs. The voltage is held for 50 ms at a time. Measured
are the current (noise 0.05 A), the angle of the motor (5 mrad) and that of the load (1 mrad), every millisecond for two seconds.
"""
import gzip
import sys

import numpy as np

rng = np.random.default_rng(int(sys.argv[1]))
R, L, K, Jm, bm, n, ks, cs, Jl, bl, Fc = 1, 2e-3, 0.05, 1e-4, 1e-5, 10, 50, 0.02, 0.02, 0.01, 0.5
dt, rows, sub = 1e-3, 2000, 50
h = dt / sub
u = np.round(np.repeat(rng.uniform(-12, 12, rows // 50), 50), 3)


def rate(x, u):
    i, a, w, b, v = x
    t = ks * (a / n - b) + cs * (w / n - v)
    return np.array([(u - R * i - K * w) / L, w, (K * i - bm * w - t / n) / Jm, v, (t - bl * v - Fc * np.tanh(v / 0.01)) / Jl])


x, path = np.zeros(5), []
for k in range(rows):
    path.append(x)
    for _ in range(sub):
        k1 = rate(x, u[k])
        k2 = rate(x + h / 2 * k1, u[k])
        k3 = rate(x + h / 2 * k2, u[k])
        k4 = rate(x + h * k3, u[k])
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
path = np.array(path)
i = path[:, 0] + 0.05 * rng.standard_normal(rows)
motor = path[:, 1] + 5e-3 * rng.standard_normal(rows)
load = path[:, 3] + 1e-3 * rng.standard_normal(rows)
text = "t,u,i,motor,load\n" + "".join(f"{k * dt:.3f},{u[k]:.3f},{i[k]:.3f},{motor[k]:.4f},{load[k]:.4f}\n" for k in range(rows))
with open(sys.argv[2], "wb") as f, gzip.GzipFile("", "wb", fileobj=f, mtime=0) as z:
    z.write(text.encode())
