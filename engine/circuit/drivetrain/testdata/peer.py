"""Motion of two machines by SciPy, written from their equations alone: no step or form of the Go program is repeated here.

magnet   A plunger of 50 g on a spring is drawn in against its weight: u = R i + d(L i)/dt with L = Linf + C/(x + X0); the flux
         linkage is the state, not the current. The seat is a spring with the loss of Hunt and Crossley.
servo    A synchronous machine with saliency and cogging starts under ud, uq: flux linkages in dq are the states.

Writes CSV: case, t, and the columns that read_peer of peer_test.go names.
Run: /usr/bin/python3 peer.py > peer.csv (Debian: python3-scipy)
"""
import numpy as np
from scipy.integrate import solve_ivp

TOL = dict(method="Radau", rtol=1e-11, atol=1e-14)


def magnet():
    u, r = 24.0, 20.0
    linf, c, x0 = 0.03, 2.0e-5, 0.4e-3
    m, k, rest, weight = 0.05, 400.0, 4.0e-3, 0.05 * 9.81
    ks, loss = 2.0e6, 0.5

    def ind(x):
        return linf + c / (x + x0)

    def rhs(t, y):
        x, v, lam = y
        i = lam / ind(x)
        f = -0.5 * i * i * c / (x + x0) ** 2          # co-energy
        f += k * (rest - x) + weight                  # both open the gap
        if x < 0:
            f += max(0.0, ks * -x * (1 - loss * v))
        return [v, f / m, u - r * i]

    start = rest + weight / k
    t = np.linspace(0, 0.06, 13)
    # the corner of the force at x = 0 is left to the error control, which cuts the step there
    s = solve_ivp(rhs, (0, t[-1]), [start, 0.0, 0.0], t_eval=t, max_step=2e-4, **TOL)
    for w, (x, v, lam) in zip(s.t, s.y.T):
        print(f"magnet,{w:.4f},{x:.12g},{v:.12g},{lam / ind(x):.12g}")


def servo():
    r, ld, lq, psi, p = 0.3, 0.8e-3, 1.4e-3, 0.02, 4
    j, b, load = 2e-4, 5e-4, 0.05
    ud, uq = -1.0, 14.0

    def rhs(t, y):
        th, w, fd, fq = y
        i_d, i_q = (fd - psi) / ld, fq / lq
        te = 1.5 * p * (fd * i_q - fq * i_d)          # flux cross current
        te += 0.01 * np.sin(24 * th) + 0.003 * np.sin(48 * th)
        return [w, (te - b * w - load) / j, ud - r * i_d + p * w * fq, uq - r * i_q - p * w * fd]

    t = np.linspace(0, 0.1, 11)
    s = solve_ivp(rhs, (0, t[-1]), [0, 0, psi, 0], t_eval=t, **TOL)
    for w, (th, sp, fd, fq) in zip(s.t, s.y.T):
        print(f"servo,{w:.4f},{th:.12g},{sp:.12g},{(fd - psi) / ld:.12g},{fq / lq:.12g}")


magnet()
servo()
