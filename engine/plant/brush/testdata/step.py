"""One step of the brush with NumPy, from the equations alone: reads cases as JSON, prints the largest differences.

Places of material points are functions of q; rows of contacts are their derivatives by complex steps. The states of the closed
contacts are found by trying all combinations.
"""
import itertools
import json
import sys

import numpy as np

data = json.load(sys.stdin)
P, face, wheel = data["params"], np.array(data["face"]), np.array(data["wheel"])
w, l, hs = P["brush.width"], P["brush.length"], P["segment.height"]
rho, g = P["brush.density"] * P["brush.depth"], P["brush.gravity"]
m0, ms = rho * w * (l - hs), rho * w / 3 * hs
J0, Js = m0 * (w * w + (l - hs) ** 2) / 12, ms * ((w / 3) ** 2 + hs * hs) / 12
at, b = np.array([-w / 3, 0, w / 3]), l / 2
omega, rc = P["commutator.speed"], P["commutator.radius"]
hx, hy = P["holder.x"], rc + P["holder.commutator_gap"] + P["holder.length"] / 2 + P["holder.offset"]
px, py = P["spring.pivot_x"], rc + l + P["spring.pivot_height"]
arm, tip, slope = P["spring.arm"], P["spring.tip_radius"], P["brush.top_slope"]
h, theta, beta, vth = (data[k] for k in ("h", "theta", "beta", "vth"))


def turn(a, x, y):
    return np.array([np.cos(a) * x - np.sin(a) * y, np.sin(a) * x + np.cos(a) * y])


def body(q, xi, eta):
    return np.array([q[0], q[1]]) + turn(q[2], xi, eta)


def segment(q, i, dxi=0.0, deta=0.0):
    return body(q, at[i] + q[4 + 2 * i] + dxi, -b + q[3 + 2 * i] + deta)


def holder(q, x, y):  # (x, y) from the centre, in the holder's frame
    return np.array([hx, hy]) + turn(P["holder.rake"] + q[9], x, y)


def lever(q, x, y):  # (x, y) from the pivot at rest of the arm
    return np.array([px, py]) + turn(q[10], x, y)


def jac(f, q):
    J = np.empty((2, 11))
    for k in range(11):
        z = q.astype(complex)
        z[k] += 1e-30j
        J[:, k] = f(z).imag / 1e-30
    return J


# stiffness and damping: a chain of neighbours between the shoulders of the main body
L = np.array([[2, -1, 0], [-1, 2, -1], [0, -1, 2]])
K, C = np.zeros((11, 11)), np.zeros((11, 11))
ka, s = P["segment.axial_stiffness"] * P["segment.factor"], P["segment.shear_ratio"]
u_, s_ = np.ix_([3, 5, 7], [3, 5, 7]), np.ix_([4, 6, 8], [4, 6, 8])
K[u_] = ka * (np.eye(3) + P["segment.axial_coupling"] * L)
K[s_] = ka * s * (np.eye(3) + P["segment.shear_coupling"] * L)
C[u_] = P["segment.axial_damping"] * (np.eye(3) + P["segment.axial_coupling_damping"] * L)
C[s_] = P["segment.shear_damping"] * (np.eye(3) + P["segment.shear_coupling_damping"] * L)
K[9, 9], C[9, 9] = P["holder.stiffness"], P["holder.damping"]
K[10, 10], C[10, 10] = P["spring.stiffness"], P["spring.damping"]


def motion(q, u):
    M = np.diag([m0, m0, J0 + 3 * Js] + [0.0] * 6 + [P["holder.inertia"], P["spring.inertia"]])
    f = -K @ q - C @ u
    f[1] -= m0 * g
    f[10] -= P["spring.moment"]
    et, en = turn(q[2], 1, 0), turn(q[2], 0, 1)
    for i in range(3):
        J = jac(lambda z: segment(z, i), q)
        xi, eta = at[i] + q[4 + 2 * i], -b + q[3 + 2 * i]
        gamma = 2 * u[2] * (u[4 + 2 * i] * en - u[3 + 2 * i] * et) - u[2] ** 2 * (xi * et + eta * en)
        M += ms * J.T @ J
        f += ms * J.T @ (np.array([0, -g]) - gamma)
    return M, f


def contacts(t, q):
    """(gap, w_N, w_T, surface velocity N and T, law) of every pair."""
    angle = omega * t
    law = {k: [P["contact.%s.%s" % (k, e)] for e in ("mu", "eps_n")] for k in ("face", "holder", "spring")}

    def rows(gap, n, A, B, vs, kind):
        tg = np.array([n[1], -n[0]])
        J = jac(lambda z: A(z) - B(z), q)
        return gap, n @ J, tg @ J, n @ vs, tg @ vs, law[kind]

    rest = np.zeros(2)
    turns = np.unwrap(np.arctan2(wheel[:, 1], wheel[:, 0]))
    for xi, eta, i in face:
        i = int(i)
        A = lambda z: body(z, xi + z[4 + 2 * i], eta + z[3 + 2 * i])
        c = A(q)
        p = turn(-angle, *c)
        a = turns[0] + (np.arctan2(p[1], p[0]) - turns[0]) % (2 * np.pi)
        k = np.searchsorted(turns, a, side="right") - 1
        p0, p1 = wheel[k], wheel[(k + 1) % len(wheel)]
        e = (p1 - p0) / np.linalg.norm(p1 - p0)
        n = np.array([e[1], -e[0]])
        yield rows(n @ (p - p0), turn(angle, *n), A, lambda z: c, -omega * np.array([-c[1], c[0]]), "face")
    lo, hi = -P["holder.length"] / 2 - P["holder.offset"], P["holder.length"] / 2 - P["holder.offset"]
    for side in (-1, 1):
        wall = side * (w + P["holder.clearance"]) / 2 - hx
        corner = lambda z: body(z, side * w / 2, (l - hs) / 2 + side * w / 2 * np.tan(slope))
        for y in (lo, hi):
            r = turn(-(P["holder.rake"] + q[9]), *(corner(q) - [hx, hy]))
            if y == hi and r[1] <= hi:
                n = turn(P["holder.rake"] + q[9], -side, 0)
                yield rows(side * (wall - r[0]), n, corner, lambda z: holder(z, *r), rest, "holder")
                continue
            end = lambda z: holder(z, wall, y)
            r = turn(-q[2], *(end(q) - q[:2]))
            yield rows(side * r[0] - w / 2, turn(q[2], side, 0), end, lambda z: body(z, *r), rest, "holder")
    n = turn(q[2] + slope, 0, 1)
    c = lever(q, arm, 0)
    gap = n @ (c - body(q, 0, (l - hs) / 2)) - tip
    k = c - tip * n
    onarm, onbody = turn(-q[10], *(k - [px, py])), turn(-q[2], *(k - q[:2]))
    yield rows(gap, n, lambda z: lever(z, *onarm), lambda z: body(z, *onbody), rest, "spring")


def settle(D, v, mu):
    """All combinations of open, stick, slip+, slip−; the velocities of those that keep the law."""
    n, found = len(mu), []
    size = np.abs(v).max()
    for states in itertools.product(range(4), repeat=n):
        A, r = np.zeros((2 * n, 2 * n)), np.zeros(2 * n)
        for i, st in enumerate(states):
            N, T = 2 * i, 2 * i + 1
            if st == 0:
                A[N, N] = A[T, T] = 1
                continue
            A[N], r[N] = D[N], -v[N]
            if st == 1:
                A[T], r[T] = D[T], -v[T]
            else:
                A[T, T], A[T, N] = 1, mu[i] if st == 2 else -mu[i]
        try:
            p = np.linalg.solve(A, r)
        except np.linalg.LinAlgError:
            continue
        y = D @ p + v
        top = np.abs(p).max() + 1e-300
        ok = all(
            (st != 0 or y[2 * i] >= -1e-10 * size)
            and p[2 * i] >= -1e-10 * top
            and abs(p[2 * i + 1]) <= mu[i] * p[2 * i] + 1e-10 * top
            and (st != 2 or y[2 * i + 1] >= -1e-10 * size)
            and (st != 3 or y[2 * i + 1] <= 1e-10 * size)
            for i, st in enumerate(states)
        )
        if ok:
            found.append(p)
    return found


out = []
for case in data["cases"]:
    q, u = np.array(case["q"]), np.array(case["u"])
    M, f = motion(q, u)
    Mh = M + h * theta * C + (h * theta) ** 2 * K
    free = u + np.linalg.solve(Mh, h * (f - h * theta * K @ u))
    closed = [c for c in contacts(case["t"] + h / 2, q + h / 2 * u) if c[0] <= 0]
    best = free
    if closed:
        W = np.array([r for c in closed for r in c[1:3]])
        vs = np.array([v for c in closed for v in c[3:5]])
        X = np.linalg.solve(Mh, W.T)
        rhs = W @ free + vs
        for i, c in enumerate(closed):
            before = W[2 * i] @ u + vs[2 * i]
            rhs[2 * i] += (c[5][1] * before if before < -vth else 0) + beta * c[0] / h
        ways = [free + X @ p for p in settle(W @ X, rhs, [c[5][0] for c in closed])]
        if not ways:
            sys.exit("no states at t = %g" % case["t"])
        best = min(ways, key=lambda y: np.abs(y - np.array(case["u1"])).max())
    q1 = q + h * (theta * best + (1 - theta) * u)
    scale = np.abs(best - u).max()
    out.append([len(closed), np.abs(best - case["u1"]).max() / scale, np.abs(q1 - case["q1"]).max()])
for row in out:
    print(*row)
