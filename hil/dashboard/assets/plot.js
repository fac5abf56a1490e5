// One figure of live traces: a uPlot with one or two y axes, its caption with the values, and calm axes.
import { eng, unitAt, niceStep, scaleFor } from './format.js';
import { ink } from './paper.js';
import { listen, sound } from './gestures.js';

const font = '11px system-ui, sans-serif';

export class Plot {
  // spec: { title, series: [{ name, label, unit, colour, dash }] }; units in order of appearance make the left and the
  // right axis. on: { zoom(min, max), reset(), ranged(), zero, events(from, to) }: a stretch of time was chosen, all shall be as it was, a y axis was
  // zoomed; what is added to times where they are written (s); what happened in a stretch: [{ at (s), level, mode, text }].
  constructor(parent, spec, on) {
    this.spec = spec;
    this.on = on;
    this.root = document.createElement('figure');
    this.root.className = 'panel plot';
    this.caption = document.createElement('figcaption');
    this.area = document.createElement('div');
    this.area.className = 'area';
    this.root.append(this.caption, this.area);
    parent.append(this.root);
    this.view = [-10, 0];
    this.calm = {}; // scale → automatic range in force
    this.chosen = {}; // scale → range chosen by hand
    this.marked = null; // per trace, its values at the two cursors
    this.build();
    listen(this);
    new ResizeObserver(() => this.fit()).observe(this.area);
  }

  get names() { return this.spec.series.map((s) => s.name); }

  // lacks says why nothing can be drawn; '': it can.
  lacks() { return this.spec.series.length ? '' : 'this rig has no such signal'; }

  // build makes the figure for the present spec; the free trace calls it again when its choice changes.
  build() {
    this.u?.destroy();
    this.u = null;
    this.area.replaceChildren();
    this.write();
    const { series } = this.spec;
    if (this.lacks()) {
      this.area.append(Object.assign(document.createElement('p'), { className: 'muted empty', textContent: this.lacks() }));
      return;
    }
    const units = [...new Set(series.map((s) => s.unit))];
    this.scaleOf = (s) => (units.indexOf(s.unit) <= 0 ? 'y' : 'y2');
    const scales = { x: { time: false, auto: false, range: () => this.view }, y: { range: (u, a, b) => this.quiet('y', a, b) } };
    const two = units.length > 1; // then each axis wears the colour of its first trace
    const colour = (unit) => () => ink(two ? series.find((s) => s.unit === unit).colour : 'muted');
    const axis = (scale, side, unit) => ({
      scale, side, size: 46, gap: 4, labelSize: 16, labelGap: 0, font, labelFont: font, stroke: colour(unit), space: 28,
      label: (u) => `${this.quantity(unit)} (${unitAt(this.exponent(u, scale, unit), unit) || '1'})`,
      values: (u, splits) => splits.map((v) => String(+(v / 10 ** this.exponent(u, scale, unit)).toPrecision(6)).replace('-', '−')),
      grid: { show: side === 3, stroke: () => ink('grid'), width: 1 },
      ticks: { show: false },
    });
    const time = {
      font, stroke: () => ink('muted'), size: 26, gap: 6, space: 56, grid: { stroke: () => ink('grid'), width: 1 }, ticks: { show: false },
      splits: (u, i, min, max, step) => {
        const out = [], { zero } = this.on;
        for (let k = Math.ceil((min + zero) / step - 1e-6); k * step <= max + zero + 1e-6 * step; k++) out.push(k * step - zero);
        return out;
      },
      values: (u, splits) => splits.map((v) => `${String(+(v + this.on.zero).toPrecision(9)).replace(/^-0$/, '0').replace('-', '−')} s`),
    };
    const list = [time, axis('y', 3, units[0])];
    if (two) {
      scales.y2 = { range: (u, a, b) => this.quiet('y2', a, b) };
      list.push(axis('y2', 1, units[1]));
    }
    this.u = new uPlot({
      width: Math.max(120, this.area.clientWidth), height: Math.max(80, this.area.clientHeight),
      padding: [8, two ? 0 : 12, 0, 0], legend: { show: false }, scales, axes: list,
      series: [{}, ...series.map((s) => ({
        scale: this.scaleOf(s), stroke: () => ink(s.colour), width: s.width || 1.5, dash: s.dash, points: { show: false }, spanGaps: false,
      }))],
      cursor: {
        drag: { x: true, y: true, uni: 24, setScale: false }, points: { size: 7 },
        sync: { key: 'hil', setSeries: false, filters: { pub: (type) => type === 'mousemove' || type === 'mouseleave' } },
        bind: { dblclick: () => () => { this.on.reset(); return null; } },
      },
      hooks: { setSelect: [(u) => this.selected(u)], setCursor: [() => this.values()], draw: [(u) => this.flags(u)] },
    }, [[], ...series.map(() => [])], this.area);
    if (this.data) this.draw(...this.data);
  }

  // flags draws what happened: changes of mode and faults from top to bottom, the rest at the lower edge.
  flags(u) {
    const { ctx: g, bbox: { left, top, width, height } } = u, scale = window.devicePixelRatio || 1;
    const colour = { error: 'bad', warn: 'warn', info: 'muted' };
    const events = this.on.events(...this.view).map((e) => ({ ...e, x: Math.round(left + ((e.at - this.view[0]) / (this.view[1] - this.view[0])) * width) + 0.5 }));
    g.save();
    g.font = `${10 * scale}px system-ui, sans-serif`;
    g.textBaseline = 'top';
    g.textAlign = 'left';
    g.lineWidth = scale;
    for (const e of events) {
      const whole = e.mode || e.level === 'error';
      g.strokeStyle = ink(colour[e.level] ?? 'muted');
      g.setLineDash(whole ? [3 * scale, 3 * scale] : []);
      g.beginPath();
      g.moveTo(e.x, whole ? top : top + height - 7 * scale);
      g.lineTo(e.x, top + height);
      g.stroke();
    }
    // names of the modes where there is room, those of faults and the newest first
    const taken = [], rank = (e) => ['info', 'warn', 'error'].indexOf(e.level);
    for (const e of events.filter((o) => o.mode).sort((p, q) => rank(q) - rank(p) || q.at - p.at)) {
      const from = e.x + 3 * scale, to = from + g.measureText(e.mode).width + 3 * scale;
      if (to > left + width || taken.some(([a, b]) => from < b && to > a)) continue;
      taken.push([from, to]);
      g.fillStyle = ink(colour[e.level] ?? 'muted');
      g.fillText(e.mode, from, top + scale);
    }
    g.restore();
  }

  get canvas() { return this.u?.ctx.canvas; }

  fit() {
    const { clientWidth: w, clientHeight: h } = this.area;
    if (this.u && w > 60 && h > 60 && (w !== this.u.width || h !== this.u.height)) this.u.setSize({ width: w, height: h });
  }

  // selected zooms what was dragged across: time, the y axes, or both.
  selected(u) {
    const { left, top, width, height } = u.select;
    const across = width >= 4 && width < u.over.clientWidth - 1, down = height >= 4 && height < u.over.clientHeight - 1; // else the whole side
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    if (down) for (const scale of Object.keys(u.scales)) if (scale !== 'x') this.setRange(scale, [u.posToVal(top + height, scale), u.posToVal(top, scale)]);
    if (across) this.on.zoom(u.posToVal(left, 'x'), u.posToVal(left + width, 'x'));
  }

  // what gestures ask of a figure
  get along() { return 'x'; }
  get sides() { return { left: 'y', right: this.u?.scales.y2 && 'y2' }; }
  box() { return this.u?.over.getBoundingClientRect(); }
  range(scale) {
    const { min, max } = this.u.scales[scale];
    return [min ?? -1, max ?? 1];
  }

  // setRange zooms time in all figures, or a y axis of this one; null: automatic again.
  setRange(scale, range) {
    if (range && !sound(range)) return;
    if (scale === 'x') { this.on.zoom(...range); return; }
    if (range) this.chosen[scale] = range; else delete this.chosen[scale];
    this.ranged();
  }

  get zoomed() { return Object.keys(this.chosen).length > 0; }

  // unzoom draws nothing: time may change too, and what is seen for a moment would move the axes.
  unzoom() {
    this.chosen = {};
    this.root.classList.remove('zoomed');
  }

  ranged() {
    this.root.classList.toggle('zoomed', this.zoomed);
    if (this.data) this.draw(...this.data);
    this.on.ranged();
  }

  // draw shows columns over x (s, relative to the newest row) within view.
  draw(x, ys, view) {
    this.data = [x, ys, view];
    this.view = view;
    if (!this.u || ys.length !== this.spec.series.length) return;
    this.u.batch(() => {
      this.u.setData([x, ...ys], false);
      this.u.setScale('x', { min: view[0], max: view[1] });
    });
  }

  // quiet ranges a y axis to round numbers and lets it shrink only when half of it is empty.
  quiet(scale, a, b) {
    if (this.chosen[scale]) return this.chosen[scale];
    if (a === null || b === null || !isFinite(a) || !isFinite(b)) return this.calm[scale] || [-1, 1];
    if (a === 0 && b === 0) [a, b] = [-0.9, 0.9]; // nothing to magnify
    const pad = Math.max((b - a) * 0.06, Math.abs(b) * 1e-4, Math.abs(a) * 1e-4, 1e-12);
    const step = niceStep((b - a + 2 * pad) / 4);
    const want = [Math.floor((a - pad) / step) * step, Math.ceil((b + pad) / step) * step];
    const have = this.calm[scale];
    if (have && want[0] >= have[0] && want[1] <= have[1] && want[1] - want[0] > 0.5 * (have[1] - have[0])) return have;
    return (this.calm[scale] = want);
  }

  exponent(u, scale, unit) {
    const { min, max } = u.scales[scale];
    return min === null || min === undefined ? 0 : scaleFor(Math.max(Math.abs(min), Math.abs(max)), unit);
  }

  quantity(unit) {
    return { rad: 'angle', 'rad/s': 'velocity', 'rad/s²': 'acceleration', A: 'current', V: 'voltage', 'N·m': 'torque', m: 'position', 'm/s': 'velocity', 'm/s²': 'acceleration', N: 'force', s: 'time', degC: 'temperature' }[unit] || 'value';
  }

  // write makes the caption: title, then one entry per trace with room for its value.
  write() {
    const title = document.createElement('h2');
    title.textContent = this.spec.title;
    const entries = this.spec.series.map((s) => {
      const item = document.createElement('span');
      item.className = `trace ${s.colour}${s.dash ? ' dashed' : ''}`;
      item.title = s.name;
      item.append(document.createTextNode(s.label + ' '), (s.cell = document.createElement('b')));
      return item;
    });
    this.caption.replaceChildren(title, ...(this.spec.controls || []), ...entries);
  }

  // values writes the numbers at the two cursors, else under the mouse, else the newest.
  values() {
    if (!this.data || !this.u) return;
    const { idx, left } = this.u.cursor, near = left >= 0 ? 4 * ((this.view[1] - this.view[0]) / this.u.over.clientWidth) : 0, at = this.u.posToVal(left, 'x');
    const title = near ? this.on.events(at - near, at + near).map((e) => e.text).join('\n') : '';
    if (this.u.over.title !== title) this.u.over.title = title;
    this.spec.series.forEach((s, i) => {
      const y = this.data[1][i] || [];
      const v = idx === null || idx === undefined ? y.at(-1) : y[idx];
      const [a, b] = this.marked?.[i] ?? [];
      const text = this.marked ? `${eng(a, s.unit, 4)} → ${eng(b, s.unit, 4)} Δ ${eng(b - a, s.unit, 4)}` : eng(v, s.unit);
      if (s.cell.textContent !== text) s.cell.textContent = text;
    });
  }

  // recolour draws again after the change between dark and light.
  recolour() { this.u?.redraw(false, true); }
}
