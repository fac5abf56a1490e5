#!/usr/bin/env python3
"""Reference motions of a ball on a plane: writes reference.csv beside this file.

Newton and Euler about the centre of mass in axes of the plane. The state is the rotation matrix, position and velocity of the centre of
mass, and the angular velocity; accelerations and contact force are one linear system of nine equations, the contact's condition among
them. Nothing is eliminated by hand. DOP853 with relative tolerance 1e-13.
"""
import os
import numpy as np
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

def hat(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])

class Ball:
    def __init__(self, radius, mass, inertia, products, center, tilt=(0, 0), g=9.81, about="center",
                 roll=(0, 0, 0, 0), spin=(0, 0, 0, 0), slide=None):
        self.R, self.m, self.c, self.roll, self.spin, self.slide = radius, mass, np.array(center), roll, spin, slide
        I = np.diag(inertia).astype(float)
        I[0, 1] = I[1, 0] = products[0]
        I[0, 2] = I[2, 0] = products[1]
        I[1, 2] = I[2, 1] = products[2]
        if about == "center":
            I = I + mass * hat(self.c) @ hat(self.c)      # hat² = −(|c|²1 − ccᵀ)
        self.I = I
        self.G = mass * g * np.array([np.sin(tilt[0]), np.cos(tilt[0]) * np.sin(tilt[1]), -np.cos(tilt[0]) * np.cos(tilt[1])])
        self.n = np.array([0, 0, 1.0])

    def accel(self, rot, v, w):
        """a_C, dω/dt, λ"""
        I = rot @ self.I @ rot.T
        c = rot @ self.c
        rho = c + self.R * self.n
        wn = w[2]
        wh = w - wn * self.n
        sh, sn = np.linalg.norm(wh), abs(wn)
        M = -(self.roll[0] + self.roll[1] * sh) * wh - (self.spin[0] + self.spin[1] * sn) * wn * self.n
        d = np.zeros(3)
        if self.roll[2] or self.roll[3]:
            M -= self.roll[2] * wh / sh
            d += self.roll[3] * wh / sh
        if self.spin[2] or self.spin[3]:
            M -= self.spin[2] * np.sign(wn) * self.n
            d += self.spin[3] * np.sign(wn) * self.n
        A, b = np.zeros((9, 9)), np.zeros(9)
        A[0:3, 0:3], A[0:3, 6:9], b[0:3] = self.m * np.eye(3), -np.eye(3), self.G
        # I dω + ρ×λ + d λz = M − ω×Iω
        A[3:6, 3:6], A[3:6, 6:9], b[3:6] = I, hat(rho), M - np.cross(w, I @ w)
        A[3:6, 8] += d
        # material point at the contact: a_C − dω×ρ − ω×(ω×c) = 0
        C, e = np.zeros((3, 9)), np.cross(w, np.cross(w, c))
        C[:, 0:3], C[:, 3:6] = np.eye(3), hat(rho)
        if self.slide is None:
            A[6:9], b[6:9] = C, e
        else:
            u = v - np.cross(w, rho)
            u = u[:2] / np.hypot(u[0], u[1])
            A[6], b[6] = C[2], e[2]
            A[7, 6], A[7, 8] = 1, self.slide * u[0]
            A[8, 7], A[8, 8] = 1, self.slide * u[1]
        x = np.linalg.solve(A, b)
        return x[0:3], x[3:6], x[6:9]

    def rhs(self, t, y):
        rot, v, w = y[0:9].reshape(3, 3), y[12:15], y[15:18]
        a, dw, _ = self.accel(rot, v, w)
        return np.concatenate([(hat(w) @ rot).ravel(), v, a, dw])

    def run(self, rotvec, w_body, times, slip=(0, 0)):
        rot = Rotation.from_rotvec(rotvec).as_matrix()
        w = rot @ np.array(w_body, float)
        c = rot @ self.c
        v = np.cross(w, c + self.R * self.n) + np.array([slip[0], slip[1], 0])
        y0 = np.concatenate([rot.ravel(), c + [0, 0, self.R], v, w])
        s = solve_ivp(self.rhs, (times[0], times[-1]), y0, method="DOP853", t_eval=times, rtol=1e-13, atol=1e-15, max_step=0.002)
        assert s.success, s.message
        for t, y in zip(s.t, s.y.T):
            rot = y[0:9].reshape(3, 3)
            center = y[9:12] - rot @ self.c
            vc = y[12:15] - np.cross(y[15:18], rot @ self.c)
            _, _, lam = self.accel(rot, y[12:15], y[15:18])
            yield [t, *rot.ravel(), center[0], center[1], *(rot.T @ y[15:18]), vc[0], vc[1], *lam]

PAPER = dict(radius=0.035, mass=0.054, inertia=(36535.4e-9, 36535.4e-9, 22355.6e-9), products=(0, 0, 0), center=(0, 0, 0.0109))
OTHER = dict(radius=0.05, mass=0.3, inertia=(3.0e-4, 3.6e-4, 4.1e-4), products=(2e-5, -1.5e-5, 3e-5), center=(0.004, -0.006, 0.005))
LONG, SHORT = np.linspace(0, 10, 21), np.linspace(0, 2, 11)
# the paper's body hangs upside down in its own axes: c is along +z, so at rest it is turned by π about x
TILTED = [np.pi - 0.9, 0, 0]
CASES = {
    "free": (Ball(**PAPER), TILTED, (0.3, 0, 0.5), LONG, (0, 0)),
    "com": (Ball(**PAPER, about="com"), TILTED, (0.3, 0, 0.5), LONG, (0, 0)),
    "damped": (Ball(**PAPER, roll=(2.5e-4, 0, 0, 0), spin=(5e-5, 0, 0, 0)), TILTED, (0.3, 0, 2), LONG, (0, 0)),
    "other": (Ball(**OTHER, tilt=(0.03, -0.02), roll=(3e-4, 5e-5, 0, 0), spin=(1e-4, 2e-5, 0, 0)), [0.4, 1.1, -0.3], (5, -3, 4), LONG, (0, 0)),
    "dry": (Ball(**OTHER, tilt=(0.03, -0.02), roll=(3e-4, 5e-5, 2e-4, 3e-4), spin=(1e-4, 0, 1e-5, 2e-5)), [0.4, 1.1, -0.3], (8, -12, 14), np.linspace(0, 0.5, 11), (0, 0)),
    "slip": (Ball(**OTHER, tilt=(0.03, -0.02), roll=(3e-4, 0, 0, 1e-4), spin=(1e-4, 0, 0, 0), slide=0.1), [0.4, 1.1, -0.3], (8, -12, 14), np.linspace(0, 0.5, 11), (1.5, -0.8)),
}

if __name__ == "__main__":
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "reference.csv"), "w") as out:
        out.write("case,t,ax,ay,az,bx,by,bz,cx,cy,cz,x,y,wx,wy,wz,vx,vy,fx,fy,fz\n")
        for name, (ball, rotvec, w, times, slip) in CASES.items():
            for row in ball.run(rotvec, w, times, slip):
                out.write(name + "," + ",".join(f"{v:.15g}" for v in row) + "\n")
