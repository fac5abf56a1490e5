// All live traces: which signals are drawn where, the window, pause and zoom. Every figure shows the same stretch of time.
import { Plot } from './plot.js';
import { axes, find, frictionOf } from './channels.js';
import { Marks } from './marks.js';
import { History } from './history.js';
import { Free } from './free.js';

// The figures of an axis: block and role of each trace; the first that there are, of those in one place.
const figures = [
  { title: 'Position', want: [[['estimated', 'position', 'estimate'], ['measured', 'position', 'measured']], [['modelled', 'position', 'reference']]] },
  { title: 'Velocity', want: [[['estimated', 'velocity', 'estimate'], ['measured', 'velocity', 'measured']], [['modelled', 'velocity', 'reference']]] },
  { title: 'Current and command', want: [[['measured', 'current', 'current']], [['command', 'command', 'command']]] },
  { title: 'Friction', want: [[['derived', 'friction', 'friction'], ['estimated', 'friction', 'est.']], [['modelled', 'friction', 'model']], [['modelled', 'effort', 'comp.']],
    [['derived', 'load', 'gravity, coupling']]] },
  { title: 'Tracking error', want: [[['modelled', 'error', 'reference − estimate']]] },
];
const colours = [['c1'], ['c2', [6, 4]], ['c3', [2, 3]], ['c4', [10, 3]]];
const shortest = 0.005; // s, closest zoom

export class Traces {
  // events: what happened.
  constructor(info, rows, counters, events) {
    this.info = info;
    this.rows = rows;
    this.counters = counters;
    this.window = 10; // s
    this.zoom = null; // [from, to] in s before the end, when zoomed
    this.others = []; // further figures that the button resets: zoomed, unzoom()
    this.still = null; // rows looked at while paused
    this.pausedByZoom = false;
    this.zero = info.recording ? info.recording.last - info.recording.first : 0; // s, added to times where they are written: a recording begins at 0
    const on = {
      zoom: (a, b) => this.zoomTo(a, b), reset: () => this.unzoom(), ranged: () => this.tools(), chose: () => this.draw(), zero: this.zero,
      events: (a, b) => events.within(this.end + a, this.end + b).map((e) => ({ ...e, at: e.timestamp - this.end })),
    };
    this.history = new History(info, rows, () => this.draw());
    this.marks = new Marks(() => this.view, () => this.mark(), this.zero);
    const parent = document.getElementById('plots');
    const several = axes(info).length > 1;
    parent.classList.toggle('several', several);
    this.plots = axes(info).flatMap((axis) => {
      const row = figures.map((f) => this.resolve(f, axis, several)).filter((f) => f.series.length).map((f) => new Plot(parent, f, on));
      row[0]?.root.classList.add('first');
      return row;
    });
    this.free = this.choices().map((choice, i) => new Free(parent, this.all(), `hil.${info.rig}.free${i}`, choice, on, (names) => this.raw(names)));
    this.plots.push(...this.free);
    parent.dataset.count = this.plots.length;
    this.buttons();
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.plots.forEach((p) => p.recolour()));
  }

  resolve({ title, want }, axis, several) {
    const series = [];
    want.forEach((choices, i) => {
      for (const [block, role, label] of choices) {
        const c = find(this.info, axis, block, role);
        if (!c) continue;
        const carries = role === 'friction' && block === 'estimated' && this.info.axes.find((a) => a.name === axis)?.carries;
        series.push({ name: c.name, label: carries ? `friction, ${carries}` : label, unit: c.unit, colour: colours[i][0], dash: colours[i][1] });
        break;
      }
    });
    return { title: several ? `${axis}: ${title}` : title, series };
  }

  // all are the signals of the rig with their blocks.
  all() {
    const order = ['measured', 'estimated', 'derived', 'modelled', 'command'];
    const list = order.flatMap((block) => this.info.channels.filter((c) => c.block === block).map((c) => [c.name, c]));
    return new Map([...list, ...['late_us', 'busy_us'].map((name) => [name, { block: 'loop', unit: 'µs', text: name.slice(0, 4) }])]);
  }

  // choices are what the free figures show at first: a measurement, and friction over position.
  choices() {
    const { channels } = this.info, [axis] = axes(this.info);
    const preferred = [...(axis ? [] : ['position']), 'temperature', 'age'].map((role) => channels.find((c) => c.role === role)).find(Boolean);
    const path = [axis && find(this.info, axis, 'estimated', 'position'), axis && frictionOf(this.info, axis)];
    return [{ kind: 'time', names: [(preferred || channels[0])?.name ?? ''] }, path.every(Boolean) ? { kind: 'xy', names: path.map((c) => c.name) } : { kind: 'spectrum', names: [channels[0]?.name ?? ''] }];
  }

  // raw are the rows in view as they are: those of the page, or those of the recording where the view lies before them.
  raw(names) {
    const { source, view, end } = this, [from, to] = view.map((t) => source.last + t);
    if (from < source.first - 0.01 && (this.paused || !source.n)) {
      const got = this.history.whole(names, end + view[0], end + view[1]), left = got.from - (end + view[0]);
      return left > 0.01 ? { ...got, note: `the newest ${(view[1] - view[0] - left).toFixed(1)} s of the window` } : got;
    }
    const a = source.at(from), b = source.at(to + 1e-9);
    return { t: source.t.subarray(a, b), columns: names.map((n) => source.columns.get(n)?.subarray(a, b) ?? new Float64Array(b - a).fill(NaN)) };
  }

  // end is the time of the newest row, s since 1970.
  get end() { return this.source.base + this.source.last; }

  // show draws a signal in the first of the free figures.
  show(name) { this.free[0].show(name); }

  // showTime looks at a moment, s since 1970.
  showTime(t) {
    const at = t - this.end, [a, b] = this.view;
    if (at > 0 && !this.paused) return;
    const length = Math.min(b - a, 4);
    this.zoomTo(at - length / 2, at + length / 2);
  }

  buttons() {
    this.pauseButton = document.getElementById('pause');
    this.unzoomButton = document.getElementById('unzoom');
    this.held = document.getElementById('held');
    this.windowButtons = [...document.querySelectorAll('[data-window]')];
    this.pauseButton.addEventListener('click', () => this.pause(!this.still));
    this.unzoomButton.addEventListener('click', () => this.unzoom());
    for (const b of this.windowButtons) b.addEventListener('click', () => this.setWindow(Number(b.dataset.window)));
  }

  get paused() { return this.still !== null; }
  get source() { return this.still || this.rows; }
  get view() { return this.zoom || [-this.window, 0]; }

  setWindow(s) {
    if (this.whole) { // of a recording: around the middle of what is seen
      const [a, b] = this.view;
      this.zoomTo((a + b - s) / 2, (a + b + s) / 2);
      return;
    }
    this.window = s;
    this.zoom = null;
    for (const b of this.windowButtons) b.setAttribute('aria-pressed', String(Number(b.dataset.window) === s));
    this.reflect();
  }

  // look shows the newest so many seconds of a recording, of which no more rows come.
  look(s) {
    this.whole = s;
    this.window = s;
    for (const b of this.windowButtons) b.setAttribute('aria-pressed', 'false');
    this.pause(true);
  }

  // pause looks at a copy; rows go on arriving, up to the limit of the buffer.
  pause(on, byZoom = false) {
    this.still = on ? this.rows.still() : null;
    this.pausedByZoom = on && byZoom;
    if (!on) this.zoom = null;
    this.reflect();
  }

  zoomTo(a, b) {
    if (!this.paused) this.pause(true, true);
    const own = Math.min(this.still.first - this.still.last, -this.window), now = this.still.base + this.still.last;
    const oldest = Math.min(own, this.history.oldest - now); // s, as far back as one can look
    const length = Math.min(Math.max(b - a, shortest), Math.max(-own, Math.min(this.history.longest, -oldest)));
    const from = Math.min(Math.max((a + b) / 2 - length / 2, oldest), -length);
    this.zoom = [from, from + length];
    this.reflect();
  }

  // unzoom goes back to the whole window in all figures.
  unzoom() {
    this.zoom = null;
    for (const p of [...this.plots, ...this.others]) p.unzoom();
    if (this.pausedByZoom) this.pause(false); else this.reflect();
  }

  // step moves and zooms with the keyboard: by is the share of the view to move, times the change of its length.
  step(by, times) {
    const [a, b] = this.view, mid = (a + b) / 2 + by * (b - a), length = (b - a) * times;
    this.zoomTo(mid - length / 2, mid + length / 2);
  }

  tools() {
    this.pauseButton.disabled = Boolean(this.whole);
    this.pauseButton.setAttribute('aria-pressed', String(this.paused));
    this.pauseButton.textContent = this.paused ? 'Resume' : 'Pause';
    this.unzoomButton.disabled = !this.zoom && ![...this.plots, ...this.others].some((p) => p.zoomed);
  }

  reflect() {
    this.tools();
    document.getElementById('plots').classList.toggle('paused', this.paused);
    this.draw();
  }

  // tell says what the page holds beyond the picture.
  tell() {
    if (this.whole) {
      this.held.textContent = this.history.words;
      return;
    }
    const held = this.rows.last - this.rows.first;
    this.held.textContent = this.paused
      ? `paused ${(this.rows.base + this.rows.last - this.still.base - this.still.last).toFixed(0)} s ago, ${held.toFixed(0)} s kept` + (this.rows.n >= this.rows.limit ? ' (full: oldest go)' : '') + (this.history.words ? `; ${this.history.words}` : '')
      : this.history.words ? this.history.words
      : this.rows.gaps ? `${this.rows.gaps} gap${this.rows.gaps > 1 ? 's' : ''} drawn open` : '';
  }

  draw() {
    const source = this.source, view = this.view, end = source.last;
    if (!source.n) return;
    const width = Math.max(...this.plots.map((p) => p.u?.width || 0), 300); // pixels
    const names = this.plots.flatMap((p) => p.names);
    const points = Math.round(width * 0.8);
    let { x, ys } = source.view(names, end + view[0], end + view[1], points, end);
    const old = this.history.before(names, source.base + end + view[0], source.base + Math.min(source.first, end + view[1]), 2 * points, source.base + end);
    if (old) {
      x = [...old.x, ...x];
      ys = ys.map((y, i) => [...old.ys[i], ...y]);
    }
    let k = 0;
    for (const p of this.plots) p.draw(x, ys.slice(k, (k += p.names.length)), view);
    this.mark();
    this.counters.frames++;
  }

  // mark shows the two cursors and what the traces are there, at the rows next to them.
  mark() {
    const { source, marks } = this, at = marks.at?.map((t) => source.near(source.last + t));
    for (const p of this.plots) {
      marks.place(p);
      p.marked = at && p.names.map((name) => at.map((i, k) => (i < 0 ? this.history.at(name, source.base + source.last + marks.at[k]) : source.columns.get(name)?.[i] ?? NaN)));
      if (at || p.root.classList.contains('marked')) p.values();
      p.root.classList.toggle('marked', Boolean(at));
    }
    marks.tell(at?.map((i, k) => (i < 0 ? marks.at[k] : source.t[i] - source.last)));
  }

  values() {
    for (const p of this.plots) p.values();
    this.tell();
  }
}
