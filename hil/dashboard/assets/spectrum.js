// The amplitude spectrum of a signal: Welch's average over Hann windows that overlap by half, each without its mean and slope. A line in it has the
// amplitude of the oscillation, whatever the length of the window.

// fft transforms re + i·im in place; their length is a power of two.
export function fft(re, im) {
  const n = re.length;
  for (let i = 1, j = 0; i < n; i++) {
    let bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) { [re[i], re[j]] = [re[j], re[i]]; [im[i], im[j]] = [im[j], im[i]]; }
  }
  for (let size = 2; size <= n; size <<= 1) {
    const half = size >> 1;
    for (let k = 0; k < half; k++) {
      const c = Math.cos((2 * Math.PI * k) / size), s = -Math.sin((2 * Math.PI * k) / size);
      for (let i = k; i < n; i += size) {
        const j = i + half, x = re[j] * c - im[j] * s, y = re[j] * s + im[j] * c;
        re[j] = re[i] - x;
        im[j] = im[i] - y;
        re[i] += x;
        im[i] += y;
      }
    }
  }
}

const shortest = 64; // samples
const longest = 8192; // samples of a segment

// spectrum of samples y, rate in Hz: { f, a, peak: [Hz, amplitude], segments }, or null: too few of them. a[0] is 0.
export function spectrum(y, rate) {
  let size = longest;
  while (size > shortest && 1.5 * size > y.length) size >>= 1;
  if (y.length < size) return null;
  const hann = Float64Array.from({ length: size }, (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / size));
  const power = new Float64Array(size / 2), re = new Float64Array(size), im = new Float64Array(size);
  let segments = 0;
  for (let end = y.length; end >= size; end -= size / 2, segments++) { // the newest are always among them
    const from = end - size, mid = (size - 1) / 2;
    let mean = 0, slope = 0;
    for (let i = 0; i < size; i++) { mean += y[from + i] / size; slope += (y[from + i] * (i - mid) * 12) / (size * (size * size - 1)); }
    for (let i = 0; i < size; i++) re[i] = hann[i] * (y[from + i] - mean - slope * (i - mid));
    im.fill(0);
    fft(re, im);
    for (let k = 1; k < size / 2; k++) power[k] += (re[k] * re[k] + im[k] * im[k]) * (4 / size) ** 2; // Hann halves a line
  }
  const a = Array.from(power, (p) => Math.sqrt(p / segments)), f = a.map((_, k) => (k * rate) / size);
  let top = 1;
  for (let k = 2; k < a.length; k++) if (a[k] > a[top]) top = k;
  // a line between two bins: the ratio of the two highest of a Hann window tells where
  const side = (a[top + 1] ?? 0) > a[top - 1] ? 1 : -1, r = (a[top + side] ?? 0) / a[top], d = Math.min(0.5, Math.max(0, (2 * r - 1) / (1 + r)));
  const loss = d > 0 ? ((1 - d * d) * Math.PI * d) / Math.sin(Math.PI * d) : 1;
  return { f, a, segments, peak: a[top] > 0 ? [((top + side * d) * rate) / size, a[top] * loss] : [NaN, NaN] };
}
