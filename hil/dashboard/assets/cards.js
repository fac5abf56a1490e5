// What stands beside the traces: a card for each model beside the rig, and a gauge for each measurement that no axis has and that has a
// declared range. A press on the name of a signal draws it.
import { models } from './channels.js';
import { eng, count } from './format.js';
import { Ball, isBall, reasons } from './ball.js';

const span = 1; // s over which the busy time is averaged

export class Cards {
  // choose(name) draws a signal.
  constructor(info, rows, choose) {
    this.rows = rows;
    this.period = 1 / info.rate_hz;
    const gauged = info.channels.filter((c) => c.block === 'measured' && !c.axis && c.role !== 'age' && Number.isFinite(c.min) && Number.isFinite(c.max));
    const plain = (c) => c.name.slice(c.owner.length + 1);
    const alone = (c) => gauged.filter((o) => plain(o) === plain(c)).length === 1; // else the name of the device belongs to it
    this.gauges = gauged.map((c) => gauge(c, alone(c) ? plain(c) : c.name, choose));
    this.models = models(info).map((owner) => card(info, owner, info.channels.filter((c) => c.owner === owner.name), choose));
    const parent = document.getElementById('cards');
    if (this.gauges.length) parent.append(panel('gauges', 'Measured', '', ...this.gauges.map((g) => g.root)));
    parent.append(...this.models.map((m) => m.root));
    parent.hidden = !parent.children.length;
  }

  values() {
    for (const g of this.gauges) g.show(this.rows.newest(g.name));
    for (const m of this.models) m.show(this.rows, this.period);
  }

  // draw draws what moves.
  draw() { for (const m of this.models) m.ball?.draw(this.rows); }
}

// gauge is a bar from the lower end of the range to the value.
function gauge(c, text, choose) {
  const root = element('div', 'gauge'), value = element('b'), track = element('div', 'track'), bar = element('i');
  track.append(bar);
  track.setAttribute('role', 'meter');
  track.setAttribute('aria-label', c.name);
  track.setAttribute('aria-valuemin', c.min);
  track.setAttribute('aria-valuemax', c.max);
  root.append(name(c, text, choose), value, track, element('small', 'muted', eng(c.min, c.unit)), element('small', 'muted', eng(c.max, c.unit)));
  const show = (v) => {
    write(value, eng(v, c.unit));
    root.classList.toggle('beyond', v < c.min || v > c.max);
    bar.style.width = `${100 * Math.min(1, Math.max(0, (v - c.min) / (c.max - c.min))) || 0}%`;
    if (v === v) track.setAttribute('aria-valuenow', v);
  };
  return { name: c.name, root, show };
}

// card has the level of a model, what its steps take of its share of the period, and its signals.
function card(info, owner, channels, choose) {
  const busy = channels.find((c) => c.role === 'busy'), level = channels.find((c) => c.role === 'level');
  const own = channels.filter((c) => c !== busy && c !== level);
  const tag = element('span', 'tag'), bar = element('i'), track = element('div', 'track'), share = element('b'), of = element('small', 'muted');
  track.append(bar);
  track.setAttribute('role', 'meter');
  track.setAttribute('aria-label', `${owner.name}: busy time of its share of the period`);
  track.setAttribute('aria-valuemin', 0);
  track.setAttribute('aria-valuemax', 100);
  const time = element('div', 'gauge');
  time.append(busy ? name(busy, 'busy', choose) : '', share, track, of);
  const cells = own.map((c) => element('b'));
  const list = element('div', 'signals');
  list.append(...own.map((c, i) => {
    const line = element('div');
    line.append(name(c, title(info, short(owner, c)), choose), cells[i]);
    return line;
  }));
  const ball = isBall(owner, channels) ? new Ball(owner, channels) : null;
  const root = panel('model', owner.name, owner.title, ...(ball ? [ball.root] : []), time, list);
  root.dataset.model = owner.name;
  root.querySelector('h2').append(tag);
  const show = (rows, period) => {
    ball?.values(rows);
    own.forEach((c, i) => write(cells[i], word(info, owner, own, c, rows.newest(c.name)) ?? number(rows.newest(c.name), c.unit)));
    const l = level ? rows.newest(level.name) : NaN;
    tag.hidden = !(l > 0);
    write(tag, l === 1 ? 'simplified' : `simplified, level ${l}`);
    tag.title = 'the processor is short: this model does its steps in a cheaper, less exact way';
    const took = busy ? rows.mean(busy.name, span) : NaN, part = took / busy?.max;
    write(share, `${eng(took, 's')} · ${percent(took / period)}`);
    write(of, `of ${percent(busy?.max / period)} of the period`);
    time.classList.toggle('beyond', part > 1);
    bar.style.width = `${100 * Math.min(1, part) || 0}%`;
    if (part === part) track.setAttribute('aria-valuenow', Math.round(100 * part));
  };
  return { root, show, ball };
}

const short = (owner, c) => c.name.slice(owner.name.length + 1);

// title is the name of a friction law for people; other signals keep theirs.
const title = (info, name) => { const t = info.laws.find((l) => l.name === name)?.title; return t ? t[0].toUpperCase() + t.slice(1) : name; };

// word is what a number stands for; undefined: it is a number.
function word(info, owner, own, c, v) {
  if (!Number.isFinite(v)) return undefined;
  if (c.role === 'status' || short(owner, c) === 'status') return info.statuses[v];
  if (isBall(owner, own) && short(owner, c) === 'reason') return reasons[v] || 'none: rolling';
  if (short(owner, c) !== 'best') return undefined;
  const rivals = own.filter((o) => !['best', 'motion'].includes(short(owner, o)));
  return v < 0 ? 'not told apart' : rivals[v] && title(info, short(owner, rivals[v]));
}

// number writes what has no unit without a power of ten, where that is short.
function number(v, unit) {
  if (unit || !Number.isFinite(v) || (v && Math.abs(v) < 1e-3)) return eng(v, unit);
  return (Math.abs(v) >= 1000 || Number.isInteger(v) ? count(v) : String(Number(v.toPrecision(3)))).replace('-', '−');
}
const percent = (x) => (Number.isFinite(x) ? `${x < 0.1 ? (100 * x).toFixed(1) : Math.round(100 * x)}\u202f%` : '–');

function name(c, text, choose) {
  const b = element('button', 'name', text);
  b.title = `draw ${c.name}`;
  b.addEventListener('click', () => choose(c.name));
  return b;
}

function panel(kind, title, words, ...parts) {
  const root = element('article', `panel ${kind}`), head = element('h2', '', title);
  if (words) head.append(element('span', 'muted', words));
  root.append(head, ...parts);
  return root;
}

function element(kind, className = '', text = '') {
  const e = document.createElement(kind);
  e.className = className;
  e.textContent = text;
  return e;
}

function write(e, text) { if (e.textContent !== text) e.textContent = text; }
