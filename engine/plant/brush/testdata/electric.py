"""The electrical side of a brush, integrated by SciPy's stiff solvers from the equations alone.

Reads {"circuit": [case ...], "coils": [case ...]} from stdin and writes lists of results under the same names, both JSON.

circuit  R, L, K, series, V0, Ilin, aR, bR, Rb, Varc, V (amplitude), f (Hz; 0: direct), w (rad/s), T (s), n
         The force on brush k is 2.5 exp(depth (sin(2 pi rate t + k) - 1)) N: it swings over decades.
         Result: i at n + 1 times from 0 to T, and the integrals of i^2 and of the loss in both contacts.
coils    Lc, Rc, e, Varc, R, a, pitch, half, slot, rate, theta0, T
         A chain of shorted coils between two passings of slots. Result: their currents at T.

Run: /usr/bin/python3 electric.py < cases.json (Debian: python3-scipy)
"""
import json
import math
import sys

import numpy as np
from scipy.integrate import solve_ivp


def circuit(c):
    def force(t, k):
        return 2.5 * math.exp(c["depth"] * (math.sin(2 * math.pi * c["rate"] * t + k) - 1))

    def drop(i, f):
        rc = c["aR"] / math.sqrt(f) + c["bR"] / f
        y = abs(i)
        contact = c["V0"] * min(1, y / c["Ilin"]) + rc * y
        if contact > c["Varc"] and y >= c["Iarc"]:
            contact = c["Varc"]
        return math.copysign(contact + c["Rb"] * y, i)

    def rhs(t, x):
        i = x[0]
        u = c["V"] * (math.sin(2 * math.pi * c["f"] * t) if c["f"] else 1)
        emf = c["K"] * c["w"] * (i if c["series"] else 1)
        v = [drop(i, force(t, k)) for k in (0, 1)]
        return [(u - c["R"] * i - emf - sum(v)) / c["L"], i * i, i * sum(v)]

    t = np.linspace(0, c["T"], c["n"] + 1)
    s = solve_ivp(rhs, (0, c["T"]), [0.0, 0.0, 0.0], "LSODA", t_eval=t, rtol=1e-10, atol=1e-12, max_step=c["T"] / c["n"] / 2)
    return {"i": s.y[0].tolist(), "square": s.y[1][-1], "loss": s.y[2][-1]}


def coils(c):
    pitch, half, slot = c["pitch"], c["half"], c["slot"]
    hi = half - slot / 2

    def places(theta):  # bridged slots, from the edge towards positive rotation
        m = int(3 * half / pitch) + 3
        k0 = round(theta / pitch)
        return sorted((theta - (k0 + j) * pitch for j in range(-m, m + 1)), reverse=True)

    mid = c["theta0"] + c["rate"] * c["T"] / 2
    n = sum(-hi < s < hi for s in places(mid))
    shift = [s - mid for s in places(mid) if -hi < s < hi]

    def rhs(t, x):
        theta = c["theta0"] + c["rate"] * t
        s = [theta + d for d in shift]
        # bars: pieces of the face outside all slots
        edges = [half if s[0] + pitch - slot / 2 > half else s[0] + pitch - slot / 2]
        area = []
        for q in s:
            area.append(edges[-1] - (q + slot / 2))
            edges.append(q - slot / 2)
        area.append(edges[-1] - max(-half, s[-1] - pitch + slot / 2))
        area = [max(1e-9 * half, q) for q in area]
        cur = [c["a"] + x[0]] + [x[k] - x[k - 1] for k in range(1, n)] + [c["a"] - x[n - 1]]
        v = [max(-c["Varc"], min(c["Varc"], c["R"] * sum(area) / A * I)) for A, I in zip(area, cur)]
        return [-(c["Rc"] * x[k] + c["e"] + v[k] - v[k + 1]) / c["Lc"] for k in range(n)]

    x0 = [-c["a"] * (c["theta0"] + d) / half for d in shift]
    s = solve_ivp(rhs, (0, c["T"]), x0, "LSODA", rtol=1e-9, atol=1e-11)
    return s.y[:, -1].tolist()


job = json.load(sys.stdin)
json.dump({"circuit": [circuit(c) for c in job["circuit"] or []], "coils": [coils(c) for c in job["coils"] or []]}, sys.stdout)
