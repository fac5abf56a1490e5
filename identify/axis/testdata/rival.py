"""The problems of the speed tests, solved by SciPy on kernels compiled by numba.

Each kernel is a loop over floats, which is the fastest that is in reach of a Python user: simulate is the A-Padé scheme of the
populations, finer a scheme of second order in a number of parts of a sample. Reads from stdin one JSON object

    dt (s), u (N), y (m/s), m (kg), offset (N), lo, hi (boxes of sigma0, sigma1, sigma2, Fc, Fs, vs), and tasks, a list of

    {"evolve": members, "generations", "seed", "target"}    differential evolution with the random first generation included,
                                                            ended early only at a cost at or below target
    {"descend": [theta, ...]}                               least_squares, method trf, from every start
    {"finer": [theta, ...], "error", "lo", "hi", "truth", "parts"}
                                                            the same on the kernel of second order, in so many parts of a sample, or
                                                            0: in as many as leave an error of at most that (m/s, rms) at the truth;
                                                            theta begins with the mass. Also "error" and "parts" in the result

searches the logarithms of the six parameters and writes {"evolved": [...], "descended": [...]} to stdout, an entry per task with
seconds, cpu (s of processor), cost (sum of squares; of descents a list, and cpu too), simulations, theta. Compiling does not
count. No polishing.

Run: /usr/bin/python3 rival.py < problem.json (Debian: python3-scipy, python3-numba)
"""
import json
import math
import sys
import time

import numpy as np
from numba import njit
from scipy.optimize import differential_evolution, least_squares


@njit
def simulate(log, u, y, h, m, offset, out):
    sigma0, sigma1, sigma2 = math.exp(log[0]), math.exp(log[1]), math.exp(log[2])
    fc, df, over = math.exp(log[3]), math.exp(log[4]) - math.exp(log[3]), 1 / math.exp(log[5])
    hs, k1, hm = h * sigma0, 1 + sigma1 / (h * sigma0), h / m
    v = -0.5 * hm * (u[0] - offset)
    zeta, total, before = 0.0, 0.0, u[0]
    keep = len(out) > 0
    for k in range(len(u)):
        r = v * over
        g = fc + df * math.exp(-r * r)
        b = hs * abs(v)
        n = b * (g + 0.5 * b)
        step = (math.copysign(g, v) - zeta) * n / (g * g + n)
        new = v + hm * (0.5 * (before + u[k]) - offset - zeta - k1 * step - sigma2 * v)
        e = 0.5 * (v + new) - y[k]
        total += e * e
        if keep:
            out[k] = e if abs(e) < 1e6 else 1e6
        v, zeta, before = new, zeta + step, u[k]
    if not total < 1e300:
        return 1e300
    return total


@njit
def finer(log, u, y, dt, parts, out):
    """Residuals of the velocity, under a force held from sample to sample, from rest.

    A part of a sample moves the bristle exactly at the velocity of its middle, but for the Padé approximant of the exponential.
    That velocity comes from the friction at the beginning of the part.
    """
    m, sigma0, sigma1, sigma2 = math.exp(log[0]), math.exp(log[1]), math.exp(log[2]), math.exp(log[3])
    fc, df, over = math.exp(log[4]), math.exp(log[5]) - math.exp(log[4]), 1 / math.exp(log[6])
    h = dt / parts
    hm, hs, k1 = h / m, h * sigma0, sigma1 / (h * sigma0)
    v, zeta = 0.0, 0.0
    for k in range(len(u)):
        e = v - y[k]
        out[k] = e if abs(e) < 1e6 else 1e6
        for _ in range(parts):
            r = v * over
            g = fc + df * math.exp(-r * r)
            w = v + 0.5 * hm * (u[k] - zeta - sigma1 * (v - abs(v) * zeta / g) - sigma2 * v)
            r = w * over
            g = fc + df * math.exp(-r * r)
            b = hs * abs(w)
            over_n = 1 / (g * g + b * (g + 0.5 * b))
            miss = math.copysign(g, w) - zeta
            step = miss * b * (g + 0.5 * b) * over_n
            mean = miss * 0.5 * b * (g + b) * over_n
            v += hm * (u[k] - zeta - mean - k1 * step - sigma2 * w)
            zeta += step


def main():
    p = json.load(sys.stdin)
    u, y = np.array(p["u"]), np.array(p["y"])
    lo, hi = np.log(p["lo"]), np.log(p["hi"])
    fixed = (u, y, p["dt"], p["m"], p["offset"])
    nothing = np.empty(0)

    def cost(log):
        return simulate(log, *fixed, nothing)

    def residuals(log):
        out = np.empty(len(u))
        simulate(log, *fixed, out)
        return out

    def descend(task):
        low, high, dt, truth = np.log(task["lo"]), np.log(task["hi"]), p["dt"], np.log(task["truth"])

        def moved(log, parts):
            out = np.empty(len(u))
            finer(log, u, y, dt, parts, out)
            return out

        def off(parts):
            return float(np.sqrt(np.mean((moved(truth, parts) - fine) ** 2)))

        fine, parts = moved(truth, 512), task.get("parts", 0) or 1
        while not task.get("parts", 0) and off(parts) > task["error"]:
            parts += 1

        def left(log):
            return moved(log, parts)

        got = {"costs": [], "cpus": [], "thetas": [], "parts": parts, "error": off(parts)}
        for start in task["finer"]:
            begin = time.process_time()
            r = least_squares(left, np.clip(np.log(start), low, high), bounds=(low, high), method="trf", x_scale="jac", ftol=1e-10, xtol=1e-10)
            np.linalg.inv(r.jac.T @ r.jac)
            got["cpus"].append(time.process_time() - begin)
            got["costs"].append(2 * r.cost)
            got["thetas"].append(list(np.exp(r.x)))
        return got

    def evolve(task):
        rng = np.random.default_rng(task["seed"])
        first = lo + (hi - lo) * rng.random((task["evolve"], len(lo)))
        target = task.get("target", 0)
        return differential_evolution(
            cost, list(zip(lo, hi)), init=first, maxiter=task["generations"] - 1, tol=0, atol=0, polish=False, seed=task["seed"],
            callback=(lambda x, convergence: cost(x) <= target) if target else None)

    cost(0.5 * (lo + hi))
    residuals(0.5 * (lo + hi))
    out = {"evolved": [], "descended": []}
    for task in p["tasks"]:
        begin, used = time.perf_counter(), time.process_time()
        if "evolve" in task:
            r = evolve(task)
            out["evolved"].append({
                "seconds": time.perf_counter() - begin, "cpu": time.process_time() - used,
                "cost": r.fun, "simulations": r.nfev, "theta": list(np.exp(r.x))})
            continue
        if "finer" in task:
            out["descended"].append(descend(task))
            continue
        costs, times = [], []
        for start in task["descend"]:
            begin = time.process_time()
            r = least_squares(residuals, np.log(start), bounds=(lo, hi), method="trf", x_scale="jac", ftol=1e-10, xtol=1e-10)
            np.linalg.inv(r.jac.T @ r.jac)
            times.append(time.process_time() - begin)
            costs.append(2 * r.cost)
        out["descended"].append({"costs": costs, "cpus": times})
    json.dump(out, sys.stdout)


main()
