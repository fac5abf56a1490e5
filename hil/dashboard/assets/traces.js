// All live traces: which signals are drawn where, the window, pause and zoom. Every figure shows the same stretch of time.
import { Plot } from './plot.js';
import { axes, find } from './channels.js';
import { Marks } from './marks.js';
import { History } from './history.js';
import { unitAt } from './format.js';

// The figures of an axis: block and role of each trace; the first that there are, of those in one place.
const figures = [
  { title: 'Position', want: [[['estimated', 'position', 'estimate'], ['measured', 'position', 'measured']], [['modelled', 'position', 'reference']]] },
  { title: 'Velocity', want: [[['estimated', 'velocity', 'estimate'], ['measured', 'velocity', 'measured']], [['modelled', 'velocity', 'reference']]] },
  { title: 'Current and command', want: [[['measured', 'current', 'current']], [['command', 'command', 'command']]] },
  { title: 'Friction', want: [[['estimated', 'friction', 'est.']], [['modelled', 'friction', 'model']], [['modelled', 'effort', 'comp.']]] },
  { title: 'Tracking error', want: [[['modelled', 'error', 'reference − estimate']]] },
];
const colours = [['c1'], ['c2', [6, 4]], ['c3', [2, 3]]];
const shortest = 0.005; // s, closest zoom

export class Traces {
  constructor(info, rows, counters) {
    this.info = info;
    this.rows = rows;
    this.counters = counters;
    this.window = 10; // s
    this.zoom = null; // [from, to] in s before the end, when zoomed
    this.others = []; // further figures that the button resets: zoomed, unzoom()
    this.still = null; // rows looked at while paused
    this.pausedByZoom = false;
    this.signals = new Map(info.channels.map((c) => [c.name, c]));
    const on = { zoom: (a, b) => this.zoomTo(a, b), reset: () => this.unzoom(), ranged: () => this.tools() };
    this.history = new History(info, rows, () => this.draw());
    this.marks = new Marks(() => this.view, () => this.mark());
    const parent = document.getElementById('plots');
    const several = axes(info).length > 1;
    parent.classList.toggle('several', several);
    this.plots = axes(info).flatMap((axis) => {
      const row = figures.map((f) => this.resolve(f, axis, several)).filter((f) => f.series.length).map((f) => new Plot(parent, f, on));
      row[0]?.root.classList.add('first');
      return row;
    });
    this.free = new Plot(parent, this.freeSpec(), on);
    this.plots.push(this.free);
    this.buttons();
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.plots.forEach((p) => p.recolour()));
  }

  resolve({ title, want }, axis, several) {
    const series = [];
    want.forEach((choices, i) => {
      for (const [block, role, label] of choices) {
        const c = find(this.info, axis, block, role);
        if (!c) continue;
        series.push({ name: c.name, label, unit: c.unit, colour: colours[i][0], dash: colours[i][1] });
        break;
      }
    });
    return { title: several ? `${axis}: ${title}` : title, series };
  }

  // freeSpec is the figure whose two traces are chosen from all signals of the rig.
  freeSpec() {
    const preferred = [...(axes(this.info).length ? [] : ['position']), 'temperature', 'age'].map((role) => this.info.channels.find((c) => c.role === role)).find(Boolean);
    const first = (preferred || this.info.channels[0])?.name || '';
    const spec = { title: 'Free choice', series: [], missing: 'choose a signal' };
    spec.controls = ['c1', 'c2'].map((colour, i) => {
      const select = document.createElement('select');
      select.className = colour;
      select.setAttribute('aria-label', i ? 'second signal' : 'first signal');
      select.append(new Option('none', ''));
      for (const block of ['measured', 'estimated', 'modelled', 'command']) {
        const group = document.createElement('optgroup');
        group.label = block;
        for (const c of this.info.channels) if (c.block === block) group.append(new Option(`${c.name}${c.unit ? ' / ' + unitAt(0, c.unit) : ''}`, c.name));
        if (group.children.length) select.append(group);
      }
      const loop = document.createElement('optgroup');
      loop.label = 'loop';
      for (const name of ['late_us', 'busy_us']) loop.append(new Option(`${name.slice(0, 4)} / µs`, name));
      select.append(loop);
      select.value = i ? '' : first;
      select.addEventListener('change', () => this.chosen(spec));
      return select;
    });
    this.choose(spec);
    return spec;
  }

  // show draws a signal as the first of the free figure; what stood there becomes the second.
  show(name) {
    const { spec } = this.free, [first, second] = spec.controls;
    if (first.value !== name) [second.value, first.value] = [first.value, name];
    this.chosen(spec);
    this.free.root.scrollIntoView({ block: 'nearest' });
  }

  chosen(spec) {
    this.choose(spec);
    this.free.calm = {};
    this.free.chosen = {};
    this.free.data = null;
    this.free.build();
    this.draw();
  }

  choose(spec) {
    spec.series = spec.controls.filter((s) => s.value).map((s) => ({
      name: s.value, label: '', colour: s.className, unit: this.signals.get(s.value)?.unit ?? 'µs', width: 1.5,
    }));
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
    this.window = s;
    this.zoom = null;
    for (const b of this.windowButtons) b.setAttribute('aria-pressed', String(Number(b.dataset.window) === s));
    this.reflect();
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
    const held = this.rows.last - this.rows.first;
    this.held.textContent = this.paused
      ? `paused ${(this.rows.base + this.rows.last - this.still.base - this.still.last).toFixed(0)} s ago, ${held.toFixed(0)} s kept` + (this.rows.n >= this.rows.limit ? ' (full: oldest go)' : '') + (this.history.words ? `; ${this.history.words}` : '')
      : this.history.words ? this.history.words
      : this.rows.gaps ? `${this.rows.gaps} gap${this.rows.gaps > 1 ? 's' : ''} drawn open` : '';
  }

  draw() {
    const source = this.source, view = this.view, end = source.last;
    if (!source.n) return;
    const width = Math.max(...this.plots.map((p) => p.u?.width || 0), 300);
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
