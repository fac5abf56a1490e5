// Numbers for people: engineering notation, exponents in steps of three, with a prefix where the unit takes one.

const prefixes = { '-12': 'p', '-9': 'n', '-6': 'µ', '-3': 'm', 0: '', 3: 'k', 6: 'M', 9: 'G' };
const superscript = { '-': '⁻', 0: '⁰', 1: '¹', 2: '²', 3: '³', 4: '⁴', 5: '⁵', 6: '⁶', 7: '⁷', 8: '⁸', 9: '⁹' };
const shown = { degC: '°C', ohm: 'Ω' };
// units that begin with one of these take a prefix; kg·m² does not (its prefix would be squared or doubled), nor does °C
const takesPrefix = /^(N|rad|A|V|s|Hz|W|J|Pa|m|H|ohm)(?![a-zA-Z²³])/;

// exponent3 is the power of 1000 by which |x| is written, as a power of ten.
export function exponent3(x) {
  const a = Math.abs(x);
  return a > 0 && isFinite(a) ? Math.max(-12, Math.min(9, 3 * Math.floor(Math.log10(a * (1 + 1e-9)) / 3))) : 0;
}

// unitAt is the unit at a power of ten: (-3, "N·m") → "mN·m", (-6, "kg·m²") → "×10⁻⁶ kg·m²".
export function unitAt(e, unit) {
  const u = shown[unit] || unit || '';
  if (e === 0) return u;
  if (takesPrefix.test(unit || '')) return prefixes[e] + u;
  const ten = '×' + power(e);
  return u ? ten + ' ' + u : ten;
}

// power writes a power of ten: 10⁻³.
export const power = (e) => '10' + [...String(e)].map((c) => superscript[c]).join('');

// scaleFor is the exponent for a number with this unit; °C is never scaled.
export const scaleFor = (x, unit) => (unit === 'degC' || unit === '%' ? 0 : exponent3(x));

// eng writes one number with its unit, digits significant: "12.1 mN·m".
export function eng(x, unit, digits = 3) {
  if (x === null || x === undefined || !isFinite(x)) return '–';
  let e = scaleFor(x, unit);
  if (Math.abs(x) < 1e-12) e = 0;
  let s = fixed(x / 10 ** e, digits);
  if (Math.abs(Number(s)) >= 1000 && e < 9 && scaleFor(1000, unit)) { e += 3; s = fixed(x / 10 ** e, digits); } // 999.96 rounds up
  return minus(s) + joint(e, unit);
}

// together writes numbers that belong side by side with one exponent: { unit, texts, half }. The half width of the first
// one's interval sets the decimals (two digits of it); without it there are four significant digits.
export function together(values, half, unit) {
  const size = Math.max(...values.filter(Number.isFinite).map(Math.abs), Number.isFinite(half) ? half : 0, 0);
  const e = scaleFor(size, unit), k = 10 ** e;
  const known = half > 0 && isFinite(half);
  const last = known ? Math.floor(Math.log10(half / k)) - 1 : Math.floor(Math.log10(size / k || 1)) - 3; // place of the last digit
  const decimals = Math.max(0, Math.min(6, -last));
  const write = (v) => (Number.isFinite(v) ? minus((v / k).toFixed(decimals)) : '–');
  return { unit: unitAt(e, unit), texts: values.map(write), half: known ? write(half) : '' };
}

const joint = (e, unit) => { const u = unitAt(e, unit); return u ? '\u202f' + u : ''; };
const minus = (s) => s.replace('-', '−');
const fixed = (m, digits) => {
  const a = Math.abs(m);
  const before = a >= 100 ? 3 : a >= 10 ? 2 : 1;
  return m.toFixed(Math.max(0, digits - before));
};

// count writes a whole number with thin spaces: 1 234 567.
export const count = (n) => (isFinite(n) ? Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, '\u202f') : '–');

// clock writes a time of day with milliseconds from epoch seconds.
export function clock(t) {
  const d = new Date(t * 1000);
  const two = (n) => String(n).padStart(2, '0');
  return isFinite(d) ? `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}.${String(d.getMilliseconds()).padStart(3, '0')}` : '–';
}

// seconds reads a time as the command line does: 90, 90s, 1m30s, 1.5 min, 250 ms; NaN: it is none.
export function seconds(text) {
  const sizes = { h: 3600, min: 60, m: 60, s: 1, '': 1, ms: 1e-3, us: 1e-6, µs: 1e-6 };
  const parts = [...text.trim().replace(',', '.').matchAll(/(\d+\.?\d*|\.\d+)\s*(h|min|ms|m|s|us|µs|)\s*/gy)];
  const whole = parts.map((p) => p[0]).join('') === text.trim().replace(',', '.');
  const falls = parts.every((p, i) => p[2] !== '' || parts.length === 1) && parts.every((p, i) => !i || sizes[p[2]] < sizes[parts[i - 1][2]]);
  return whole && falls && parts.length ? parts.reduce((sum, p) => sum + Number(p[1]) * sizes[p[2]], 0) : NaN;
}

// niceStep is the smallest of 1, 2, 5 · 10ⁿ that is at least x.
export function niceStep(x) {
  const p = 10 ** Math.floor(Math.log10(x));
  const m = x / p;
  return (m <= 1.0001 ? 1 : m <= 2.0001 ? 2 : m <= 5.0001 ? 5 : 10) * p;
}
