# A mass with friction in a sampled controller, integrated as a continuous system between the samples. Reads the problem as
# JSON and writes positions and commands.
import json
import sys

import numpy as np
from scipy.integrate import solve_ivp

d = json.load(sys.stdin)
h, ref, lag = d["h"], d["ref"], d["lag"]
c, m = d["controller"], d["contact"]
plus, minus = m["plus"], m["minus"]
n = len(ref)
x, v, z = ref[0], 0.0, 0.0
xs, us = [x], []


def lugre(u):
    def f(t, y):
        s = plus if y[1] >= 0 else minus
        g = s["fc"] + s["rise"] * np.exp(-((y[1] / m["vs"]) ** 2))
        dz = y[1] - m["sigma0"] * abs(y[1]) / g * y[2]
        friction = m["sigma0"] * y[2] + m["sigma1"] * dz + s["s2"] * y[1] + m["offset"]
        return [y[1], (u - friction) / m["m"], dz]

    return f


def coulomb(x, v, u, tau):
    """Many tiny steps: the mass is pushed, then friction takes away at most what is there."""
    k = max(1, int(np.ceil(tau / 2e-6)))
    dt = tau / k
    for _ in range(k):
        w = v + dt * (u - m["offset"]) / m["m"]
        s = plus if w >= 0 else minus
        w = np.sign(w) * max(0.0, abs(w) - dt * s["fc"] / m["m"]) / (1 + dt * s["s2"] / m["m"])
        x, v = x + dt * w, w
    return x, v


past = d["u0"]
for k in range(n):
    at = lambda i: xs[i] if i >= 0 else ref[0]
    mean, late = c["Mean"], c["Delay"]
    vel = (at(k - late) - at(k - late - mean)) / (mean * h)
    u = c["Kv"] * (c["Kp"] * (ref[k] - x) - vel)
    u = c["Gain"] * float(np.clip(u, -c["Limit"], c["Limit"]))
    us.append(u)
    for force, tau in ((past, lag), (u, h - lag)):
        if tau <= 0:
            continue
        if m["sigma0"] > 0:
            y = solve_ivp(lugre(force), (0, tau), [x, v, z], method="LSODA", rtol=1e-8, atol=[1e-13, 1e-10, 1e-14]).y[:, -1]
            x, v, z = map(float, y)
        else:
            x, v = coulomb(x, v, force, tau)
    past = u
    xs.append(x)
json.dump({"X": xs[:n], "U": us}, sys.stdout)
