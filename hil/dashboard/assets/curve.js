// The friction-velocity curve filling in: estimated friction sorted into bins of velocity, its median and middle half per
// bin, against the steady curve of the configured law and the line of the recursive estimate.
//
// Bins are equal and symmetrical about zero. When a velocity lies outside, the range doubles and bins merge in pairs, so
// nothing is thrown away. Each bin remembers a bounded, evenly thinned choice of its values (reservoir sampling).
import { axes, ink } from './paper.js';
import { Graph } from './graph.js';
import { find, frictionOf, parameters } from './channels.js';
import { niceStep, count } from './format.js';

const half = 48; // bins on each side
const depth = 128; // values remembered per bin

class Bin {
  constructor() { this.n = 0; this.values = []; }

  add(f) {
    this.n++;
    if (this.values.length < depth) { this.values.push(f); return; }
    const i = Math.floor(Math.random() * this.n);
    if (i < depth) this.values[i] = f;
  }

  merge(other) {
    const all = [...this.values, ...other.values];
    for (let i = all.length; i > depth; i--) all.splice(Math.floor(Math.random() * i), 1);
    this.values = all;
    this.n += other.n;
  }

  quartiles() {
    const s = Float64Array.from(this.values).sort();
    const q = (p) => { const x = p * (s.length - 1), i = Math.floor(x); return s[i] + (x - i) * ((s[i + 1] ?? s[i]) - s[i]); };
    return [q(0.25), q(0.5), q(0.75)];
  }
}

// steady is the friction at velocity v on a curve of points [velocity, friction], velocities rising: on the line between two points, beyond
// them on the outermost line, and next to v = 0, where the curve may jump, that of the nearest point on the side of v.
export function steady(points, v) {
  let lo = 0, hi = points.length - 1;
  while (hi - lo > 1) {
    const mid = (lo + hi) >> 1;
    if (points[mid][0] <= v) lo = mid; else hi = mid;
  }
  const [a, b] = [points[lo], points[hi]];
  if (a[0] < 0 && b[0] > 0) return v < 0 ? a[1] : v > 0 ? b[1] : (a[1] + b[1]) / 2;
  return a[1] + ((b[1] - a[1]) * (v - a[0])) / (b[0] - a[0]);
}

const remembered = 6; // curves of results that are drawn

// steadyOf asks the daemon for the steady curve of a law with all its numbers; null: it gives none.
async function steadyOf(axis, { law, params }) {
  try {
    const r = await fetch(`/api/steady?${new URLSearchParams({ axis, law, ...params })}`, { signal: AbortSignal.timeout(3000) });
    const points = r.ok ? await r.json() : [];
    return points.length > 1 ? points : null;
  } catch {
    return null; // the banner tells that the daemon does not answer
  }
}

// Curve is the figure: of the axis that is chosen, all are followed.
export class Curve extends Graph {
  // ranged() is called when it was zoomed.
  constructor(info, ranged) {
    super(document.getElementById('curve'), ranged);
    this.shown = document.getElementById('curve-count');
    this.axes = info.axes.map((axis) => new AxisCurve(info, axis));
    this.axis = this.axes[0];
    const choice = document.getElementById('curve-axis');
    choice.hidden = this.axes.length < 2;
    choice.append(...this.axes.map((a) => new Option(a.name, a.name)));
    choice.addEventListener('change', () => { this.axis = this.axes[choice.selectedIndex]; this.keys(); this.unzoom(); });
    document.getElementById('curve-clear').addEventListener('click', () => { this.axis.clear(); this.draw(); });
    document.querySelector('.panel.curve').hidden = !this.axis;
    this.keys();
  }

  keys() {
    const holds = document.getElementById('curve-holds');
    holds.hidden = !this.axis?.carries;
    holds.textContent = `the data hold ${this.axis?.carries} besides friction`;
    document.getElementById('curve-truth-key').hidden = !this.axis?.truth;
    document.getElementById('curve-found-key').hidden = !this.axis?.found.length;
    document.getElementById('curve-model-key').hidden = !this.axis?.model;
    document.getElementById('curve-model-key').textContent = this.axis?.handed ? 'law, handed over' : 'law, configured';
    document.getElementById('curve-rls-key').hidden = !this.axis?.parameters.length;
  }

  get names() { return this.axes.flatMap((a) => [a.velocity?.name, a.friction?.name]).filter(Boolean); }

  // add takes a batch of rows of a running rig.
  add(batch) { for (const a of this.axes) a.add(batch); }

  // inForce draws the law that was handed over in place of that of the file; null: that of the file.
  async inForce(axis, set) {
    const a = this.axes.find((x) => x.name === axis), key = JSON.stringify(set);
    if (!a || a.key === key) return;
    a.key = key;
    const points = set && (await steadyOf(axis, set));
    if (a.key !== key) return; // overtaken
    a.model = set ? points : a.own;
    a.handed = Boolean(set);
    this.keys();
  }

  // found adds the curve of a result; those before it fade.
  async found(axis, set) {
    const a = this.axes.find((x) => x.name === axis);
    const points = a && (await steadyOf(axis, set));
    if (!points) return;
    a.found.push(points);
    if (a.found.length > remembered) a.found.shift();
    this.keys();
    this.draw();
  }

  estimate(e) { for (const a of this.axes) a.estimate(e); }

  paint(page, chosen) {
    if (!this.axis) return null;
    this.shown.textContent = count(this.axis.samples);
    return this.axis.draw(page, chosen);
  }
}

// least is the smallest velocity at the edge of the figure, by its unit.
const least = { 'rad/s': 0.5, 'm/s': 0.01 };

// AxisCurve is what one axis has shown so far.
class AxisCurve {
  // axis: { name, curve, truth_curve } as in /api/info
  constructor(info, axis) {
    this.name = axis.name;
    this.own = axis.curve?.length > 1 ? axis.curve : null; // the law of the file
    this.model = this.own; // that in force
    this.found = []; // curves of the newest results
    this.truth = axis.truth_curve?.length > 1 ? axis.truth_curve : null;
    this.velocity = find(info, axis.name, 'estimated', 'velocity');
    this.friction = frictionOf(info, axis.name); // without gravity and coupling, where they are known
    this.carries = this.friction?.block === 'estimated' && axis.carries;
    this.least = least[this.velocity?.unit] ?? 0.5;
    this.parameters = parameters(info).filter((p) => p.axis === axis.name);
    this.rls = null;
    this.clear();
  }

  clear() {
    this.max = 2 * this.least; // velocity at the outermost border
    this.bins = Array.from({ length: 2 * half }, () => new Bin());
    this.samples = 0;
    this.seen = 0; // largest speed met
    this.recent = []; // [v, F] of the last moments, drawn as a faint cloud
  }

  add(batch) {
    if (!this.velocity || !this.friction) return;
    const every = Math.max(1, Math.floor(batch.length / 6));
    batch.forEach((row, i) => {
      const v = row[this.velocity.name], f = row[this.friction.name];
      if (typeof v !== 'number' || typeof f !== 'number' || !isFinite(v) || !isFinite(f)) return;
      while (Math.abs(v) >= this.max && this.max < 1e6) this.widen();
      if (Math.abs(v) >= this.max) return;
      this.bins[Math.floor((v / this.max + 1) * half)].add(f);
      this.samples++;
      this.seen = Math.max(this.seen, Math.abs(v));
      if (i % every === 0) this.recent.push([v, f]);
    });
    if (this.recent.length > 400) this.recent.splice(0, this.recent.length - 400);
  }

  widen() {
    const wide = Array.from({ length: 2 * half }, () => new Bin());
    this.bins.forEach((bin, i) => wide[half / 2 + (i >> 1)].merge(bin));
    this.bins = wide;
    this.max *= 2;
  }

  estimate(e) {
    const now = Object.fromEntries(this.parameters.map((p) => [p.short, e[p.error] > 0 ? e[p.value] : NaN])); // before the first window all are zero
    this.rls = Number.isFinite(now.Fc) && Number.isFinite(now.Fv) ? now : null;
  }

  // draw gives the maps to pixels and the ranges.
  draw(page, chosen) {
    const v1 = niceUp(Math.max(this.seen, this.least) * 1.04);
    const points = this.bins.map((b, i) => (b.n >= 3 ? { v: (this.max * (i + 0.5 - half)) / half, n: b.n, q: b.quartiles() } : null)).filter(Boolean);
    const lines = this.lines();
    const tops = [...points.flatMap((p) => p.q), ...lines.flatMap((l) => [l.f(v1), l.f(-v1), l.f(v1 * 1e-3), l.f(-v1 * 1e-3)])].map(Math.abs);
    const f1 = niceUp(Math.max(...tops, 1e-6) * 1.12);
    const x = chosen.x ?? [-v1, v1], y = chosen.y ?? [-f1, f1];
    const at = axes(page, { min: x[0], max: x[1], unit: this.velocity?.unit, label: 'velocity' }, { min: y[0], max: y[1], unit: this.friction?.unit, label: 'friction' });
    const { g } = page;

    g.save();
    g.beginPath();
    g.rect(at.left, at.top, at.right - at.left, at.bottom - at.top);
    g.clip();
    g.fillStyle = ink('c1');
    g.globalAlpha = 0.25;
    for (const [v, f] of this.recent) g.fillRect(at.X(v) - 1, at.Y(f) - 1, 2, 2);
    for (const l of lines) this.line(g, at, l, x);
    this.medians(g, at, points);
    g.restore();
    if (!points.length) {
      g.fillStyle = ink('muted');
      g.textAlign = 'center';
      g.fillText('fills in while the rig runs', 0.25 * at.left + 0.75 * at.right, 0.25 * at.top + 0.75 * at.bottom);
    }
    return { ...at, ranges: { x, y } };
  }

  lines() {
    const out = [];
    if (this.model) out.push({ f: (v) => steady(this.model, v), colour: ink('c2'), dash: [] });
    if (this.truth) out.push({ f: (v) => steady(this.truth, v), colour: ink('c4'), dash: [2, 3] });
    this.found.forEach((points, i) => out.push({ f: (v) => steady(points, v), colour: ink('c5'), dash: [10, 3, 2, 3], alpha: i + 1 === this.found.length ? 1 : 0.3 }));
    const e = this.rls;
    if (e) out.push({ f: (v) => e.Fc * Math.sign(v) + e.Fv * v + (e.offset || 0), colour: ink('c3'), dash: [7, 4] });
    return out;
  }

  line(g, at, { f, colour, dash, alpha = 1 }, [a, b]) {
    g.globalAlpha = alpha;
    g.strokeStyle = colour;
    g.lineWidth = 1.8;
    g.setLineDash(dash);
    g.beginPath();
    const n = 400;
    for (let i = 0; i <= n; i++) {
      const v = a + ((b - a) * i) / n, before = a + ((b - a) * (i - 1)) / n, tiny = 1e-9 * (b - a);
      if (before < 0 && v >= 0) for (const near of [-tiny, tiny]) g.lineTo(at.X(0), at.Y(f(near))); // where the curve jumps
      if (v !== 0) g[i ? 'lineTo' : 'moveTo'](at.X(v), at.Y(f(v)));
    }
    g.stroke();
    g.setLineDash([]);
  }

  medians(g, at, points) {
    const most = Math.max(1, ...points.map((p) => p.n));
    for (const p of points) {
      g.globalAlpha = 0.35 + 0.65 * (Math.log1p(p.n) / Math.log1p(most));
      g.strokeStyle = g.fillStyle = ink('c1');
      g.lineWidth = 1.5;
      g.beginPath();
      g.moveTo(at.X(p.v), at.Y(p.q[0]));
      g.lineTo(at.X(p.v), at.Y(p.q[2]));
      g.stroke();
      g.beginPath();
      g.arc(at.X(p.v), at.Y(p.q[1]), 2.6, 0, 7);
      g.fill();
    }
    g.globalAlpha = 1;
  }
}

const niceUp = (x) => { const s = niceStep(x / 5); return Math.ceil(x / s - 1e-9) * s; };
