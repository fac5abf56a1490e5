// What happened, newest first, since the run began: what was before the page was opened is asked of the daemon. Events that say the same stand in one
// line with their number. Texts come from the daemon and are shown as text, never as markup.
import { clock } from './format.js';

const kept = 1000; // events
const shown = 200; // lines
const levels = ['info', 'warn', 'error'];

export class Events {
  // advice: cause → what to do; time(s since 1970) writes a time; show(t) looks at a moment in the traces; changed() is called when there is something new.
  constructor(info, { show, changed }) {
    this.info = info;
    this.show = show;
    this.changed = changed;
    this.list = document.getElementById('events');
    this.all = []; // by time
    this.known = new Set();
    this.faults = false; // faults alone
    this.buttons = [...document.querySelectorAll('[data-events]')];
    for (const b of this.buttons) b.addEventListener('click', () => { this.faults = b.dataset.events === 'faults'; this.write(); });
    this.recall();
  }

  async recall() {
    try {
      const r = await fetch('/api/events', { signal: AbortSignal.timeout(10000) });
      if (r.ok) this.take(await r.json());
    } catch { /* the banner tells that the daemon does not answer */ }
  }

  add(e) { this.take([e]); }

  take(list) {
    for (const e of list) {
      const key = `${e.timestamp} ${e.code} ${e.text}`;
      if (this.known.has(key)) continue; // it came both ways
      this.known.add(key);
      const mode = e.code === 'MODE' ? /mode (?:\w+ → )?(\w+)/.exec(e.text)?.[1] ?? '' : '';
      this.all.push({ ...e, level: levels.includes(e.level) ? e.level : 'info', mode });
    }
    this.all.sort((a, b) => a.timestamp - b.timestamp);
    for (const e of this.all.splice(0, this.all.length - kept)) this.known.delete(`${e.timestamp} ${e.code} ${e.text}`);
    this.write();
    this.changed();
  }

  // within are the events of a stretch of time, s since 1970.
  within(from, to) { return this.all.filter((e) => e.timestamp >= from && e.timestamp <= to); }

  write() {
    const faults = this.all.filter((e) => e.level !== 'info'), lines = [];
    for (const e of (this.faults ? faults : this.all).toReversed()) {
      const line = lines.at(-1), alike = this.faults ? lines.find((l) => same(l.event, e)) : line && same(line.event, e) && line;
      if (alike) { alike.n++; alike.first = e; } else lines.push({ event: e, first: e, n: 1 });
    }
    for (const b of this.buttons) {
      const faulty = b.dataset.events === 'faults';
      b.setAttribute('aria-pressed', String(faulty === this.faults));
      if (faulty) b.textContent = `Faults ${faults.length}`;
    }
    this.list.replaceChildren(...lines.slice(0, shown).map((l) => this.line(l)));
    if (!lines.length) this.list.append(item('li', 'muted', this.faults ? 'no fault in this run' : 'none in this run'));
  }

  line({ event: e, first, n }) {
    const li = item('li', '', '');
    li.dataset.level = e.level;
    li.tabIndex = 0;
    li.title = 'show this moment in the traces';
    li.addEventListener('click', () => this.show(e.timestamp));
    li.addEventListener('keydown', (k) => { if (k.key === 'Enter') this.show(e.timestamp); });
    li.append(item('time', '', this.time(e.timestamp)), ' ', item('b', '', e.level), ' ', item('code', '', e.code), ' ', item('span', '', e.text));
    if (n > 1) li.append(' ', item('span', 'tag', `${n} times since ${this.time(first.timestamp)}`));
    const advice = e.level !== 'info' && e.mode && this.advice(e.text);
    if (advice) li.append(item('small', 'muted', advice));
    return li;
  }

  // advice is what to do after a fault whose cause is named in a text.
  advice(text) {
    const cause = Object.keys(this.info.advice).filter((c) => text.includes(`(${c}`)).sort((a, b) => b.length - a.length)[0];
    return cause && this.info.advice[cause];
  }

  // time writes the time of day, in a recording the seconds since its first row.
  time(t) { return this.info.recording ? `${(t - this.info.recording.first).toFixed(2)} s` : clock(t); }
}

// same tells whether two events differ in their numbers alone.
const same = (a, b) => a.level === b.level && a.code === b.code && words(a.text) === words(b.text);
const words = (text) => String(text).replace(/[-−\d.,:]+/g, '#');

function item(kind, className, textContent) { return Object.assign(document.createElement(kind), { className, textContent: textContent ?? '' }); }
