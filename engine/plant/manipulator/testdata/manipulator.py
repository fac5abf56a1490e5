#!/usr/bin/env python3
"""Reference motions of a manipulator whose tip slides on a beam: writes manipulator.json beside this file.

Every body has its own x, y and angle; joints, drive and contact are constraints with multipliers, and accelerations and multipliers
are one linear system (12 of the bodies, 2 a free node of the beam, 10 multipliers). Nothing is eliminated by hand and no chain is
assembled. DOP853 with relative tolerance 1e-12, restarted at the borders of elements. States of every body are absolute, so the joint
constraints drift: the largest gap of the contact at the end is written too.
"""
import json
import os
import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import fsolve, brentq

class Case:
    def __init__(self, name, end, rate=1.0, ramp=0.1, start=-2*np.pi/3, elements=10, supports=("clamped", "clamped"), ei=2.1, ra=4.7,
                 alpha=0.0, beta=2e-4, inertia=(0.1, 0.01, 0.1, 0.1), gravity=0.0, friction=None, unilateral=False, step=0.1, guess=(-0.05, 0.208, -0.03)):
        self.name, self.end, self.rate, self.ramp, self.start, self.n = name, end, rate, ramp, start, elements
        self.inertia, self.g, self.friction, self.unilateral, self.step, self.guess = inertia, gravity, friction, unilateral, step, guess
        self.m = (1.0, 0.5, 1.0, 1.0)
        self.base, self.len1, self.len4 = np.array([0.5, 0.68]), 0.3, 0.3
        self.k, self.c, self.free = (4.0, 15.0, 4.0), (0.04, 0.8, 0.04), (0.0, 0.25, 0.0)
        l = self.l = 1.0/elements
        nd = 2*(elements+1)
        K, M = np.zeros((nd, nd)), np.zeros((nd, nd))
        ke = ei/l**3*np.array([[12, 6*l, -12, 6*l], [6*l, 4*l*l, -6*l, 2*l*l], [-12, -6*l, 12, -6*l], [6*l, 2*l*l, -6*l, 4*l*l]])
        me = ra*l/420*np.array([[156, 22*l, 54, -13*l], [22*l, 4*l*l, 13*l, -3*l*l], [54, 13*l, 156, -22*l], [-13*l, -3*l*l, -22*l, 4*l*l]])
        load = np.zeros(nd)
        for e in range(elements):
            s = slice(2*e, 2*e+4)
            K[s, s] += ke
            M[s, s] += me
            load[s] -= gravity*ra*l*np.array([0.5, l/12, 0.5, -l/12])
        held = []
        for kind, at in zip(supports, (0, 2*elements)):
            held += {"free": [], "pinned": [at], "clamped": [at, at+1]}[kind]
        self.keep = [i for i in range(nd) if i not in held]
        ix = np.ix_(self.keep, self.keep)
        self.K, self.M, self.load, self.nd = K[ix], M[ix], load[self.keep], nd
        self.D = alpha*self.M+beta*self.K
        self.nc = len(self.keep)

    def shape(self, e, x):
        l, z = self.l, x/self.l-e
        def full(v):
            f = np.zeros(self.nd)
            f[2*e:2*e+4] = v
            return f[self.keep]
        return (full([2*z**3-3*z*z+1, l*(z**3-2*z*z+z), -2*z**3+3*z*z, l*(z**3-z*z)]),
                full([(6*z*z-6*z)/l, 3*z*z-4*z+1, (6*z-6*z*z)/l, 3*z*z-2*z]),
                full([(12*z-6)/l**2, (6*z-4)/l, (6-12*z)/l**2, (6*z-2)/l]))

    def drive(self, t):
        x = min(max(t/self.ramp, 0), 1)
        a = 0.0 if t >= self.ramp else (30*x*x-60*x**3+30*x**4)/self.ramp
        ang = self.ramp*(2.5*x**4-3*x**5+x**6)+max(t-self.ramp, 0)
        return self.start+self.rate*ang, self.rate*(10*x**3-15*x**4+6*x**5), self.rate*a

    # static equilibrium in joint coordinates: (q2, q3, q4, lambda)
    def equilibrium(self):
        q1 = self.start
        def tip(q):
            a, b, c = q1, q1+q[0], q1+q[0]+q[2]
            return self.base+0.3*np.array([np.cos(a), np.sin(a)])+q[1]*np.array([np.cos(b), np.sin(b)])+0.3*np.array([np.cos(c), np.sin(c)])
        def grad(q):
            b, c = q1+q[0], q1+q[0]+q[2]
            jb, jc = np.array([-np.sin(b), np.cos(b)]), np.array([-np.sin(c), np.cos(c)])
            tb = np.array([np.cos(b), np.sin(b)])
            J = np.array([q[1]*jb+0.3*jc, tb, 0.3*jc]).T
            # weights: slider at joint 2 (no lever on q), arm 3 at q3 - 0.15, arm 4 at q3 and 0.15
            w = self.g*np.array([self.m[2]*(q[1]-0.15)*jb[1]+self.m[3]*(q[1]*jb[1]+0.15*jc[1]), self.m[2]*tb[1]+self.m[3]*tb[1], self.m[3]*0.15*jc[1]])
            return J, w
        def beam(lam, x):
            e = min(max(int(x/self.l), 0), self.n-1)
            N, Nx, _ = self.shape(e, x)
            qc = np.linalg.solve(self.K, self.load-N*lam)
            return qc, N@qc, Nx@qc
        def res(z):
            q, lam = z[:3], z[3]
            p = tip(q)
            J, w = grad(q)
            qc, y, s = beam(lam, p[0])
            jr = s*J[0]-J[1]
            return np.r_[[self.k[i]*(q[i]-self.free[i])+w[i]+jr[i]*lam for i in range(3)], (y-p[1])]
        z, info, ok, msg = fsolve(res, np.r_[self.guess, 0.75], xtol=1e-14, full_output=True)
        assert np.max(np.abs(info["fvec"])) < 1e-12, (msg, info["fvec"])
        return z[:3], beam(z[3], tip(z[:3])[0])[0], z[3]

    # absolute coordinates of the bodies from joint coordinates
    def place(self, q):
        a = [q[0], q[0]+q[1], q[0]+q[1], q[0]+q[1]+q[3]]
        t = [np.array([np.cos(x), np.sin(x)]) for x in a]
        j2 = self.base+0.3*t[0]
        j4 = j2+q[2]*t[1]
        c = [self.base+0.15*t[0], j2, j4-0.15*t[2], j4+0.15*t[3]]
        return np.concatenate([np.r_[c[i], a[i]] for i in range(4)])

    def joints(self, X):
        r, a = [X[3*i:3*i+2] for i in range(4)], [X[3*i+2] for i in range(4)]
        t = np.array([np.cos(a[1]), np.sin(a[1])])
        j4 = r[2]+0.15*np.array([np.cos(a[2]), np.sin(a[2])])
        return np.array([a[0], a[1]-a[0], t@(j4-r[1]), a[3]-a[2]])

    def tip(self, X):
        return X[9:11]+0.15*np.array([np.cos(X[11]), np.sin(X[11])])

    # accelerations, multipliers; closed: the contact holds
    def solve(self, t, s, e, closed=True):
        nb, nc = 12, self.nc
        X, qc = s[:nb], s[nb:nb+nc]
        V, vc = s[nb+nc:2*nb+nc], s[2*nb+nc:2*(nb+nc)]
        r, a = [X[3*i:3*i+2] for i in range(4)], [X[3*i+2] for i in range(4)]
        v, w = [V[3*i:3*i+2] for i in range(4)], [V[3*i+2] for i in range(4)]
        tg = [np.array([np.cos(x), np.sin(x)]) for x in a]
        nm = [np.array([-np.sin(x), np.cos(x)]) for x in a]
        rows, rhs = [], []
        def row():
            rows.append(np.zeros(nb+nc))
            return rows[-1]
        def pin(i, si, j, sj):     # point si along the axis of body i on point sj of body j (None: the ground)
            for d in (0, 1):
                R = row()
                R[3*i+d] = 1
                R[3*i+2] = si*nm[i][d]
                b = w[i]**2*si*tg[i][d]
                if j is not None:
                    R[3*j+d] = -1
                    R[3*j+2] = -sj*nm[j][d]
                    b -= w[j]**2*sj*tg[j][d]
                rhs.append(b)
        pin(0, -0.15, None, 0)
        pin(1, 0.0, 0, 0.15)
        pin(3, -0.15, 2, 0.15)
        R = row()                   # arm 3 does not turn in the slider
        R[8], R[5] = 1, -1
        rhs.append(0.0)
        R = row()                   # and its centre stays on the axis: n2.(r3 - r2) = 0
        d, dv = r[2]-r[1], v[2]-v[1]
        R[6:8], R[3:5], R[5] = nm[1], -nm[1], -(tg[1]@d)
        rhs.append(2*w[1]*(tg[1]@dv)+w[1]**2*(nm[1]@d))
        R = row()                   # drive
        R[2] = 1
        rhs.append(self.drive(t)[2])
        f = np.zeros(nb+nc)
        for i in range(4):
            f[3*i+1] -= self.m[i]*self.g
        q = self.joints(X)
        rate = np.array([w[0], w[1]-w[0], tg[1]@dv+w[1]*(nm[1]@d), w[3]-w[2]])
        # dissipation and springs
        F = [self.k[i]*(q[i+1]-self.free[i])+self.c[i]*rate[i+1] for i in range(3)]
        f[5] -= F[0]
        f[2] += F[0]
        f[6:8] -= F[1]*tg[1]
        f[3:5] += F[1]*tg[1]
        f[11] -= F[2]
        f[8] += F[2]
        f[nb:] = self.load-self.D@vc-self.K@qc
        p = self.tip(X)
        pv = v[3]+0.15*w[3]*nm[3]
        N, Nx, Nxx = self.shape(e, p[0])
        slope = Nx@qc
        col = np.zeros(nb+nc)
        dz = 0.0
        if closed:
            R = row()               # w(x) - y = 0
            R[9] = slope
            R[10] = -1
            R[11] = slope*0.15*nm[3][0]-0.15*nm[3][1]
            R[nb:] = N
            acc = -0.15*w[3]**2*tg[3]
            rhs.append(-(2*pv[0]*(Nx@vc)+pv[0]**2*(Nxx@qc)+slope*acc[0]-acc[1]))
            if self.friction:       # LuGre with the normal force lam·sqrt(1+slope²)
                s0, s1, s2, fc, fs, vs, n0 = self.friction
                cs = np.sqrt(1+slope**2)
                vt, z = pv[0]*cs, s[-1]
                gz = fc+(fs-fc)*np.exp(-(vt/vs)**2)
                dz = vt-s0*abs(vt)*z/gz
                mu = (s0*z+s1*dz+s2*vt)/n0
                tx, ty = 1/cs, slope/cs
                col[9] += mu*cs*tx
                col[10] += mu*cs*ty
                col[11] += mu*cs*0.15*(tx*nm[3][0]+ty*nm[3][1])
                col[nb:] -= mu*cs*ty*N
        G = np.array(rows)
        k = len(rows)
        A = np.zeros((nb+nc+k, nb+nc+k))
        for i in range(4):
            A[3*i, 3*i] = A[3*i+1, 3*i+1] = self.m[i]
            A[3*i+2, 3*i+2] = self.inertia[i]
        A[nb:nb+nc, nb:nb+nc] = self.M
        A[:nb+nc, nb+nc:] = G.T
        A[nb+nc:, :nb+nc] = G
        if closed:
            A[:nb+nc, -1] += col
        z = np.linalg.solve(A, np.r_[f, rhs])
        lam = z[-1] if closed else 0.0
        tau = -z[nb+nc+8]
        return z[:nb+nc], lam, tau, dz, G

    def run(self):
        nb, nc = 12, self.nc
        q, qc, lam0 = self.equilibrium()
        X = self.place(np.r_[self.start, q])
        s = np.r_[X, qc, np.zeros(nb+nc)]
        if self.friction:
            s = np.r_[s, 0.0]
        e = min(int(self.tip(X)[0]/self.l), self.n-1)
        closed, t = True, 0.0
        out, events = [], []
        times = np.round(np.arange(0, self.end+1e-9, self.step), 10)
        k = 0
        gap = 0.0
        while True:
            def rhs(t, s):
                acc, _, _, dz, _ = self.solve(t, s, e, closed)
                d = np.r_[s[nb+nc:2*(nb+nc)], acc]
                return np.r_[d, dz] if self.friction else d
            def left(t, s):
                return self.tip(s[:nb])[0]-e*self.l
            def right(t, s):
                return self.tip(s[:nb])[0]-(e+1)*self.l
            def press(t, s):
                return self.solve(t, s, e, closed)[1] if closed else 1.0
            def touch(t, s):
                if closed:
                    return 1.0
                p = self.tip(s[:nb])
                return p[1]-self.shape(e, p[0])[0]@s[nb:nb+nc]
            left.direction, right.direction, press.direction, touch.direction = -1, 1, -1, -1
            # the ramp of the drive ends with a jump of its third derivative only: it is stepped onto
            stop = self.ramp if t < self.ramp < self.end else self.end
            watch = [left, right]+([press, touch] if self.unilateral else [])
            for f in watch:
                f.terminal = True
            sol = solve_ivp(rhs, (t, stop), s, method="DOP853", rtol=1e-12, atol=1e-14, events=watch, dense_output=True, max_step=2e-3)
            while k < len(times) and times[k] <= sol.t[-1]+1e-13:
                y = sol.sol(times[k])
                _, lam, tau, _, _ = self.solve(times[k], y, e, closed)
                p = self.tip(y[:nb])
                full = np.zeros(self.nd)
                full[self.keep] = y[nb:nb+nc]
                if closed:
                    gap = max(gap, abs(p[1]-self.shape(e, p[0])[0]@y[nb:nb+nc]))
                out.append(dict(t=float(times[k]), q=self.joints(y[:nb]).tolist(), tip=p.tolist(), w=full[::2].tolist(), lam=lam, tau=tau))
                k += 1
            t, s = sol.t[-1], sol.y[:, -1].copy()
            if sol.status != 1:
                assert sol.status == 0, sol.message
                if t >= self.end-1e-12:
                    break
                continue
            hit = [i for i, h in enumerate(sol.t_events) if len(h)][0]
            if hit < 2:
                to = e+(-1, 1)[hit]
                if not 0 <= to < self.n:
                    events.append(dict(t=t, what="left"))
                    break
                events.append(dict(t=t, what="border", frm=e+1, to=to+1))
                e = to
            elif hit == 2:
                events.append(dict(t=t, what="open"))
                closed = False
            else:
                # inelastic: the impulse that takes the velocity to G v = 0, joints and drive included
                closed = True
                G = self.solve(t, s, e, True)[4]
                A = np.zeros((nb+nc+len(G),)*2)
                for i in range(4):
                    A[3*i, 3*i] = A[3*i+1, 3*i+1] = self.m[i]
                    A[3*i+2, 3*i+2] = self.inertia[i]
                A[nb:nb+nc, nb:nb+nc] = self.M
                A[:nb+nc, nb+nc:] = G.T
                A[nb+nc:, :nb+nc] = G
                v = s[nb+nc:2*(nb+nc)]
                b = np.zeros(len(G))
                b[-1] = -(G[-1]@v)
                z = np.linalg.solve(A, np.r_[np.zeros(nb+nc), b])
                s[nb+nc:2*(nb+nc)] += z[:nb+nc]
                events.append(dict(t=t, what="close", impulse=z[-1]))
                if self.solve(t, s, e, True)[1] < 0:
                    closed = False
                    events.append(dict(t=t, what="open"))
        return dict(name=self.name, lambda0=lam0, start=dict(q=q.tolist()), samples=out, events=events, gap=gap)

cases = [
    Case("table", 1.0),
    Case("slow", 2.2, rate=0.5),
    Case("fast", 0.6, rate=2.0, step=0.05),
    Case("weight", 0.5, start=-1.95, gravity=1.5, inertia=(0.0075, 0.01, 0.0075, 0.0075), elements=7, alpha=0.5, step=0.05),
    Case("pinned", 0.5, supports=("pinned", "pinned"), elements=4, step=0.05),
    Case("cantilever", 0.3, supports=("clamped", "free"), elements=5, step=0.05),
    Case("friction", 0.6, friction=(300.0, 2.0, 0.05, 0.3, 0.4, 0.05, 1.0), step=0.05),
    Case("unilateral", 0.6, rate=2.0, ramp=0.02, gravity=0.5, unilateral=True, step=0.05),
]

if __name__ == "__main__":
    import sys
    only = sys.argv[1:]
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "manipulator.json")
    done = json.load(open(path)) if only and os.path.exists(path) else []
    for c in cases:
        if only and c.name not in only:
            continue
        r = c.run()
        print(c.name, r["events"], r["gap"], flush=True)
        done = [d for d in done if d["name"] != c.name]+[r]
    order = [c.name for c in cases]
    done.sort(key=lambda d: order.index(d["name"]))
    with open(path, "w") as f:
        json.dump(done, f, indent=0)
