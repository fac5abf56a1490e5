"""lugre.csv.gz: a planar arm whose joints have the friction of LuGre, 11 s at 1 kHz, for the tests of identify/machine.

The equations of two links that hang down are written out and integrated by the classical method of Runge and Kutta at 50 us, under a PID law at
1 kHz around one sine for each joint. Such a motion hardly tells gravity from inertia, so that the friction that builds up within a milliradian behind
every reversal counts. Positions have counts of 0.1 mrad and torques a noise of 16 and 6 mN m.

Run: python3 lugre.py (needs numpy)
"""
import gzip
import io

import numpy as np

M, L, C, I, J, G = (1.3, 0.8), 0.4, (0.18, 0.15), (0.02, 0.009), (0.01, 0.004), 9.81
S0, S1, S2, FC, FS, VS = (np.array(x) for x in ((400, 200), (2, 1), (0.05, 0.02), (0.4, 0.2), (0.55, 0.3), 0.1))
a, h, d = I[0] + M[0] * C[0] ** 2 + M[1] * L * L + I[1] + M[1] * C[1] ** 2 + J[0], M[1] * L * C[1], I[1] + M[1] * C[1] ** 2


def rate(x, tau):
    q, v, z = x[:2], x[2:4], x[4:6]
    zdot = v - S0 * np.abs(v) / (FC + (FS - FC) * np.exp(-((v / VS) ** 2))) * z
    t = tau - S0 * z - S1 * np.exp(-((v / VS) ** 2)) * zdot - S2 * v
    c, s = np.cos(q[1]), np.sin(q[1])
    g2 = G * M[1] * C[1] * np.sin(q[0] + q[1])
    b1 = t[0] + h * s * (2 * v[0] * v[1] + v[1] ** 2) - G * (M[0] * C[0] + M[1] * L) * np.sin(q[0]) - g2
    b2 = t[1] - h * s * v[0] ** 2 - g2
    m11, m12, m22 = a + 2 * h * c, d + h * c, d + J[1]
    det = m11 * m22 - m12 * m12
    return np.concatenate([v, [(m22 * b1 - m12 * b2) / det, (m11 * b2 - m12 * b1) / det], zdot])


rng, dt, sub = np.random.default_rng(1), 1e-3, 20
step, x, sum_, rows = dt / sub, np.zeros(6), np.zeros(2), []
top, w = np.array([0.6, 0.8]), 2 * np.pi * np.array([0.4, 0.7])
kp, ki, kd = np.array([60, 12]), np.array([100, 20]), np.array([7, 1])
tau = np.zeros(2)
for k in range(12000):
    t = k * dt
    fade = min(1, t)
    e = fade * top * np.sin(w * t) - x[:2]
    sum_ += e * dt
    tau = kp * e + ki * sum_ + kd * (fade * top * w * np.cos(w * t) - x[2:4])
    if k >= 1000:
        rows.append([t, *(1e-4 * np.round(x[:2] / 1e-4)), *(tau + np.array([0.016, 0.006]) * rng.standard_normal(2))])
    for _ in range(sub):
        k1 = rate(x, tau)
        k2 = rate(x + step / 2 * k1, tau)
        k3 = rate(x + step / 2 * k2, tau)
        x = x + step / 6 * (k1 + 2 * k2 + 2 * k3 + rate(x + step * k3, tau))
text = io.StringIO()
text.write("t,q1,q2,tau1,tau2\n")
for r in rows:
    text.write("%.3f,%.4f,%.4f,%.3f,%.3f\n" % tuple(r))
with open("lugre.csv.gz", "wb") as f, gzip.GzipFile(fileobj=f, mode="wb", mtime=0, filename="") as z:
    z.write(text.getvalue().encode())
