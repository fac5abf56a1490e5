"""Rotations by SciPy, for the tests of engine/rotation.

exp     rotation vectors with quaternion (w, x, y, z), matrix and left Jacobian, the last as the integral of exp(s [v]x) over
        s = 0 ... 1, by the quadrature of matrix exponentials
align   point pairs with weights: quaternion of Rotation.align_vectors about the weighted centres, position, rms
turning times and quaternions of a body with w(t) = (1 + t, -2 + cos 3t, 0.5 - t^2) rad/s in body axes, by DOP853
points  times, values, order: numpy.polyfit with covariance about the middle

Run: /usr/bin/python3 rotation.py > rotation.json (Debian: python3-scipy)
"""
import json

import numpy as np
from scipy.integrate import quad_vec, solve_ivp
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

rng = np.random.default_rng(17)


def skew(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def wxyz(r):
    x, y, z, w = r.as_quat()
    return [w, x, y, z]


def exps():
    out = []
    for size in [1e-9, 1e-5, 9e-5, 1.1e-4, 0.01, 0.2999, 0.3001, 1, 2, 3, 3.14159]:
        v = rng.normal(size=3)
        v *= size / np.linalg.norm(v)
        r = Rotation.from_rotvec(v)
        jl = quad_vec(lambda s: expm(s * skew(v)), 0, 1, epsabs=1e-14)[0]
        out.append(dict(v=v.tolist(), q=wxyz(r), m=r.as_matrix().tolist(), jl=jl.tolist()))
    return out


def aligns():
    out = []
    for n in [3, 3, 4, 5, 12]:
        body = rng.normal(size=(n, 3)) * 0.03
        r = Rotation.random(random_state=int(rng.integers(1 << 30)))
        world = r.apply(body) + rng.normal(size=3) + rng.normal(size=(n, 3)) * 1e-3
        w = rng.uniform(0.3, 3, n)
        cb, cw = np.average(body, axis=0, weights=w), np.average(world, axis=0, weights=w)
        got, _ = Rotation.align_vectors(world - cw, body - cb, weights=w)
        d = world - cw - got.apply(body - cb)
        out.append(dict(body=body.tolist(), world=world.tolist(), w=w.tolist(), q=wxyz(got), p=(cw - got.apply(cb)).tolist(),
                        rms=float(np.sqrt(np.sum(w * np.sum(d * d, axis=1)) / np.sum(w)))))
    return out


def turning():
    def omega(t):
        return np.array([1 + t, -2 + np.cos(3 * t), 0.5 - t * t])

    def f(t, q):  # w, x, y, z
        w, x, y, z = q
        a, b, c = omega(t)
        return 0.5 * np.array([-x * a - y * b - z * c, w * a + y * c - z * b, w * b + z * a - x * c, w * c + x * b - y * a])

    t = np.sort(np.concatenate([np.arange(0, 2, 0.01), rng.uniform(0, 2, 40)]))
    t = t[(t < 1.2) | (t > 1.26)]
    s = solve_ivp(f, (0, 2.01), [0.8, 0.6 / np.sqrt(3), 0.6 / np.sqrt(3), 0.6 / np.sqrt(3)], method="DOP853", t_eval=t, rtol=1e-13, atol=1e-14)
    return dict(t=t.tolist(), q=s.y.T.tolist())


def points():
    out = []
    for order in [1, 2, 3, 5]:
        t = np.sort(rng.uniform(-0.1, 0.1, 23))
        y = np.column_stack([np.sin(9 * t), np.cos(5 * t), t]) + rng.normal(size=(23, 3)) * 1e-3
        c, se = [], []
        for k in range(3):
            p, cov = np.polyfit(t, y[:, k], order, cov=True)
            c.append(p[::-1][:3].tolist())
            se.append(np.sqrt(np.diag(cov))[::-1][:3].tolist())
        out.append(dict(t=t.tolist(), y=y.tolist(), order=order, c=c, se=se))
    return out


print(json.dumps(dict(exp=exps(), align=aligns(), turning=turning(), points=points()), indent=None))
