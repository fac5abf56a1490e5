"""Friction laws in their differential form, integrated by SciPy.

An implementation of its own, from the equations alone: no step of the Go program is repeated here. Reads a list of cases
from stdin and writes a list of results to stdout, both JSON.

case    law, params {name: value}, z0 (state at the start), load (N), current (A),
        mass (kg; 0: the motion is imposed), k (N/m), tones [[amplitude m, rad/s] ...],
        slide (m/s), h (s), steps, every
result  step  numbers of the steps reported: every every-th, and those with a reversal
        mid   friction in the middle of the step (N)
        mean  its mean over the step (N), by Simpson's rule
        x     position at the end of the step (m)
        turn  whether the velocity changes its sign in the step

The path is y(t) = slide t + sum A (1 - cos(w t)). With mass 0 it is the motion of the contact; otherwise it is the far end of the
spring k that pulls the mass, M dv/dt = k (y - x) - F, from x = 0 at rest or, with slide, already sliding at this speed
under the force of the spring that friction needs.

Run: /usr/bin/python3 agree.py < cases.json (Debian: python3-scipy)
"""
import json
import math
import sys

import numpy as np
from scipy.integrate import odeint, solve_ivp
from scipy.optimize import brentq

# local errors; the global ones stay below 1e-6 of the peaks
RTOL = 1e-9
ATOL = 1e-10  # of the size of a state


def sign(v):
    return 1.0 if v > 0 else -1.0 if v < 0 else 0.0


def bell(v, vs):
    r = v / vs
    return math.exp(-r * r) if abs(r) < 26 else 0.0


# A law takes its parameters and the case, and returns f(z, v) -> (dz/dt, friction), with a scale for every state.

def lugre(p, case):
    """Bristle with Stribeck curve, (6.44)-(6.46); damping fades as exp(-(v/vd)^2)."""
    s0, s1, s2 = p["sigma0"], p["sigma1"], p["sigma2"]
    fc, fs, vs, vd = p["Fc"], p["Fs"], p["vs"], p["vd"]
    load = case["load"] / p["N0"] if p["N0"] > 0 else 1.0

    def f(z, v):
        g = fc + (fs - fc) * bell(v, vs)
        dz = v - s0 * abs(v) * z[0] / g
        damp = s1 * bell(v, vd) if vd > 0 else s1
        return [dz], load * (s0 * z[0] + damp * dz + s2 * v) + p["offset"]

    return f, [fs / s0]


def elasto_plastic(p, case):
    """LuGre whose bristle slips above a break-away deflection only, [D02]."""
    s0, s1, s2 = p["sigma0"], p["sigma1"], p["sigma2"]
    fc, fs, vs, vd = p["Fc"], p["Fs"], p["vs"], p["vd"]
    load = case["load"] / p["N0"] if p["N0"] > 0 else 1.0

    def f(z, v):
        z = z[0]
        top = (fc + (fs - fc) * bell(v, vs)) / s0
        # the elastic part yields to 95 % of the largest deflection where the Stribeck curve dips below it
        zba = min(p["zba_ratio"] * fs / s0, 0.95 * top)
        a = abs(z)
        if z * v <= 0 or a <= zba:
            alpha = 0.0
        elif a >= top:
            alpha = 1.0
        else:
            alpha = 0.5 + 0.5 * math.sin(math.pi * (a - (top + zba) / 2) / (top - zba))
        dz = v * (1 - alpha * z * sign(v) / top)
        damp = s1 * bell(v, vd) if vd > 0 else s1
        return [dz], load * (s0 * z + damp * dz + s2 * v) + p["offset"]

    return f, [fs / s0]


def dahl(p, case):
    """dF/dx = sigma0 |y|^i sgn y with y = 1 - F/Fc sgn v; the state is F/sigma0."""
    s0, fc, i = p["sigma0"], p["Fc"], p["exponent"]
    # below 1 the slope at y = 0 is infinite: sliding begins after a finite path, and an integrator would chatter there
    small = 1e-14 if i < 1 else 0.0

    def f(z, v):
        y = 1 - s0 * z[0] / fc * sign(v)
        return [v * y * (y * y + small) ** ((i - 1) / 2)], s0 * z[0]

    return f, [fc / s0]


def dahl_modified(p, case):
    """(6.50)-(6.53); the state is a force."""
    a0, a1, a2, v0, d0 = p["alpha0"], p["alpha1"], p["alpha2"], p["v0"], p["d0"]

    def f(z, v):
        g = a0 + a1 * bell(v, v0)
        return [abs(v) / d0 * (g * sign(v) - z[0])], z[0] + a2 * v

    return f, [a0]


def m2(p, case):
    """Blend of sticking and sliding, (6.54)-(6.62)."""
    a0, a1, a2, v0 = p["alpha0"], p["alpha1"], p["alpha2"], p["v0"]

    def f(z, v):
        s, r = z
        stick = p["ks"] * r + p["ds"] * v
        stick = min(max(stick, -a0 - a1), a0 + a1)
        slide = a0 * math.tanh(v / p["veps"]) + a2 * v
        ds = (1 - bell(v, v0) - s) / p["tau_s"]
        dr = v - s * r / p["tau_r"]
        return [ds, dr], s * slide + (1 - s) * stick

    return f, [1.0, (a0 + a1) / p["ks"]]


def bouc_wen(p, case):
    """Hysteretic spring with a linear one in parallel, A = 1."""
    k, alpha, beta, gamma, n = p["k"], p["alpha"], p["beta"], p["gamma"], p["n"]

    def f(z, v):
        h, x = z
        dh = v - beta * abs(v) * abs(h) ** (n - 1) * h - gamma * v * abs(h) ** n
        return [dh, v], alpha * k * x + (1 - alpha) * k * h

    top = (beta + gamma) ** (-1 / n)
    return f, [top, top]


def state_variable(p, case):
    """Dieterich and Ruina, slip form, (6.35), (6.36), with the asinh in logarithms."""
    a, b, v0 = p["A"], p["B"], p["v0"]
    load = case["load"]

    def f(z, v):
        theta = z[0]
        dtheta = -abs(v) / p["L"] * (theta + b * math.log((abs(v) + p["veps"]) / v0))
        y = math.log(abs(v) / (2 * v0)) + (p["mu0"] + theta) / a
        arc = y + math.log1p(math.sqrt(1 + math.exp(-2 * y))) if y > 0 else math.asinh(math.exp(y))
        return [dtheta], sign(v) * load * a * arc

    return f, [b]


def graphite_brush(p, case):
    """LuGre with g = N0 mu(v, T, J), heated by friction and current, theory 7.5."""
    s0, s1, s2, vs, vd, n0 = p["sigma0"], p["sigma1"], p["sigma2"], p["vs"], p["vd"], p["N0"]
    load, current = case["load"], abs(case["current"])
    j = current / p["area"]
    mj = 1 + p["aJ"] * j + p["bJ"] * j * j

    def f(z, v):
        z, temp = z
        d = temp - p["T0"]
        mt = 1 + p["aT"] * d + p["bT"] * d * d
        mu = max(p["mu_min"], mt * mj * (p["mu_c"] + (p["mu_s"] - p["mu_c"]) * bell(v, vs)))
        dz = v - s0 * abs(v) * z / (n0 * mu)
        damp = s1 * bell(v, vd) if vd > 0 else s1
        force = load / n0 * (s0 * z + damp * dz + s2 * v)
        heat = abs(force * v) + p["Udrop"] * current - (temp - p["Tamb"]) / p["Rth"]
        return [dz, heat / p["Cth"]], force

    return f, [n0 * p["mu_s"] / s0, 1.0]


class GMS:
    """Maxwell-slip elements in parallel, [L03]: equal shares, stiffness falling by the ratio.

    A slipping element rises no faster than its spring is stretched. mode[i] tells whether element i slips, in the direction
    way; it ends when the velocity changes its sign.
    """

    def __init__(self, p, case):
        self.p, self.n = p, int(p["elements"])
        self.share = 1 / self.n
        k = [p["ratio"] ** -i for i in range(self.n)]
        self.k = [p["sigma0"] * q / sum(k) for q in k]
        self.size = [p["Fs"] * self.share] * self.n

    def level(self, v):
        p = self.p
        return p["Fc"] + (p["Fs"] - p["Fc"]) * bell(v, p["vs"])

    def force(self, z, v):
        return sum(z) + self.p["sigma2"] * v

    def rate(self, z, v, mode, way):
        g, c = self.level(v), self.p["C"]
        dz = []
        for f, k, slips in zip(z, self.k, mode):
            if slips:
                dz.append(way * min(c * (self.share - way * f / g), k * max(way * v, 0.0)))
            else:
                dz.append(k * v)
        return dz

    def guard(self, i, z, v, way):
        """Zero where element i begins to slip."""
        return way * z[i] - self.share * self.level(v)


LAWS = {
    "lugre": lugre,
    "elasto-plastic": elasto_plastic,
    "dahl": dahl,
    "dahl-modified": dahl_modified,
    "m2": m2,
    "bouc-wen": bouc_wen,
    "state-variable": state_variable,
    "graphite-brush": graphite_brush,
    "gms": GMS,
}


def path(case):
    """Position and velocity of the path."""
    (a, w), (b, u) = case["tones"]
    c, sin, cos = case["slide"], math.sin, math.cos
    return (lambda t: c * t + a * (1 - cos(w * t)) + b * (1 - cos(u * t)),
            lambda t: c + a * w * sin(w * t) + b * u * sin(u * t))


def reversals(dy, end, n=4000):
    """Times at which an imposed velocity changes sign: the right-hand side has a corner there."""
    t = [end * i / n for i in range(n + 1)]
    v = [dy(s) for s in t]
    return [brentq(dy, t[i], t[i + 1], xtol=1e-15) for i in range(1, n) if v[i] * v[i + 1] < 0]


def smooth(f, x0, atol, times, corners):
    """LSODA over sorted times, restarted at the corners."""
    out = np.empty((len(times), len(x0)))
    start, x, k = 0.0, np.array(x0, float), 0
    for end in corners + [times[-1]]:
        stop = np.searchsorted(times, end, side="right")
        grid = np.concatenate([[start], times[k:stop], [end]])
        # times that (nearly) coincide give LSODA nothing to do
        keep = np.concatenate([[True], np.diff(grid) > 1e-13])
        if keep.sum() > 1:
            sol, info = odeint(f, x, grid[keep], tfirst=True, rtol=RTOL, atol=atol, mxstep=200000, full_output=True)
            if info["message"] != "Integration successful.":
                raise RuntimeError(info["message"])
            full = sol[np.cumsum(keep) - 1]
            out[k:stop] = full[1:-1]
            x = sol[-1]
        start, k = end, stop
    return out


def switching(law, velocity, rate, x0, split, times):
    """A law with modes, integrated from event to event: an element slips, or the velocity changes its sign.

    velocity(t, s) and rate(t, s, dz) describe the rest of the system; the state of the law is s[split:].
    """
    out = np.empty((len(times), len(x0)))
    out[0] = x0
    t, s, k = 0.0, np.array(x0, float), 1
    mode, way = [False] * law.n, 1.0  # the path sets out forward
    while k < len(times):
        def rhs(t, s):
            v = velocity(t, s)
            return rate(t, s, law.rate(s[split:].tolist(), v, mode, way))

        def turn(t, s):
            return way * velocity(t, s)

        turn.direction = -1
        events = [turn]
        stuck = [i for i in range(law.n) if not mode[i]]
        for i in stuck:
            def slip(t, s, i=i):
                return law.guard(i, s[split:], velocity(t, s), way)

            slip.direction = 1
            events.append(slip)
        for e in events:
            e.terminal = True
        # not stiff; a one-step method notices the corner of the bound on the rise, LSODA steps over it
        r = solve_ivp(rhs, (t, times[-1]), s, method="DOP853", rtol=RTOL, atol=1e-12, events=events, dense_output=True)
        if not r.success:
            raise RuntimeError(r.message)
        stop = np.searchsorted(times, r.t[-1], side="right")
        if stop > k:
            out[k:stop] = r.sol(times[k:stop]).T
        t, s, k = r.t[-1], r.y[:, -1], max(k, stop)
        if r.status == 0:
            break
        if len(r.t_events[0]) > 0:
            mode, way = [False] * law.n, -way
        for i, hit in zip(stuck, r.t_events[1:]):
            if len(hit) > 0:
                mode[i] = True
    return out


def run(case):
    law = LAWS[case["law"]](case["params"], case)
    y, dy = path(case)
    h, mass, k = case["h"], case["mass"], case["k"]
    # beginnings, middles and ends of all steps
    times = np.arange(2 * case["steps"] + 1) * (h / 2)
    reach = sum(abs(a) for a, w in case["tones"])
    if isinstance(law, GMS):
        start, friction = case["z0"][:law.n], law.force
        if mass > 0:
            s = switching(law, lambda t, s: s[1],
                          lambda t, s, dz: [s[1], (k * (y(t) - s[0]) - friction(s[2:], s[1])) / mass, *dz],
                          [0.0, 0.0] + start, 2, times)
        else:
            z = switching(law, lambda t, s: dy(t), lambda t, s, dz: dz, start, 0, times)
    else:
        law, size = law
        atol = [ATOL * s for s in size]

        def friction(z, v):
            return law(z, v)[1]

        if mass > 0:
            def rhs(t, s):
                x, v, *z = s.tolist()
                dz, force = law(z, v)
                return [v, (k * (y(t) - x) - force) / mass, *dz]

            v0 = case["slide"]
            x0 = -friction(case["z0"], v0) / k if v0 > 0 else 0.0
            s = smooth(rhs, [x0, v0] + case["z0"], [ATOL * reach] * 2 + atol, times, [])
        else:
            def rhs(t, s):
                return law(s.tolist(), dy(t))[0]

            z = smooth(rhs, case["z0"], atol, times, reversals(dy, times[-1]))
    if mass > 0:
        x, v, z = s[:, 0], s[:, 1], s[:, 2:]
    else:
        x, v = np.array([y(t) for t in times]), np.array([dy(t) for t in times])
    turn = v[:-2:2] * v[2::2] < 0
    step = np.unique(np.concatenate([np.arange(0, case["steps"], case["every"]), np.flatnonzero(turn)]))

    def force(at):
        return np.array([friction(z[i].tolist(), float(v[i])) for i in at])

    begin, mid, end = force(2 * step), force(2 * step + 1), force(2 * step + 2)
    return {
        "step": step.tolist(),
        "mid": mid.tolist(),
        "mean": ((begin + 4 * mid + end) / 6).tolist(),
        "x": x[2 * step + 2].tolist(),
        "turn": turn[step].tolist(),
    }


if __name__ == "__main__":
    json.dump([run(c) for c in json.load(sys.stdin)], sys.stdout)
