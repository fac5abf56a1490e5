"""The problem of the population tests, solved by SciPy's differential evolution on a kernel compiled by numba.

The kernel is the same scheme, A-Padé, as a loop over floats, which is the fastest that is in reach of a Python user. Reads from
stdin one JSON object

    dt (s), u (N), y (m/s), m (kg), offset (N), lo, hi (boxes of sigma0, sigma1, sigma2, Fc, Fs, vs),
    members, generations, seed

searches the logarithms of the six parameters with that many members and generations, the random first one included, and
writes {seconds, cpu, cost, simulations, theta} to stdout; cpu is the time of the processor, in s. Compiling does not count. No polishing, and no early end.

Run: /usr/bin/python3 de_numba.py < problem.json (Debian: python3-scipy, python3-numba)
"""
import json
import math
import sys
import time

import numpy as np
from numba import njit
from scipy.optimize import differential_evolution


@njit
def cost(log, u, y, h, m, offset):
    sigma0, sigma1, sigma2 = math.exp(log[0]), math.exp(log[1]), math.exp(log[2])
    fc, df, over = math.exp(log[3]), math.exp(log[4]) - math.exp(log[3]), 1 / math.exp(log[5])
    hs, k1, hm = h * sigma0, 1 + sigma1 / (h * sigma0), h / m
    v = -0.5 * hm * (u[0] - offset)
    zeta, total, before = 0.0, 0.0, u[0]
    for k in range(len(u)):
        r = v * over
        g = fc + df * math.exp(-r * r)
        b = hs * abs(v)
        n = b * (g + 0.5 * b)
        step = (math.copysign(g, v) - zeta) * n / (g * g + n)
        new = v + hm * (0.5 * (before + u[k]) - offset - zeta - k1 * step - sigma2 * v)
        e = 0.5 * (v + new) - y[k]
        total += e * e
        v, zeta, before = new, zeta + step, u[k]
    if not total < 1e300:
        return 1e300
    return total


def main():
    p = json.load(sys.stdin)
    u, y = np.array(p["u"]), np.array(p["y"])
    lo, hi = np.log(p["lo"]), np.log(p["hi"])
    fixed = (u, y, p["dt"], p["m"], p["offset"])
    cost(0.5 * (lo + hi), *fixed)
    rng = np.random.default_rng(p["seed"])
    first = lo + (hi - lo) * rng.random((p["members"], len(lo)))
    begin, used = time.perf_counter(), time.process_time()
    r = differential_evolution(
        cost, list(zip(lo, hi)), args=fixed, init=first, maxiter=p["generations"] - 1,
        tol=0, atol=0, polish=False, seed=p["seed"])
    seconds, used = time.perf_counter() - begin, time.process_time() - used
    json.dump({"seconds": seconds, "cpu": used, "cost": r.fun, "simulations": r.nfev, "theta": list(np.exp(r.x))}, sys.stdout)


main()
