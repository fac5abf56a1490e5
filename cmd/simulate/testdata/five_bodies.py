#!/usr/bin/env python3
"""five_bodies.py TABLE [STEP]: the machine of configs/machine/benchmarks/five-bodies.yaml by Newton and Euler in absolute coordinates.

Every body has six coordinates, every joint its constraint equations, which are solved for with the accelerations and held by Baumgarte's method; the classical method of
Runge and Kutta. Nothing is recursive. The start is that of TABLE, which
hil simulate wrote (-o), the steps are 0.5 ms. Printed are time and places of the origins of B4 and B5.
"""
import json
import re
import sys

import numpy as np

eye = np.eye(3)


def skew(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def rot(q):
    w, x, y, z = q
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


bodies = [  # mass, com, inertia about it
    (2, [0.1, 0.05, 0.1], [0.04, 0.05, 0.06]), (1.5, [0.05, 0.3, 0], [0.05, 0.02, 0.05]), (1.2, [0, 0.35, 0.05], [0.05, 0.03, 0.04]),
    (1, [-0.1, 0.2, 0.1], [0.03, 0.02, 0.04]), (0.8, [0.2, 0.05, 0], [0.01, 0.02, 0.02])]
m = np.array([b[0] for b in bodies])
com = np.array([b[1] for b in bodies], float)
I = [np.diag(b[2]) for b in bodies]
G = -1  # ground


def unit(a):
    a = np.array(a, float)
    return a / np.linalg.norm(a)


def across(axis):
    """two directions across an axis"""
    a = unit(axis)
    b = unit(np.cross(a, [1, 0, 0] if abs(a[0]) < 0.8 else [0, 1, 0]))
    return b, np.cross(a, b)


# joints: kind, body a, point on a (from its origin), body b, point on b, axis in both
joints = [("revolute", G, [0, 0, 0], 0, [0, 0, 0], [0, 0, 1]), ("spherical", 0, [0.5, 0, 0.2], 1, [0, 0, 0], None), ("prismatic", 0, [-0.5, 0, 0.2], 2, [0, 0, 0], [1, 0, 0.5]),
          ("revolute", 1, [0, 0.6, 0], 3, [0, 0, 0], [1, 0, 0]), ("revolute", 2, [0, 0.7, 0], 4, [0, 0, 0], [0.2, 1, 0]),
          ("spherical", 3, [-0.5, 0.1, 0], 4, [0.5, 0, 0], None)]


class State:
    def __init__(s, x):
        x = x.reshape(5, 13)
        s.p, s.q, s.v, s.w = x[:, :3], x[:, 3:7], x[:, 7:10], x[:, 10:]  # centre of mass, quaternion, velocity, angular velocity in the world
        s.R = [rot(q) for q in s.q]

    def point(s, b, r):
        """place, velocity, offset from the centre, acceleration that needs no unknown"""
        r = np.array(r, float)
        if b == G:
            return r, np.zeros(3), np.zeros(3), np.zeros(3)
        d = s.R[b] @ (r - com[b])
        w = s.w[b]
        return s.p[b] + d, s.v[b] + np.cross(w, d), d, np.cross(w, np.cross(w, d))

    def direction(s, b, a):
        if b == G:
            return np.array(a, float), np.zeros(3)
        return s.R[b] @ a, s.w[b]


def rows(s):
    """constraint g, its rate, Jacobian on [v w] of all bodies, bias"""
    g, gd, J, c = [], [], [], []

    def block(b, lin, ang, out):
        if b != G:
            out[6 * b:6 * b + 3] += lin
            out[6 * b + 3:6 * b + 6] += ang

    def add(x, xd, row, bias):
        g.append(x), gd.append(xd), J.append(row), c.append(bias)

    def gap(a, ra, b, rb):
        pa, va, da, aa = s.point(a, ra)
        pb, vb, db, ab = s.point(b, rb)
        return pb - pa, vb - va, da, db, ab - aa

    for kind, a, ra, b, rb, axis in joints:
        e, ed, da, db, bias = gap(a, ra, b, rb)
        if kind != "prismatic":
            for k in range(3):
                row = np.zeros(30)
                block(b, eye[k], np.cross(db, eye[k]), row)
                block(a, -eye[k], -np.cross(da, eye[k]), row)
                add(e[k], ed[k], row, bias[k])
        else:  # the gap has no part across the axis, which goes with a
            for n0 in across(axis):
                n, wa = s.direction(a, n0)
                nd = np.cross(wa, n)
                row = np.zeros(30)
                block(b, n, np.cross(db, n), row)
                block(a, -n, -np.cross(da + e, n), row)
                add(n @ e, n @ ed + nd @ e, row, n @ bias + 2 * nd @ ed + np.cross(wa, nd) @ e)
        if kind == "revolute" or kind == "prismatic":
            if kind == "revolute":
                pairs = [(n0, unit(axis)) for n0 in across(axis)]
            else:
                x, y = across(axis)
                pairs = [(x, y), (y, unit(axis)), (unit(axis), x)]
            for n0, m0 in pairs:  # a direction of a stays right-angled to one of b
                n, wa = s.direction(a, n0)
                l, wb = s.direction(b, m0)
                nd, ld = np.cross(wa, n), np.cross(wb, l)
                row = np.zeros(30)
                block(b, 0, np.cross(l, n), row)
                block(a, 0, np.cross(n, l), row)
                add(n @ l, nd @ l + n @ ld, row, np.cross(wa, nd) @ l + 2 * nd @ ld + n @ np.cross(wb, ld))
    # the rod of joint 7
    e, ed, da, db, bias = gap(G, [0.5, 1.5, 0.3], 3, [0, 0.5, 0.3])
    row = np.zeros(30)
    block(3, 2 * e, 2 * np.cross(db, e), row)
    add(e @ e - 0.25, 2 * e @ ed, row, 2 * e @ bias + 2 * ed @ ed)
    return np.array(g), np.array(gd), np.array(J), np.array(c)


def forces(s):
    f = np.zeros(30)
    M = np.zeros((30, 30))
    for b in range(5):
        Iw = s.R[b] @ I[b] @ s.R[b].T
        M[6 * b:6 * b + 3, 6 * b:6 * b + 3] = m[b] * eye
        M[6 * b + 3:6 * b + 6, 6 * b + 3:6 * b + 6] = Iw
        f[6 * b + 2] = -9.81 * m[b]
        f[6 * b + 3:6 * b + 6] = -np.cross(s.w[b], Iw @ s.w[b])

    def pair(a, b, torque):  # on b, and back on a
        f[6 * b + 3:6 * b + 6] += torque
        f[6 * a + 3:6 * a + 6] -= torque

    pair(0, 1, -0.1 * (s.w[1] - s.w[0]))
    # spring and damper along the axis of the prismatic joint
    pa, va, da, _ = s.point(0, [-0.5, 0, 0.2])
    pb, vb, db, _ = s.point(2, [0, 0, 0])
    n = s.R[0] @ unit([1, 0, 0.5])
    e, rate = n @ (pb - pa), n @ (vb - va) + np.cross(s.w[0], n) @ (pb - pa)
    F = (-200 * e - 2 * rate) * n
    f[12:15] += F
    f[15:18] += np.cross(db, F)
    f[0:3] -= F
    f[3:6] -= np.cross(da + pb - pa, F)
    # torsion spring of B5
    axis0 = unit([0.2, 1, 0])
    Q = s.R[2].T @ s.R[4]
    angle = np.arctan2(axis0 @ np.array([Q[2, 1] - Q[1, 2], Q[0, 2] - Q[2, 0], Q[1, 0] - Q[0, 1]]), np.trace(Q) - 1)
    pair(2, 4, -3 * angle * (s.R[2] @ axis0))
    return M, f


def rate(x):
    s = State(x)
    g, gd, J, c = rows(s)
    M, f = forces(s)
    k = 100.0
    n = len(g)
    A = np.block([[M, J.T], [J, np.zeros((n, n))]])
    acc = np.linalg.solve(A, np.concatenate([f, -c - 2 * k * gd - k * k * g]))[:30].reshape(5, 6)
    d = np.zeros((5, 13))
    for b in range(5):
        w = s.w[b]
        q = s.q[b]
        d[b, :3] = s.v[b]
        d[b, 3:7] = 0.5 * np.array([-w @ q[1:], *(q[0] * w + np.cross(w, q[1:]))])
        d[b, 7:10], d[b, 10:] = acc[b, :3], acc[b, 3:]
    return d.ravel()


def start(row):
    """from positions and speeds of the joints as the program under test has them at the start: the constraints decide whether they are right"""
    q = {k: row[k] for k in row}
    R = [None] * 5
    p, w, v = np.zeros((5, 3)), np.zeros((5, 3)), np.zeros((5, 3))  # of the origins

    def about(axis, a):
        a0 = unit(axis)
        K = skew(a0)
        return eye + np.sin(a) * K + (1 - np.cos(a)) * K @ K

    R[0] = about([0, 0, 1], q["B1.q"])
    w[0] = [0, 0, q["B1.v"]]
    R[1] = R[0] @ rot([q["B2.qw"], q["B2.qx"], q["B2.qy"], q["B2.qz"]])
    p[1] = R[0] @ [0.5, 0, 0.2]
    v[1] = np.cross(w[0], p[1])
    w[1] = w[0] + R[1] @ [q["B2.wx"], q["B2.wy"], q["B2.wz"]]
    R[2], w[2] = R[0], w[0]
    n = R[0] @ unit([1, 0, 0.5])
    p[2] = R[0] @ [-0.5, 0, 0.2] + q["B3.q"] * n
    v[2] = np.cross(w[0], p[2]) + q["B3.v"] * n
    R[3] = R[1] @ about([1, 0, 0], q["B4.q"])
    p[3] = p[1] + R[1] @ [0, 0.6, 0]
    v[3] = v[1] + np.cross(w[1], p[3] - p[1])
    w[3] = w[1] + q["B4.v"] * R[1] @ [1, 0, 0]
    R[4] = R[2] @ about([0.2, 1, 0], q["B5.q"])
    p[4] = p[2] + R[2] @ [0, 0.7, 0]
    v[4] = v[2] + np.cross(w[2], p[4] - p[2])
    w[4] = w[2] + q["B5.v"] * R[2] @ unit([0.2, 1, 0])
    x = np.zeros((5, 13))
    for b in range(5):
        d = R[b] @ com[b]
        t = np.array([1 + R[b][0, 0] + R[b][1, 1] + R[b][2, 2], R[b][2, 1] - R[b][1, 2], R[b][0, 2] - R[b][2, 0], R[b][1, 0] - R[b][0, 1]])
        x[b, :3], x[b, 3:7], x[b, 7:10], x[b, 10:] = p[b] + d, t / np.linalg.norm(t), v[b] + np.cross(w[b], d), w[b]
    return x.ravel()


if __name__ == "__main__":
    import csv
    with open(sys.argv[1]) as f:
        names = next(csv.reader(f))
        first = [r for r in csv.reader(f) if not r[0].startswith("#")][0]
    strip = [re.sub(r"_(s|rad|m|rad_s|m_s|N|J)$", "", n) for n in names]
    x = start(dict(zip(strip, map(float, first))))
    g, gd, *_ = rows(State(x))
    print("constraints at the start", abs(g).max(), abs(gd).max(), file=sys.stderr)
    h, out = float(sys.argv[2]) if len(sys.argv) > 2 else 5e-4, []
    steps = round(1 / h)
    for k in range(steps + 1):
        if k % (steps // 10) == 0:
            s = State(x)
            out.append([k * h, *s.point(3, [0, 0, 0])[0], *s.point(4, [0, 0, 0])[0]])
        if k == steps:
            break
        k1 = rate(x)
        k2 = rate(x + h / 2 * k1)
        k3 = rate(x + h / 2 * k2)
        k4 = rate(x + h * k3)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    json.dump(out, sys.stdout)
