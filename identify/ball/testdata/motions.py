#!/usr/bin/env python3
"""Motions of the ball of the source at 200 Hz over 4 s: writes tilted.csv and spun.csv beside this file (t, qw, qx, qy, qz, x, y).

The equations are those of engine/plant/ball/testdata/reference.py: Newton and Euler in axes of the plane, DOP853.
"""
import os
import sys
import numpy as np
from scipy.spatial.transform import Rotation

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "../../../engine/plant/ball/testdata"))
sys.dont_write_bytecode = True
from reference import Ball, PAPER  # noqa: E402

TIMES = np.arange(801) * 0.005
MOTIONS = {
    # let go from 0.9 rad, as in the source
    "tilted": (Ball(**PAPER, roll=(2.5e-4, 0, 0, 0)), [np.pi - 0.9, 0, 0], (0, 0, 0)),
    # the same with a turn about the vertical and a push sideways
    "spun": (Ball(**PAPER, roll=(2.5e-4, 0, 0, 0), spin=(5e-5, 0, 0, 0)), [np.pi - 0.9, 0, 0], (0.5, 4, 3)),
}

if __name__ == "__main__":
    for name, (ball, rotvec, w) in MOTIONS.items():
        with open(os.path.join(here, name + ".csv"), "w") as out:
            out.write("t,qw,qx,qy,qz,x,y\n")
            last = np.array([1.0, 0, 0, 0])
            for row in ball.run(rotvec, w, TIMES):
                q = Rotation.from_matrix(np.array(row[1:10]).reshape(3, 3)).as_quat()[[3, 0, 1, 2]]
                last = q if q @ last >= 0 else -q
                out.write(f"{row[0]:.3f}," + ",".join(f"{v:.11g}" for v in (*last, row[10], row[11])) + "\n")
