"""Machines with magnets, controllers and rows by SciPy, written from their equations alone: flux linkages are states in place of
currents, the four-bar has one coordinate with a generalised inertia, and the three phases are taken in dq.

Writes CSV: case, t, then the numbers that TestMachineElements names.
Run: /usr/bin/python3 machine_elements.py > machine_elements.csv (Debian: python3-scipy)
"""
import numpy as np
from scipy.integrate import solve_ivp

DOP = dict(method="DOP853", rtol=1e-12, atol=1e-14)
RADAU = dict(method="Radau", rtol=1e-11, atol=1e-14)


def show(case, t, *x):
    print(f"{case},{t:.6g}," + ",".join(f"{v:.13g}" for v in x))


def clamp(u, limit):
    return min(limit, max(-limit, u))


def relay():
    r, linf, c, x0 = 20.0, 0.03, 2e-5, 0.4e-3
    m, k, rest, b, g = 0.05, 400.0, 4e-3, 0.5, 9.81
    ks, loss = 2e6, 0.5
    on, off, don, knee = 0.01, 1e4, 0.1, 0.7

    def ind(x):
        return linf + c / (x + x0)

    def voltage(i, closed):
        # node: (24 − u)/rs = i + u/off_diode − diode current;  diode from ground to the node: conducts when −u > knee
        rs = on if closed else off
        u = (24 / rs - i) / (1 / rs + 1 / off)
        if -u > knee:  # j = (−u − knee)/don + knee/off into the node
            u = (24 / rs - i - knee / don + knee / off) / (1 / rs + 1 / don)
        return u

    def rhs(t, y, closed):
        x, v, lam = y
        i = lam / ind(x)
        f = -0.5 * i * i * c / (x + x0) ** 2 + k * (rest - x) - b * v + m * g
        if x < 0:
            f += max(0.0, ks * -x * (1 - loss * v))
        return [v, f / m, voltage(i, closed) - r * i]

    def seat(t, y, closed):
        return y[0]

    seat.terminal = True
    y, t = np.array([5.22625e-3, 0.0, 0.0]), 0.0
    show("relay", 0, *y)
    for end in np.arange(1, 13) * 0.01:
        closed = end <= 0.06 + 1e-9
        while t < end:
            s = solve_ivp(rhs, (t, end), y, args=(closed,), events=seat, max_step=1e-4, **RADAU)
            t, y = s.t[-1], s.y[:, -1]
            if s.status == 1:  # a hair past the seat, so that the event is not found again
                s = solve_ivp(rhs, (t, min(end, t + 1e-9)), y, args=(closed,), **RADAU)
                t, y = s.t[-1], s.y[:, -1]
        show("relay", end, y[0], y[1], y[2] / ind(y[0]))


def fourbar(th):
    """angles of coupler and rocker over that of the crank, with first and second derivatives"""
    a, b, c, d = 0.1, 0.35, 0.3, 0.4
    p = a * np.exp(1j * th) - d
    # p + b e^{iθ2} = c e^{iθ3}: the triangle of p, b, c
    n = abs(p)
    rocker = np.angle(p) - np.arccos((n * n + c * c - b * b) / (2 * n * c))
    rocker %= 2 * np.pi
    coupler = np.angle(c * np.exp(1j * rocker) - p)
    e1, e2, e3 = np.exp(1j * th), np.exp(1j * coupler), np.exp(1j * rocker)
    mat = np.array([[(1j * b * e2).real, -(1j * c * e3).real], [(1j * b * e2).imag, -(1j * c * e3).imag]])
    z = -1j * a * e1
    k2, k3 = np.linalg.solve(mat, [z.real, z.imag])
    z = a * e1 + b * e2 * k2**2 - c * e3 * k3**2
    l2, l3 = np.linalg.solve(mat, [z.real, z.imag])
    return coupler, rocker, k2, k3, l2, l3


def servo():
    r, ld, lq, psi, p = 0.6, 3e-3, 4e-3, 0.06, 4

    def rhs(t, y, ud, uq, load):
        th, w, fd, fq = y
        t2, t3, k2, k3, l2, l3 = fourbar(th)
        e1, e2, e3 = np.exp(1j * th), np.exp(1j * t2), np.exp(1j * t3)
        inertia, slope, force = 1e-3, 0.0, 0.0
        for m, izz, k, l, dr, ddr in (
            (0.1, 0.1 * 0.1**2 / 12, 1, 0, 0.05j * e1, -0.05 * e1),
            (0.35, 0.35 * 0.35**2 / 12, k2, l2, 0.1j * e1 + 0.175j * e2 * k2, -0.1 * e1 + 0.175 * (1j * l2 - k2**2) * e2),
            (0.3, 0.3 * 0.3**2 / 12, k3, l3, 0.15j * e3 * k3, 0.15 * (1j * l3 - k3**2) * e3),
        ):
            inertia += m * abs(dr) ** 2 + izz * k * k
            slope += m * (dr.conjugate() * ddr).real + izz * k * l
            force -= m * 9.81 * dr.imag
        i_d, i_q = (fd - psi) / ld, fq / lq
        te = 1.5 * p * (fd * i_q - fq * i_d) + 0.02 * np.sin(24 * th)
        force += te - 0.002 * w + load * k3
        return [w, (force - slope * w * w) / inertia, ud - r * i_d + p * w * fq, uq - r * i_q - p * w * fd]

    y = np.array([0.5, 0.0, psi, 0.0])
    si = di = qi = want = 0.0
    h = 1e-4
    for n in range(6000):
        th, w, fd, fq = y
        i_d, i_q = (fd - psi) / ld, fq / lq
        if n % 500 == 0:
            show("servo", n * h, th, fourbar(th)[1], w, i_d, i_q)
        if n % 10 == 0:
            e = 20 - w
            si = clamp(si + 4 * e * 1e-3, 12)
            want = clamp(0.4 * e + si, 12)
        di = clamp(di + 1200 * (0 - i_d) * h, 40)
        qi = clamp(qi + 1200 * (want - i_q) * h, 40)
        ud = 8 * (0 - i_d) + di - p * w * lq * i_q
        uq = 8 * (want - i_q) + qi + p * w * (ld * i_d + psi)
        u = np.hypot(ud, uq)
        if u > 40:
            ud, uq = ud * 40 / u, uq * 40 / u
        s = solve_ivp(rhs, (0, h), y, args=(ud, uq, -0.5 if n >= 3000 else 0.0), **DOP)
        y = s.y[:, -1]
    show("servo", 6000 * h, y[0], fourbar(y[0])[1], y[1], (y[2] - psi) / ld, y[3] / lq)


def cascade():
    """a continuous speed controller above a continuous current controller of a DC motor: both run into their limits"""
    r, l, k, j, b = 1.0, 2e-3, 0.05, 2e-4, 1e-5
    kps, kis, lims = 0.05, 1.0, 5.0
    kpc, kic, limc = 6.0, 3000.0, 24.0

    def grow(i, g, limit):
        return 0.0 if abs(i) >= limit and i * g > 0 else g

    def rhs(t, y):
        th, w, lam, si, ci = y
        i = lam / l
        e = 100 * np.sin(2 * np.pi * 5 * t) - w
        want = clamp(kps * e + si, lims)
        u = clamp(kpc * (want - i) + ci, limc)
        return [w, (k * i - b * w - 0.02 * np.tanh(w)) / j, u - r * i - k * w, grow(si, kis * e, lims), grow(ci, kic * (want - i), limc)]

    t = np.linspace(0, 0.4, 9)
    s = solve_ivp(rhs, (0, 0.4), np.zeros(5), t_eval=t, max_step=2e-5, **DOP)
    for n, (th, w, lam, si, ci) in zip(s.t, s.y.T):
        show("cascade", n, th, w, lam / l, si, ci)


def lift():
    """a sampled PID with a derivative lifts a mass on a spring against gravity"""
    m, k, every = 2.0, 500.0, 5e-3
    y, integral = np.array([-m * 9.81 / k, 0.0]), 0.0
    for n in range(200):
        t = n * every
        if n % 20 == 0:
            show("lift", t, *y, integral)
        e, de = 0.05 * np.sin(2 * np.pi * t) - y[0], 0.05 * 2 * np.pi * np.cos(2 * np.pi * t) - y[1]
        integral = clamp(integral + 8000 * e * every, 60)
        u = clamp(1500 * e + integral + 60 * de, 60)
        s = solve_ivp(lambda t, y: [y[1], (u - m * 9.81 - k * y[0]) / m], (0, every), y, **DOP)
        y = s.y[:, -1]
    show("lift", 1.0, *y, integral)


def phases():
    """three phases in a star at three sources, in dq: the star point lets no zero sequence flow"""
    r, ld, lq, psi, p, j = 0.4, 2e-3, 3e-3, 0.02, 3, 5e-4

    def rhs(t, y):
        th, w, fd, fq = y
        i_d, i_q = (fd - psi) / ld, fq / lq
        u = [10 * np.sin(2 * np.pi * 4 * t + ph) for ph in (0, -2 * np.pi / 3, 2 * np.pi / 3)]
        an = [p * th - 2 * np.pi * n / 3 for n in range(3)]
        ud = 2 / 3 * sum(x * np.cos(a) for x, a in zip(u, an))
        uq = -2 / 3 * sum(x * np.sin(a) for x, a in zip(u, an))
        te = 1.5 * p * (fd * i_q - fq * i_d) + 0.01 * np.sin(18 * th) + 0.004 * np.sin(36 * th)
        return [w, (te - 1e-3 * w) / j, ud - r * i_d + p * w * fq, uq - r * i_q - p * w * fd]

    t = np.linspace(0, 0.3, 7)
    s = solve_ivp(rhs, (0, 0.3), [0, 0, psi, 0], t_eval=t, **DOP)
    for n, (th, w, fd, fq) in zip(s.t, s.y.T):
        i_d, i_q = (fd - psi) / ld, fq / lq
        a = p * th
        show("phases", n, th, w, i_d * np.cos(a) - i_q * np.sin(a))


def pulses():
    """a DC motor warms up under pulses; beside it a transformer under a sine"""
    r, l, k, j = 1.0, 2e-3, 0.05, 1e-3
    cap, res, tc, amb = 0.5, 4.0, 0.0039, 30.0
    l1, l2, r1, r2, load = 0.1, 0.025, 0.5, 0.2, 5.0
    mut = 0.95 * np.sqrt(l1 * l2)
    ind = np.array([[l1, mut], [mut, l2]])

    def rhs(t, y, u):
        th, w, i, temp, a, b = y
        ohm = r * (1 + tc * (temp - 20))
        d = np.linalg.solve(ind, [20 * np.sin(2 * np.pi * 50 * t) - r1 * a, -(r2 + load) * b])
        return [w, k * i / j, (u - ohm * i - k * w) / l, (ohm * i * i - (temp - amb) / res) / cap, d[0], d[1]]

    y = np.array([0, 0, 0, amb, 0, 0.0])
    show("pulses", 0, *y)
    n = 0
    for n in range(100):
        t = n * 2e-3
        duty = 0.3 + 0.2 * np.sin(2 * np.pi * 3 * t)
        for u, a, b in ((24.0, t, t + duty * 2e-3), (-4.0, t + duty * 2e-3, t + 2e-3)):
            s = solve_ivp(rhs, (a, b), y, args=(u,), **DOP)
            y = s.y[:, -1]
        if n % 20 == 19:
            show("pulses", (n + 1) * 2e-3, *y)


def rows():
    """a DC motor turns on its own, and its current leads a slider on a spring through a row: v = 0.3·i + 2e-4·i′ + 0.05·cos(20 t). The
    row says all of the slider; its multiplier is what that takes"""
    r, l, k, j, m, ks = 1.0, 2e-3, 0.05, 1e-3, 0.5, 40.0

    def rhs(t, y):
        th, w, i, x = y
        di = (12 - r * i - k * w) / l
        return [w, k * i / j, di, 0.3 * i + 2e-4 * di + 0.05 * np.cos(20 * t)]

    t = np.linspace(0, 0.2, 9)
    s = solve_ivp(rhs, (0, 0.2), [0, 0, 0, 0], t_eval=t, max_step=5e-4, **DOP)
    for n, y in zip(s.t, s.y.T):
        th, w, i, x = y
        dth, dw, di, dx = rhs(n, y)
        ddi = (-r * di - k * dw) / l
        a = 0.3 * di + 2e-4 * ddi - 0.05 * 20 * np.sin(20 * n)
        show("rows", n, th, w, i, x, dx, -(m * a + ks * x))  # the row has −1 of the slider


def levitation():
    """a magnet holds a ball by a cascade: position, current, voltage"""
    r, linf, c, x0, m = 5.0, 0.02, 4e-5, 1e-3, 0.05

    def rhs(t, y):
        x, v, lam, ci = y
        i = lam / (linf + c / (x + x0))
        e = clamp(188 * (0 - x) + 3 * (0 - v), 1e9) - i
        u = clamp(60 * e + ci, 60)
        return [v, 9.81 - 0.5 * i * i * c / (x + x0) ** 2 / m, u - r * i, 0.0 if abs(ci) >= 60 and ci * e > 0 else 6000 * e]

    t = np.linspace(0, 0.2, 9)
    s = solve_ivp(rhs, (0, 0.2), [6e-3, 0, 0, 0], t_eval=t, max_step=2e-5, **DOP)
    for n, (x, v, lam, ci) in zip(s.t, s.y.T):
        show("levitation", n, x, v, lam / (linf + c / (x + x0)), ci)


relay()
servo()
cascade()
lift()
phases()
pulses()
rows()
levitation()
