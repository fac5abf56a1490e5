"""Accelerations, energies and places of machines by Lagrange's equations, for the tests of engine/multibody.

Nothing here knows spatial vectors. A body has a matrix R(y) and a position p(y) of coordinates y that are 0 at the state in
question; its velocity and angular velocity are difference quotients of these in 80 digits, T and V follow, and

    sum_j d2T/dyi'dyj' yj'' + sum_j d2T/dyi'dyj yj' - dT/dyi + dV/dyi = Q_i

is solved for y''. At y = 0 the rates y' are the velocities v of engine/multibody and Q its torques; dv/dt is the difference quotient
of v along y' t + y'' t^2 / 2.

machines   bodies (place, kind and axis of the joint, mass, centre of mass, inertia about it) and states: q, v, tau, and the
           results a (dv/dt), kinetic, potential, tip (origin of the last body)
top        angular velocity of a free body without moments, by Jacobi's elliptic functions: moments of inertia, w(0), rows t, w(t)

Run: python3 lagrange.py > lagrange.json (needs mpmath)
"""
import json
import random

from mpmath import mp, mpf, matrix, cos, sin, sqrt, eye, ellipfun, lu_solve

mp.dps = 80
FINE, STEP = mpf(10) ** -30, mpf(10) ** -14
rnd = random.Random(17)


def vec(*a):
    return matrix([mpf(x) for x in a])


def skew(v):
    return matrix([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def turn(axis, angle):
    k = skew(axis)
    return eye(3) + sin(angle) * k + (1 - cos(angle)) * k * k


def of_quaternion(q):
    s, x, y, z = q
    return matrix([[1 - 2 * (y * y + z * z), 2 * (x * y - s * z), 2 * (x * z + s * y)],
                   [2 * (x * y + s * z), 1 - 2 * (x * x + z * z), 2 * (y * z - s * x)],
                   [2 * (x * z - s * y), 2 * (y * z + s * x), 1 - 2 * (x * x + y * y)]])


def unit(v):
    n = sqrt(sum(mpf(x) ** 2 for x in v))
    return [mpf(x) / n for x in v]


SIZE = {"revolute": (1, 1), "prismatic": (1, 1), "spherical": (4, 3), "free": (7, 6)}


class Machine:
    def __init__(self, gravity, bodies):
        self.gravity, self.bodies = gravity, bodies
        self.nq = sum(SIZE[b["kind"]][0] for b in bodies)
        self.nv = sum(SIZE[b["kind"]][1] for b in bodies)

    def places(self, q, y):
        """R, p of every body with its own velocity coordinates y from the state q."""
        out, iq, iv = [], 0, 0
        for b in self.bodies:
            r0, p0 = (eye(3), vec(0, 0, 0)) if b["parent"] < 0 else out[b["parent"]]
            p, r = p0 + r0 * vec(*b["at"]), r0 * of_quaternion(unit(b["turn"]))
            axis, kind = vec(*unit(b["axis"])), b["kind"]
            if kind == "revolute":
                r = r * turn(axis, q[iq] + y[iv])
            elif kind == "prismatic":
                p = p + r * axis * (q[iq] + y[iv])
            else:
                base, own = r, of_quaternion(q[iq:iq + 4])
                local = turn(vec(1, 0, 0), y[iv]) * turn(vec(0, 1, 0), y[iv + 1]) * turn(vec(0, 0, 1), y[iv + 2])
                r = base * own * local
                if kind == "free":
                    p = p + base * (vec(*q[iq + 4:iq + 7]) + own * vec(*y[iv + 3:iv + 6]))
            iq, iv = iq + SIZE[kind][0], iv + SIZE[kind][1]
            out.append((r, p))
        return out

    def energy(self, q, y, dy):
        ahead = self.places(q, [a + FINE * b for a, b in zip(y, dy)])
        behind = self.places(q, [a - FINE * b for a, b in zip(y, dy)])
        here = self.places(q, y)
        kinetic, potential = mpf(0), mpf(0)
        for b, (r1, p1), (r0, p0), (r, p) in zip(self.bodies, ahead, behind, here):
            com, inertia = vec(*b["com"]), matrix(b["inertia"])
            u = ((p1 + r1 * com) - (p0 + r0 * com)) / (2 * FINE)
            w = r.T * (r1 - r0) / (2 * FINE)
            w = vec(w[2, 1], w[0, 2], w[1, 0])
            kinetic += mpf(b["mass"]) * (u.T * u)[0] / 2 + (w.T * inertia * w)[0] / 2
            potential -= mpf(b["mass"]) * (vec(*self.gravity).T * (p + r * com))[0]
        return kinetic, potential

    def velocity(self, q, y, dy):
        """v of coordinates y and rates dy."""
        v, iq, iv = [], 0, 0
        for b in self.bodies:
            kind = b["kind"]
            if SIZE[kind][1] == 1:
                v.append(dy[iv])
            else:
                def local(s):
                    c = [a + s * d for a, d in zip(y[iv:iv + 3], dy[iv:iv + 3])]
                    return turn(vec(1, 0, 0), c[0]) * turn(vec(0, 1, 0), c[1]) * turn(vec(0, 0, 1), c[2])
                r = local(0)
                w = r.T * (local(FINE) - local(-FINE)) / (2 * FINE)
                v += [w[2, 1], w[0, 2], w[1, 0]]
                if kind == "free":
                    v += list(r.T * vec(*dy[iv + 3:iv + 6]))
            iq, iv = iq + SIZE[kind][0], iv + SIZE[kind][1]
        return v

    def solve(self, q, v, tau):
        n = self.nv
        one = [[mpf(int(i == k)) for k in range(n)] for i in range(n)]
        kin = lambda y, dy: self.energy(q, y, dy)[0]
        zero = [mpf(0)] * n
        single = [kin(zero, e) for e in one]
        mass = matrix(n, n)
        for i in range(n):
            for k in range(n):
                mass[i, k] = kin(zero, [a + b for a, b in zip(one[i], one[k])]) - single[i] - single[k]

        def impulse(y, i):  # dT/dyi' for the rates v
            return kin(y, [a + b for a, b in zip(v, one[i])]) - kin(y, v) - kin(y, one[i])

        right = matrix(n, 1)
        for i in range(n):
            along = [STEP * a for a in v]
            back = [-a for a in along]
            up, down = [STEP * e for e in one[i]], [-STEP * e for e in one[i]]
            t1, v1 = self.energy(q, up, v)
            t0, v0 = self.energy(q, down, v)
            right[i] = tau[i] - (impulse(along, i) - impulse(back, i)) / (2 * STEP) + (t1 - t0 - v1 + v0) / (2 * STEP)
        ddy = lu_solve(mass, right)
        at = lambda s: self.velocity(q, [s * a + s * s * b / 2 for a, b in zip(v, ddy)], [a + s * b for a, b in zip(v, ddy)])
        acc = [(a - b) / (2 * STEP) for a, b in zip(at(STEP), at(-STEP))]
        kinetic, potential = self.energy(q, zero, v)
        tip = self.places(q, zero)[-1][1]
        return {"a": acc, "kinetic": kinetic, "potential": potential, "tip": list(tip)}

    def state(self):
        q, v, tau = [], [], []
        for b in self.bodies:
            nq, nv = SIZE[b["kind"]]
            if nq == 1:
                q.append(mpf(round(rnd.uniform(-2, 2), 3)))
            else:
                q += unit([round(rnd.uniform(-1, 1), 3) for _ in range(4)])
                q += [mpf(round(rnd.uniform(-1, 1), 3)) for _ in range(nq - 4)]
            v += [mpf(round(rnd.uniform(-2, 2), 3)) for _ in range(nv)]
            tau += [mpf(round(rnd.uniform(-5, 5), 3)) for _ in range(nv)]
        return {"q": q, "v": v, "tau": tau, **self.solve(q, v, tau)}


def body(parent, kind, at, axis=(0, 0, 1), rot=(1, 0, 0, 0)):
    """A body of four masses, so that its inertia is one that exists."""
    masses = [(mpf(round(rnd.uniform(0.2, 1), 2)), vec(*[round(rnd.uniform(-0.4, 0.4), 2) for _ in range(3)])) for _ in range(4)]
    total = sum(m for m, _ in masses)
    com = sum((m * p for m, p in masses), vec(0, 0, 0)) / total
    inertia = matrix(3, 3)
    for m, p in masses:
        d = p - com
        inertia += m * ((d.T * d)[0] * eye(3) - d * d.T)
    return {"parent": parent, "kind": kind, "at": at, "axis": axis, "turn": rot, "mass": total, "com": list(com), "inertia": inertia.tolist()}


machines = {
    "double pendulum": Machine([0, -9.81, 0], [body(-1, "revolute", [0, 0, 0]), body(0, "revolute", [0.5, 0.1, 0])]),
    "spatial arm": Machine([0.5, 1, -9.81], [
        body(-1, "revolute", [0.1, 0.2, 0.3], (0, 1, 0)),
        body(0, "prismatic", [0.4, -0.1, 0.2], (1, 2, 2), (1, 1, 1, 1)),
        body(1, "revolute", [0.2, 0.3, -0.1], (2, -1, 2), (2, 1, 0, 3)),
        body(1, "revolute", [-0.2, 0.1, 0.5], (1, 0, 0), (1, 0, 0, 1))]),
    "ball on an arm": Machine([0, 0, -9.81], [
        body(-1, "revolute", [0, 0, 1], (0, 0, 1)),
        body(0, "spherical", [0.6, 0.1, 0], (0, 0, 1), (3, 1, -1, 2)),
        body(1, "revolute", [0.1, 0.2, 0.4], (1, 1, 0))]),
    "free flyer": Machine([0, 0, -9.81], [
        body(-1, "free", [0, 0.2, 1], (0, 0, 1), (1, 2, 0, 0)),
        body(0, "prismatic", [0.6, 0.1, 0], (1, 0, 1)),
        body(0, "spherical", [-0.3, 0.2, 0.1], (0, 0, 1), (1, 1, -1, 2)),
        body(2, "free", [0.1, 0.2, 0.4], (0, 0, 1))]),
}


def top():
    """A > B > C, w with 2T·B < h^2: the axis of A keeps its side."""
    a, b, c = mpf("0.5"), mpf("0.4"), mpf("0.2")
    w = [mpf(2), mpf(0), mpf(1)]
    twice = a * w[0] ** 2 + c * w[2] ** 2
    h2 = (a * w[0]) ** 2 + (c * w[2]) ** 2
    # swap the roles of the axes 1 and 3 where the polhode encircles axis 3: w1 = A1 dn, w3 = A3 cn for h^2 > 2TB
    assert h2 > twice * b
    rate = sqrt((a - b) * (h2 - c * twice) / (a * b * c))
    k2 = (b - c) * (a * twice - h2) / ((a - b) * (h2 - c * twice))
    size = [sqrt((h2 - c * twice) / (a * (a - c))), sqrt((a * twice - h2) / (b * (a - b))), sqrt((a * twice - h2) / (c * (a - c)))]
    rows = []
    for t in [0, 0.5, 1, 2, 5, 10]:
        u = rate * mpf(t)
        # from b·w2' = (c − a)·w3·w1 < 0 at t = 0
        rows.append([mpf(t), size[0] * ellipfun("dn", u, m=k2), -size[1] * ellipfun("sn", u, m=k2), size[2] * ellipfun("cn", u, m=k2)])
    for x, y in zip(rows[0][1:], w):
        assert abs(x - y) < mpf(10) ** -60
    return {"inertia": [a, b, c], "w": w, "rows": rows}


def check_top(t):
    """The functions satisfy Euler's equations."""
    a, b, c = t["inertia"]
    for row in t["rows"]:
        assert abs(a * row[1] ** 2 + b * row[2] ** 2 + c * row[3] ** 2 - (a * 4 + c)) < mpf(10) ** -50


result = {"machines": [{"name": n, "gravity": m.gravity, "bodies": m.bodies, "states": [m.state() for _ in range(3)]}
                       for n, m in machines.items()], "top": top()}
check_top(result["top"])


def plain(x):
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return [plain(v) for v in x]
    return float(x) if isinstance(x, mpf) else x


print(json.dumps(plain(result)))
