// A figure of free choice: two signals over time, one over the other, or their spectra. What was chosen is kept by this browser for this rig.
import { Plot } from './plot.js';
import { Graph } from './graph.js';
import { axes, ink } from './paper.js';
import { spectrum } from './spectrum.js';
import { eng, niceStep, unitAt } from './format.js';

const kinds = { time: 'over time', xy: 'x–y', spectrum: 'spectrum' };
const points = 4000; // of a path, at most
const pause = 250; // ms between two drawings of a path or a spectrum

export class Free extends Plot {
  // signals: name → channel; key: where the choice is kept; choice: { kind, names } if nothing is kept; raw(names) gives the rows in view: { t, columns, note } or { note }.
  constructor(parent, signals, key, choice, on, raw) {
    const spec = { title: 'Free choice', series: [], signals, key, raw };
    spec.controls = controls(signals, kept(key, signals) ?? choice);
    spec.controls.forEach((select) => select.addEventListener('change', () => this.chose()));
    choose(spec);
    super(parent, spec, on);
  }

  get kind() { return this.spec.kind; }

  lacks() {
    const { kind, series } = this.spec;
    return kind === 'xy' && series.length < 2 ? 'choose two signals: x, and y over it' : series.length ? '' : 'choose a signal';
  }

  // show draws a signal as the first; what stood there becomes the second.
  show(name) {
    const [first, second] = this.spec.controls;
    if (first.value !== name) [second.value, first.value] = [first.value, name];
    this.chose();
    this.root.scrollIntoView({ block: 'nearest' });
  }

  chose() {
    choose(this.spec);
    try {
      localStorage.setItem(this.spec.key, JSON.stringify({ kind: this.kind, names: this.spec.controls.slice(0, 2).map((s) => s.value) }));
    } catch { /* a browser that keeps nothing */ }
    this.calm = {};
    this.chosen = {};
    this.data = null;
    this.build();
    this.on.chose();
  }

  build() {
    this.graph = null;
    const { kind, series } = this.spec;
    if (kind === 'time' || this.lacks()) { super.build(); return; }
    this.u?.destroy();
    this.u = null;
    this.write();
    const canvas = document.createElement('canvas');
    canvas.setAttribute('role', 'img');
    canvas.setAttribute('aria-label', kind === 'xy' ? `${series[1].name} over ${series[0].name}` : `spectrum of ${series.map((s) => s.name).join(' and ')}`);
    this.note = Object.assign(document.createElement('p'), { className: 'muted note' });
    this.area.replaceChildren(canvas, this.note);
    this.graph = kind === 'xy' ? new Path(canvas, this) : new Spectra(canvas, this);
  }

  fit() { if (this.graph) this.later(0); else super.fit(); }

  get canvas() { return this.graph ? this.graph.canvas : super.canvas; }
  get zoomed() { return this.graph ? this.graph.zoomed : super.zoomed; }
  unzoom() { if (this.graph) this.graph.unzoom(); else super.unzoom(); }

  draw(x, ys, view) {
    if (!this.graph) { super.draw(x, ys, view); return; }
    this.later(pause);
  }

  // later draws, once in a while.
  later(ms) {
    this.timer ??= setTimeout(() => { this.timer = undefined; this.graph?.draw(); }, ms);
  }

  values() {
    if (!this.graph) { super.values(); return; }
    this.spec.series.forEach((s, i) => {
      const text = this.graph.says?.[i] ?? '';
      if (s.cell.textContent !== text) s.cell.textContent = text;
    });
  }

  recolour() { if (this.graph) this.graph.draw(); else super.recolour(); }
}

// rows asks for what is in view, and writes what is to be said of it.
function rows(free) {
  const got = free.spec.raw(free.names);
  if (free.note.textContent !== (got.note ?? '')) free.note.textContent = got.note ?? '';
  return got;
}

// Path is the second signal over the first.
class Path extends Graph {
  constructor(canvas, free) {
    super(canvas, () => free.on.ranged());
    this.free = free;
  }

  paint(page, chosen) {
    const { free } = this, [sx, sy] = free.spec.series, { t, columns } = rows(free);
    if (!t?.length) return null;
    const [xs, ys] = columns, step = Math.ceil(t.length / points);
    const x = chosen.x ?? around(xs), y = chosen.y ?? around(ys);
    const at = axes(page, { min: x[0], max: x[1], unit: sx.unit, label: free.quantity(sx.unit) }, { min: y[0], max: y[1], unit: sy.unit, label: free.quantity(sy.unit) });
    const { g } = page;
    g.save();
    g.beginPath();
    g.rect(at.left, at.top, at.right - at.left, at.bottom - at.top);
    g.clip();
    g.strokeStyle = ink('c1');
    g.lineWidth = 1.2;
    g.beginPath();
    let on = false, newest = -1;
    for (let i = (t.length - 1) % step; i < t.length; i += step) { // the newest is drawn
      const known = xs[i] === xs[i] && ys[i] === ys[i] && xs[i] !== null && ys[i] !== null;
      if (known) { g[on ? 'lineTo' : 'moveTo'](at.X(xs[i]), at.Y(ys[i])); newest = i; }
      on = known;
    }
    g.stroke();
    if (newest >= 0) {
      g.fillStyle = ink('c2');
      g.beginPath();
      g.arc(at.X(xs[newest]), at.Y(ys[newest]), 3.5, 0, 7);
      g.fill();
    }
    g.restore();
    this.says = [xs, ys].map((c, i) => (newest < 0 ? '' : `${'xy'[i]} ${eng(c[newest], free.spec.series[i].unit)}`));
    return { ...at, ranges: { x, y } };
  }
}

// Spectra are the amplitudes of the signals over frequency, on a logarithmic scale.
class Spectra extends Graph {
  constructor(canvas, free) {
    super(canvas, () => free.on.ranged());
    this.free = free;
  }

  paint(page, chosen) {
    const { free } = this, { series } = free.spec, { t, columns } = rows(free);
    this.says = [];
    this.found = null;
    if (!t?.length) return null;
    const all = columns.map((c) => {
      const [from, to] = stretch(c);
      return to - from > 2 ? spectrum(c.slice(from, to), (to - from - 1) / (t[to - 1] - t[from])) : null;
    });
    const there = all.filter(Boolean);
    if (!there.length) {
      free.note.textContent = 'fewer than 64 rows without a gap';
      return null;
    }
    this.found = all;
    const tops = there.flatMap((s) => s.a).filter((v) => v > 0), top = Math.max(...tops, 1e-300);
    const x = chosen.x ?? [0, Math.max(...there.map((s) => s.f.at(-1)))];
    const y = chosen.y ?? [Math.max(Math.floor(Math.log10(Math.min(...tops, top)) * 2) / 2, Math.log10(top) - 6), Math.ceil(Math.log10(top) * 2 + 0.2) / 2];
    const units = [...new Set(series.map((s) => unitAt(0, s.unit) || '1'))].join(', ');
    const at = axes(page, { min: x[0], max: x[1], unit: 'Hz', label: 'frequency' }, { min: y[0], max: y[1], unit: '', label: `amplitude (${units})`, decades: true });
    const { g } = page;
    g.save();
    g.beginPath();
    g.rect(at.left, at.top, at.right - at.left, at.bottom - at.top);
    g.clip();
    all.forEach((s, i) => {
      if (!s) return;
      g.strokeStyle = ink(series[i].colour);
      g.lineWidth = 1.3;
      g.beginPath();
      s.a.forEach((v, k) => { if (k) g[k > 1 ? 'lineTo' : 'moveTo'](at.X(s.f[k]), at.Y(Math.log10(Math.max(v, 1e-300)))); });
      g.stroke();
    });
    g.restore();
    this.says = all.map((s, i) => (s ? `peak ${eng(s.peak[1], series[i].unit)} at ${eng(s.peak[0], 'Hz')}` : ''));
    return { ...at, ranges: { x, y } };
  }
}

// stretch is the longest part of a column without a gap, [from, to).
function stretch(c) {
  let best = [0, 0], from = 0;
  for (let i = 0; i <= c.length; i++) {
    if (i < c.length && c[i] === c[i] && c[i] !== null) continue;
    if (i - from > best[1] - best[0]) best = [from, i];
    from = i + 1;
  }
  return best;
}

// around is a range with some room.
function around(c) {
  let a = Infinity, b = -Infinity;
  for (const v of c) if (v === v && v !== null) { if (v < a) a = v; if (v > b) b = v; }
  if (!(a <= b)) return [-1, 1];
  const pad = Math.max(0.04 * (b - a), 1e-4 * Math.abs(a), 1e-4 * Math.abs(b), 1e-12), step = niceStep((b - a + 2 * pad) / 20);
  return [Math.floor((a - pad) / step) * step, Math.ceil((b + pad) / step) * step];
}

// controls are the lists of signals and the way of drawing.
function controls(signals, choice) {
  const lists = ['c1', 'c2'].map((colour, i) => {
    const select = document.createElement('select');
    select.className = colour;
    select.setAttribute('aria-label', i ? 'second signal' : 'first signal');
    select.append(new Option('none', ''));
    const groups = new Map();
    for (const [name, c] of signals) {
      if (!groups.has(c.block)) groups.set(c.block, Object.assign(document.createElement('optgroup'), { label: c.block }));
      groups.get(c.block).append(new Option(`${c.text ?? name}${c.unit ? ' / ' + unitAt(0, c.unit) : ''}`, name));
    }
    select.append(...groups.values());
    select.value = choice.names[i] ?? '';
    return select;
  });
  const kind = document.createElement('select');
  kind.className = 'kind';
  kind.setAttribute('aria-label', 'way of drawing');
  kind.append(...Object.entries(kinds).map(([value, text]) => new Option(text, value)));
  kind.value = choice.kind;
  return [...lists, kind];
}

function kept(key, signals) {
  try {
    const c = JSON.parse(localStorage.getItem(key));
    return c && c.kind in kinds && c.names.every((n) => !n || signals.has(n)) ? c : null;
  } catch {
    return null;
  }
}

function choose(spec) {
  spec.kind = spec.controls[2].value;
  spec.series = spec.controls.slice(0, 2).filter((s) => s.value).map((s) => ({
    name: s.value, label: '', colour: s.className, unit: spec.signals.get(s.value).unit, width: 1.5,
  }));
}
