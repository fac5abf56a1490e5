"""A regression as a user of numpy writes it: loadtxt, filtfilt, lstsq. Prints its time of the processor in s, without the imports.

Run: OPENBLAS_NUM_THREADS=1 /usr/bin/python3 regress.py RECORD.csv (Debian: python3-scipy); columns time (s), position, force
"""
import sys
import time

import numpy as np
from scipy.signal import butter, filtfilt

begin = time.process_time()
t, x, f = np.loadtxt(sys.argv[1], delimiter=",", skiprows=1).T
dt = t[1] - t[0]
b, a = butter(4, 20 / (0.5 / dt))
v = np.gradient(filtfilt(b, a, x), dt)
w = np.column_stack([np.gradient(v, dt), v, np.sign(v), np.ones_like(v)])
np.linalg.lstsq(w, filtfilt(b, a, f), rcond=None)
print(time.process_time() - begin)
