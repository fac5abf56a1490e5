# Reference fits with SciPy: a static map by curve_fit and a virgin presliding curve by orthogonal distance regression (ODRPACK).
import json
import sys

import numpy as np
from scipy.odr import ODR, Model, RealData
from scipy.optimize import curve_fit

q = json.load(sys.stdin)
v, f, se = (np.array(q[k]) for k in ("v", "f", "se"))


def static(v, fc, fs, vs, fv, off):
    return np.sign(v) * (fc + (fs - fc) * np.exp(-((v / vs) ** 2))) + fv * v + off


theta, cov = curve_fit(static, v, f, p0=q["start"], sigma=se, absolute_sigma=True, xtol=1e-14, ftol=1e-14, x_scale=np.abs(q["start"]) + 1e-3, method="trf")

x, u = np.array(q["x"]), np.array(q["u"])


def branch(p, x):
    s0, fs, z = p  # force at the first displacement
    return fs + (z - fs) * np.exp(-s0 * (x - q["x"][0]) / fs)


r = ODR(RealData(x, u, sx=q["sx"], sy=q["su"]), Model(branch), beta0=q["loop_start"], sstol=1e-14, partol=1e-14, maxit=500).run()
print(json.dumps({"theta": theta.tolist(), "sd": np.sqrt(np.diag(cov)).tolist(), "loop": r.beta.tolist(),
                  "loop_sd": np.sqrt(np.diag(r.cov_beta) * r.res_var).tolist()}))
