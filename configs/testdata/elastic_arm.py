"""A hub that turns an elastic beam with a load on its tip, for small motions: the test of configs/machine/elastic-arm.yaml.

Deflections are measured from the axis at rest, so that the equations are those of a beam on a line, with the hub's inertia on the slope of its first
node: no frame turns, no mode is chosen. 64 Hermite elements; the linear system is solved by the exponential of its matrix.

Run: python3 elastic_arm.py (needs numpy, scipy); prints time (s), angle of the hub (rad), place of the load (m) under 0.6 mN.m from rest
"""

import numpy as np
from scipy.linalg import expm

L, E, I, RHO, A, BETA = 0.8, 210e9, 45e-12, 7850.0, 60e-6, 0.5e-3
HUB, OFFSET, LOAD, VISCOUS, TORQUE = 0.02, 0.05, 0.15, 0.002, 0.6e-3

n = 64
l = L / n
ke = E * I / l**3 * np.array([[12, 6 * l, -12, 6 * l], [6 * l, 4 * l * l, -6 * l, 2 * l * l], [-12, -6 * l, 12, -6 * l], [6 * l, 2 * l * l, -6 * l, 4 * l * l]])
me = RHO * A * l / 420 * np.array([[156, 22 * l, 54, -13 * l], [22 * l, 4 * l * l, 13 * l, -3 * l * l], [54, 13 * l, 156, -22 * l], [-13 * l, -3 * l * l, -22 * l, 4 * l * l]])
N = 2 * (n + 1)
K, M = np.zeros((N, N)), np.zeros((N, N))
for e in range(n):
    s = slice(2 * e, 2 * e + 4)
    K[s, s] += ke
    M[s, s] += me
M[N - 2, N - 2] += LOAD
# first node: deflection OFFSET*theta, slope theta
T = np.zeros((N, N - 1))
T[0, 0], T[1, 0] = OFFSET, 1
T[2:, 1:] = np.eye(N - 2)
K, M = T.T @ K @ T, T.T @ M @ T
M[0, 0] += HUB
D = BETA * K
D[0, 0] += VISCOUS
m = N - 1
F = np.zeros(m)
F[0] = TORQUE
# modal coordinates with the matrix of K and M
w2, phi = np.linalg.eigh(np.linalg.solve(np.linalg.cholesky(M), np.linalg.solve(np.linalg.cholesky(M), K).T))
phi = np.linalg.solve(np.linalg.cholesky(M).T, phi)
keep = 24
phi = phi[:, :keep]
k, d, f = phi.T @ K @ phi, phi.T @ D @ phi, phi.T @ F
S = np.zeros((2 * keep + 1, 2 * keep + 1))
S[:keep, keep : 2 * keep] = np.eye(keep)
S[keep : 2 * keep, :keep], S[keep : 2 * keep, keep : 2 * keep], S[keep : 2 * keep, -1] = -k, -d, f
for t in (0.05, 0.1, 0.2, 0.4, 0.7, 1.0):
    x = expm(S * t)[:keep, -1]
    q = phi @ x
    print(f"{t:.2f} {q[0]:.9e} {q[-2]:.9e}")
