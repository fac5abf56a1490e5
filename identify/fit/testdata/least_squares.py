"""Fits of identify/fit's tests by scipy.optimize.least_squares (trust region reflective): an independent answer.

Input, JSON: cases of model, t, y, start, lo, hi (null: none), loss, scale. Output: for each the parameters, the cost and the
covariance s^2 (J'WJ)^-1 with the weights W = rho' of the loss and J by central differences.
"""
import json
import sys

import numpy as np
from scipy.optimize import least_squares

MODELS = {
    "decay": lambda t, q: q[0] * np.exp(-t * q[1]) + q[2],
    "stribeck": lambda t, q: (q[0] + q[1] * np.exp(-((t / q[2]) ** 2))) * np.sign(t) + q[3] * t,
}


def rho1(loss, z):
    if loss == "soft_l1":
        return (1 + z) ** -0.5
    if loss == "huber":
        return np.where(z <= 1, 1.0, np.maximum(z, 1e-300) ** -0.5)
    if loss == "cauchy":
        return 1 / (1 + z)
    return np.ones_like(z)


def solve(c):
    t, y = np.array(c["t"]), np.array(c["y"])
    f = MODELS[c["model"]]
    lo = [-np.inf if v is None else v for v in c["lo"]]
    hi = [np.inf if v is None else v for v in c["hi"]]
    res = least_squares(
        lambda q: f(t, q) - y, c["start"], bounds=(lo, hi), loss=c["loss"], f_scale=c["scale"],
        x_scale=np.abs(c["start"]), jac="3-point", ftol=1e-15, xtol=1e-15, gtol=1e-15, max_nfev=5000,
    )
    q = res.x
    j = np.empty((len(t), len(q)))
    for k in range(len(q)):
        h = 1e-6 * abs(q[k])
        a, b = q.copy(), q.copy()
        a[k] += h
        b[k] -= h
        j[:, k] = (f(t, a) - f(t, b)) / (a[k] - b[k])
    r = f(t, q) - y
    w = rho1(c["loss"], (r / c["scale"]) ** 2)
    s2 = np.sum(w * r * r) / (len(t) - len(q))
    cov = s2 * np.linalg.inv(j.T @ (w[:, None] * j))
    return {"theta": list(q), "cost": res.cost, "cov": [list(v) for v in cov]}


json.dump([solve(c) for c in json.load(sys.stdin)], sys.stdout)
