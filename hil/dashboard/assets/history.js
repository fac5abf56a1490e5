// What was before the oldest row of this page, from the recording of the run: asked of the daemon for the stretch that is looked at, thinned to what can be
// drawn, and kept until another stretch is looked at.
import { firstAt, nearest } from './rows.js';

export const most = 20000; // rows of an answer
const pause = 250; // ms between two questions
const retry = 1000; // ms until a question is put again whose answer lacked the newest part
const patience = 15000; // ms for which it is put again
const finite = (v) => (Number.isFinite(v) ? v : null);

export class History {
  // rows: the memory of the page. arrived() is called when there is something new to draw.
  constructor(info, rows, arrived) {
    this.longest = info.history.longest_s; // s, of one window; 0: no history
    this.reason = info.history.reason || '';
    this.rate = info.rate_hz;
    this.info = info;
    this.estimates = rows.estimates;
    this.derived = rows.derived;
    this.pieces = new Map(); // what whole() has read, or is reading, by its question
    this.known = new Set(info.channels.map((c) => c.name));
    this.arrived = arrived;
    this.kept = null; // { from, to, names, t, columns }: times in s since 1970
    this.asked = 0; // ms, when the newest question was put
    this.since = 0; // ms, when it was first put
    this.under = false; // a question is under way
    this.needed = false; // the window goes back beyond this page
    this.failure = '';
  }

  // words say why nothing is shown.
  get words() { return !this.needed ? '' : this.longest ? this.failure : this.reason; }

  // oldest is how far one can look back from a time, both in s since 1970.
  get oldest() { return this.longest ? Date.parse(this.info.start) / 1000 : Infinity; }

  // before gives what there is of [from, to] (s since 1970, to: the page's own oldest row) as columns over time relative to origin, and asks for what there is
  // not. points: how many are worth drawing in it.
  before(names, from, to, points, origin) {
    this.needed = to - from > 1.5 / this.rate;
    from = Math.max(from, this.oldest, to - this.longest);
    if (!(to - from > 1.5 / this.rate)) return null;
    const asks = names.filter((n) => this.known.has(n));
    if (!this.covers(from, to, asks, points)) this.ask(from, to, asks, points);
    const { kept } = this;
    if (!kept) return null;
    const a = Math.max(0, firstAt(kept.t, kept.t.length, from) - 1), b = firstAt(kept.t, kept.t.length, to - 0.5 / this.rate), x = [], ys = names.map(() => []);
    for (let i = a; i < b; i++) {
      x.push(kept.t[i] - origin);
      names.forEach((n, j) => ys[j].push(kept.columns[n]?.[i] ?? null));
    }
    // what is not on file yet is a gap
    if (x.length && to - kept.t[b - 1] > Math.max(3.5 / this.rate, 1.5 * kept.step)) {
      x.push((x.at(-1) + to - origin) / 2);
      for (const y of ys) y.push(null);
    }
    return { x, ys };
  }

  covers(from, to, names, points) {
    const k = this.kept;
    if (!k || from < k.from - 1e-6 || to > k.to + 1e-6 || !names.every((n) => n in k.columns)) return false;
    if (k.thinned && k.to - k.from > 2.1 * (to - from)) return false; // coarser than the screen
    if (to - k.last < 2 / this.rate || performance.now() - this.since > patience) return true;
    this.again(retry);
    return performance.now() - this.asked < retry;
  }

  // again draws, and so asks, a little later.
  again(ms) {
    this.timer ??= setTimeout(() => { this.timer = undefined; this.arrived(); }, ms);
  }

  async ask(from, to, names, points) {
    const now = performance.now();
    if (this.under) return; // its answer draws
    if (now - this.asked < pause) { this.again(pause); return; }
    this.under = true;
    this.asked = now;
    try {
      const got = await this.read(from, to, names, points);
      if (!this.kept || this.kept.to !== to) this.since = now; // the file may lack the newest of it for a moment
      this.kept = { ...got, from, to };
      this.failure = '';
    } catch (err) {
      this.failure = err.message;
      this.asked += retry;
    }
    this.under = false;
    this.again(0);
  }

  // read fetches a window: { t, seq, columns, modes, thinned, rows, last, step }.
  async read(from, to, names, points) {
    const errors = this.estimates.filter((e) => names.includes(e.value)).map((e) => e.error); // an estimate without an error is none
    const q = new URLSearchParams({ from: from.toFixed(6), to: to.toFixed(6), points: String(Math.max(2, Math.round(points))) });
    const made = this.derived.filter((d) => names.includes(d.name));
    const asked = [...names.filter((n) => !made.some((d) => d.name === n)), ...made.flatMap((d) => d.needs), ...errors];
    for (const n of new Set(asked)) q.append('signal', n);
    const r = await fetch(`/api/history?${q}`, { signal: AbortSignal.timeout(20000) });
    if (!r.ok) throw new Error((await r.text()).trim());
    const a = await r.json();
    for (const e of this.estimates) {
      const error = a.signals[e.error];
      if (error && a.signals[e.value]) a.signals[e.value] = a.signals[e.value].map((v, i) => (error[i] > 0 ? v : null));
    }
    // the extremes of a thinned stretch do not belong together
    for (const d of made) {
      const from = d.needs.map((n) => a.signals[n]);
      a.signals[d.name] = a.timestamp.map((_, i) => {
        const values = from.map((c) => c[i]);
        return !a.thinned && values.every(Number.isFinite) ? finite(d.of(...values)) : null;
      });
    }
    return { t: a.timestamp, seq: a.seq, columns: a.signals, modes: a.modes, thinned: a.thinned, rows: a.rows, last: a.last, step: a.thinned ? (2 * (to - from)) / points : 0 };
  }

  // whole gives the newest rows of [from, to] (s since 1970) as they are: { t, columns, from }, or { note } while they are fetched or cannot be had.
  whole(names, from, to) {
    const start = Math.max(from, this.oldest, to - Math.min(this.longest, (0.95 * most) / this.rate)), key = JSON.stringify([names, start.toFixed(4), to.toFixed(4)]);
    if (!this.longest) return { note: this.reason };
    let piece = this.pieces.get(key);
    if (!piece) {
      if (this.pieces.size > 3) this.pieces.delete(this.pieces.keys().next().value);
      this.pieces.set(key, (piece = { note: 'reading …' }));
      this.read(start, to, names, most).then((got) => Object.assign(piece, { note: '', t: got.t, columns: names.map((n) => got.columns[n]), from: start }),
        (err) => { piece.note = err.message; }).then(() => this.arrived());
    }
    return piece;
  }

  // motion gives the rows of mode run in the stretch of a length (s) before a time (s since 1970); without one, the longest that can be had unthinned.
  async motion(names, to, length = (0.99 * most) / this.rate) {
    const got = await this.read(Math.max(this.oldest, to - length), to, names, most);
    const inMode = (t) => got.modes.findLast((m) => m.timestamp <= t + 1e-6)?.mode;
    return got.t.map((t, i) => (inMode(t) === 'run' ? Object.fromEntries(names.map((n) => [n, got.columns[n][i]])) : null)).filter(Boolean);
  }

  // at is a signal at the point next to a time; NaN: there is none.
  at(name, time) {
    const k = this.kept;
    return k?.columns[name]?.[nearest(k.t, k.t.length, time)] ?? NaN;
  }
}
