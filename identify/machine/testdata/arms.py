"""Records of two simulated arms for the tests of identify/machine and for configs/identify/machine-arm.yaml.

Nothing here knows Newton-Euler recursions or regressors. With the Jacobians of the centres of mass and of the rotations

    M(q) = sum m Jv' Jv + Jw' I Jw,   V(q) = -sum m g' p,   c = the Christoffel symbols of M by complex-step derivatives,

M(q) q'' + c(q, q') + dV/dq + armature q'' + Fv q' + Fc tanh(q'/0.002) + offset = tau is integrated by LSODA under a PD law around a
sum of sines. The torque of the PD law at the sample is what is recorded, the position is exact: the tests add noise and counts.

open-1 is the planar arm under torques that are sums of sines, with no controller.

Joints whose gains are zero are passive: pendubot-1 and pendubot-2 drive the first joint of a planar arm with little friction, acrobot-1
and acrobot-2 the second.

Run: python3 arms.py (needs numpy, scipy); writes planar-1.csv.gz planar-2.csv.gz spatial-1.csv.gz spatial-2.csv.gz open-1.csv.gz, and from the last
two machine-arm-1.csv.gz machine-arm-2.csv.gz, with counts of 2 pi / 65536 rad and coloured noise, for configs/identify/data
"""
import gzip
import io

import numpy as np
from scipy.integrate import solve_ivp


def turn(axis, angle):
    x, y, z = np.array(axis) / np.linalg.norm(axis)
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]], dtype=complex)
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * (k @ k)


def cross(a, b):
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


class Arm:
    def __init__(self, gravity, bodies):
        self.g, self.b, self.n = np.array(gravity), bodies, len(bodies)

    def chain(self, q):
        """rotation of each body, its origin, its axis; all in the world"""
        r, p, out = np.eye(3, dtype=complex), np.zeros(3, dtype=complex), []
        for b, x in zip(self.b, q):
            p = p + r @ b["at"]
            r = r @ turn(b["turn"][:3], b["turn"][3])
            axis = r @ b["axis"]
            if b["kind"] == "prismatic":
                p = p + axis * x
            else:
                r = r @ turn(b["axis"], x)
            out.append((r, p, axis))
        return out

    def mass(self, q):
        ch, m, dv = self.chain(q), np.zeros((self.n, self.n), dtype=complex), np.zeros(self.n, dtype=complex)
        for k, b in enumerate(self.b):
            r, p, _ = ch[k]
            c = p + r @ b["com"]
            jv, jw = np.zeros((3, self.n), dtype=complex), np.zeros((3, self.n), dtype=complex)
            for i in range(k + 1):
                _, pi, ai = ch[i]
                if self.b[i]["kind"] == "prismatic":
                    jv[:, i] = ai
                else:
                    jv[:, i], jw[:, i] = cross(ai, c - pi), ai
            inertia = r @ b["inertia"] @ r.T
            m += b["mass"] * jv.T @ jv + jw.T @ inertia @ jw
            dv -= b["mass"] * (self.g @ jv)
        return m, dv

    def forces(self, q, v):
        """M, and Coriolis with gravity"""
        h, dm = 1e-30, []
        for i in range(self.n):
            x = np.array(q, dtype=complex)
            x[i] += 1j * h
            dm.append(self.mass(x)[0].imag / h)
        m, dv = self.mass(np.array(q, dtype=complex))
        mdot = sum(d * x for d, x in zip(dm, v))
        c = mdot @ v - 0.5 * np.array([v @ d @ v for d in dm])
        return m.real, c + dv.real

    def friction(self, v):
        return np.array([b["fv"] * x + b["fc"] * np.tanh(x / 0.002) + b["offset"] for b, x in zip(self.b, v)])

    def record(self, sines, kp, kd, length, rate, start=None):
        """sines: for each joint its mean and (amplitude, frequency in Hz, phase); with a start, from rest there, they are torques, open loop"""
        def ref(t):
            q = np.array([s[0] + sum(a * np.sin(2 * np.pi * f * t + p) for a, f, p in s[1:]) for s in sines])
            v = np.array([sum(2 * np.pi * f * a * np.cos(2 * np.pi * f * t + p) for a, f, p in s[1:]) for s in sines])
            return q, v

        def torque(t, q, v):
            qr, vr = ref(t)
            if start is not None:
                return qr
            return kp * (qr - q) + kd * (vr - v)

        arm = np.diag([b["armature"] for b in self.b])

        def rate_of(t, y):
            q, v = y[:self.n], y[self.n:]
            m, c = self.forces(q, v)
            return np.concatenate([v, np.linalg.solve(m + arm, torque(t, q, v) - c - self.friction(v))])

        q0, v0 = ref(0) if start is None else (np.array(start), np.zeros(self.n))
        t = np.arange(0, length + 0.5 / rate, 1 / rate)
        out = solve_ivp(rate_of, (0, t[-1]), np.concatenate([q0, v0]), method="LSODA", t_eval=t, rtol=1e-9, atol=1e-11, max_step=0.01)
        q, v = out.y[:self.n].T, out.y[self.n:].T
        return t, q, np.array([torque(*x) for x in zip(t, q, v)])


def diag(*x):
    return np.diag(x).astype(float)


PLANAR = Arm([0, -9.81, 0], [
    dict(kind="revolute", at=[0, 0, 0], turn=[1, 0, 0, 0], axis=[0, 0, 1], mass=3.0, com=[0.18, 0.012, 0], inertia=diag(0.01, 0.04, 0.045),
         armature=0.06, fv=0.5, fc=0.9, offset=0.12),
    dict(kind="revolute", at=[0.4, 0, 0], turn=[1, 0, 0, 0], axis=[0, 0, 1], mass=1.6, com=[0.13, -0.008, 0], inertia=diag(0.004, 0.012, 0.014),
         armature=0.02, fv=0.2, fc=0.4, offset=-0.07),
])

SPATIAL = Arm([0, 0, -9.81], [
    dict(kind="revolute", at=[0, 0, 0.3], turn=[1, 0, 0, 0], axis=[0, 0, 1], mass=6.0, com=[0.01, -0.02, 0.1], inertia=diag(0.06, 0.055, 0.03),
         armature=0.08, fv=0.8, fc=1.5, offset=0.2),
    dict(kind="revolute", at=[0.05, 0, 0.15], turn=[1, 0, 0, np.pi / 2], axis=[0, 0, 1], mass=4.0, com=[0.2, 0.015, 0.03],
         inertia=np.array([[0.012, 0.002, -0.001], [0.002, 0.07, 0.0005], [-0.001, 0.0005, 0.072]]), armature=0.06, fv=0.6, fc=1.1, offset=-0.15),
    dict(kind="revolute", at=[0.45, 0, 0.02], turn=[0, 1, 0, 0.7], axis=[0, 0, 1], mass=2.0, com=[0.15, 0.02, -0.04],
         inertia=np.array([[0.006, -0.001, 0.0012], [-0.001, 0.02, 0.0004], [0.0012, 0.0004, 0.019]]), armature=0.03, fv=0.3, fc=0.6, offset=0.1),
])


# as PLANAR, with bearings in place of gears and no offset of torque
FREE = Arm([0, -9.81, 0], [dict(b, armature=a, fv=fv, fc=fc, offset=0.0) for b, a, fv, fc in zip(PLANAR.b, (0.06, 0.02), (0.05, 0.02), (0.08, 0.04))])


def write(name, arm, sines, kp, kd, length, start=None):
    t, q, tau = arm.record(sines, np.array(kp), np.array(kd), length, 200.0, start)
    n, text = arm.n, io.StringIO()
    text.write(",".join(["t"] + [f"q{i+1}" for i in range(n)] + [f"tau{i+1}" for i in range(n)]) + "\n")
    for k in range(len(t)):
        text.write(",".join([f"{t[k]:.3f}"] + [f"{x:.8f}" for x in q[k]] + [f"{x:.6f}" for x in tau[k]]) + "\n")
    with open(name, "wb") as f, gzip.GzipFile(fileobj=f, mode="wb", mtime=0, filename="") as z:
        z.write(text.getvalue().encode())
    print(name, "positions", q.min(0), q.max(0), "torques", np.sqrt((tau ** 2).mean(0)))


def example(name, clean):
    """what an arm with encoders and noisy motor currents would have recorded"""
    from scipy.signal import lfilter
    with gzip.open(clean, "rt") as f:
        head = f.readline()
        x = np.loadtxt(f, delimiter=",")
    n, rng, step = (x.shape[1] - 1) // 2, np.random.default_rng(len(x)), 2 * np.pi / 65536
    x[:, 1:n + 1] = step * np.round(x[:, 1:n + 1] / step)
    for i, sigma in enumerate([0.2, 0.3, 0.1]):
        x[:, n + 1 + i] += sigma * (0.6 * lfilter([1], [1, -0.8], rng.standard_normal(len(x))) + rng.standard_normal(len(x)) / 3)
    text = head.replace("tau", "torque") + "".join(",".join([f"{r[0]:.3f}"] + [f"{v:.5f}" for v in r[1:n + 1]] + [f"{v:.3f}" for v in r[n + 1:]]) + "\n" for r in x)
    with open(name, "wb") as f, gzip.GzipFile(fileobj=f, mode="wb", mtime=0, filename="") as z:
        z.write(text.encode())


if __name__ == "__main__":
    rng = np.random.default_rng(5)

    def sines(n, tops, means):
        return [[m] + [(top / 4 * rng.uniform(0.7, 1.3), f, rng.uniform(0, 2 * np.pi)) for f in rng.uniform(0.08, 0.9, 4)] for m, top in zip(means, tops)]

    for k, length in ((1, 20), (2, 10)):
        write(f"planar-{k}.csv.gz", PLANAR, sines(2, [1.6, 1.8], [-1.2, 0.2]), [400, 150], [30, 9], length)
        write(f"spatial-{k}.csv.gz", SPATIAL, sines(3, [1.5, 1.3, 1.8], [0, -0.6, 0.3]), [700, 700, 250], [50, 50, 16], length)
    for k, length in ((1, 20), (2, 10)):
        write(f"pendubot-{k}.csv.gz", FREE, sines(2, [1.4, 0], [-1.5, 0]), [400, 0], [30, 0], length)
        write(f"acrobot-{k}.csv.gz", FREE, sines(2, [0, 2.6], [0, 0.3]), [0, 150], [0, 9], length)
    write("open-1.csv.gz", PLANAR, sines(2, [20, 5], [0, 0]), [0, 0], [0, 0], 20, [-1.5, 0.1])
    for k in (1, 2):
        example(f"machine-arm-{k}.csv.gz", f"spatial-{k}.csv.gz")
