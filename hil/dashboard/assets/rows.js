// Rows is the memory of the page: the newest rows as columns of numbers, one per signal.
//
// Time is in seconds since the first row. A missing stretch (sequence numbers or time jump) is a row of NaN between its
// neighbours, so that every trace is broken there instead of being drawn through data that never came.

import { fill } from './channels.js';

export class Rows {
  // limit: rows kept. Columns hold a quarter more, so that old rows are dropped in large steps. estimates: [{ value, error }], names of signals that
  // say nothing while their error is not above zero. derived: signals that are made of others.
  constructor(limit, estimates = [], derived = []) {
    this.estimates = estimates;
    this.derived = derived;
    this.limit = Math.max(1000, Math.round(limit));
    this.size = Math.min(8192, Math.ceil(this.limit * 1.25));
    this.forget();
    this.received = 0; // rows taken
    this.gaps = 0; // places where rows are missing
    this.lost = 0; // rows missing, by sequence number
  }

  forget() {
    this.open = []; // gaps that may be filled: { from, to (s since 1970), missing (rows), at, first (ms) }
    this.n = 0;
    this.base = 0; // epoch s of t = 0
    this.seq = NaN;
    this.stride = 1; // sequence numbers from row to row
    this.period = 0; // s from row to row
    this.t = new Float64Array(this.size);
    this.columns = new Map(); // name → Float64Array
  }

  get last() { return this.n ? this.t[this.n - 1] : 0; } // s
  get first() { return this.n ? this.t[0] : 0; }

  // push takes a batch, oldest row first.
  push(batch) {
    this.learn(batch);
    for (const row of batch) {
      const stamp = row.timestamp;
      if (typeof stamp !== 'number' || !isFinite(stamp)) continue;
      if (this.n && stamp - this.base < this.last - 1) this.forget(); // the clock was set back: start anew
      if (!this.n) this.base = stamp;
      const t = stamp - this.base;
      if (this.n && t <= this.last) continue; // a repetition
      if (this.n) this.breakAt(row.seq, t);
      fill(this.derived, row);
      this.append(t, row);
      this.seq = row.seq;
      this.received++;
    }
  }

  // learn finds out how far apart rows are, in sequence numbers and time.
  learn(batch) {
    if (batch.length < 3) return;
    let stride = Infinity, period = Infinity;
    for (let i = 1; i < batch.length; i++) {
      const ds = batch[i].seq - batch[i - 1].seq, dt = batch[i].timestamp - batch[i - 1].timestamp;
      if (ds > 0 && ds < stride) stride = ds;
      if (dt > 0 && dt < period) period = dt;
    }
    if (isFinite(stride)) this.stride = stride;
    if (isFinite(period)) this.period = this.period ? Math.min(period, 2 * this.period) : period;
  }

  breakAt(seq, t) {
    const jump = seq - this.seq;
    const missing = jump > 1.5 * this.stride ? Math.round(jump / this.stride) - 1 : 0;
    const silence = t - this.last > (this.period > 0 ? 3.5 * this.period : Infinity);
    const restart = jump < 0; // a new incarnation of the loop counts from 1 again
    if (!missing && !silence && !restart) return;
    this.lost += missing;
    this.gaps++;
    const at = performance.now();
    if (missing || restart) this.open.push({ from: this.base + this.last, to: this.base + t, missing, at, first: at });
    this.append((this.last + t) / 2, {});
  }

  // fill puts rows into a gap up to a time: { t (s since 1970), seq, columns }. What is missing in the recording too stays open.
  fill(gap, to, got) {
    const from = gap.from - this.base, end = to - this.base, own = 0.25 * (this.period || 1e-3);
    const put = [];
    got.t.forEach((t, i) => { if (t - this.base > from + own && t - this.base < end - own) put.push(i); });
    const found = put.filter((i) => got.seq[i]).length; // the others are gaps of the recording
    // the mark of the gap, or what is left of it
    let at = this.at(from + own);
    const marked = at < this.n && !(this.columns.get('seq')?.[at] >= 0);
    if (!marked || at + put.length >= this.limit) { this.open.shift(); return; } // dropped meanwhile
    const whole = to >= gap.to && gap.missing > 0 && found === put.length && found >= gap.missing, shift = put.length - (whole ? 1 : 0);
    while (this.n + shift > this.size) {
      const before = this.n;
      this.makeRoom();
      at -= before - this.n;
      if (at < 0) { this.open.shift(); return; }
    }
    for (const col of [this.t, ...this.columns.values()]) {
      col.copyWithin(at + put.length + (whole ? 0 : 1), at + 1, this.n);
    }
    put.forEach((i, k) => { this.t[at + k] = got.t[i] - this.base; });
    for (const [name, col] of this.columns) {
      const source = name === 'seq' ? got.seq : got.columns[name];
      put.forEach((i, k) => { col[at + k] = source?.[i] ?? NaN; });
      if (!whole) col[at + put.length] = NaN;
    }
    this.n += shift;
    this.lost -= Math.min(this.lost, found);
    gap.missing = Math.max(0, gap.missing - found);
    if (!whole) this.t[at + put.length] = ((put.length ? this.t[at + put.length - 1] : from) + gap.to - this.base) / 2;
    if (whole) this.gaps--;
    if (to >= gap.to) this.open.shift(); else gap.from = to;
  }

  append(t, row) {
    if (this.n === this.size) this.makeRoom();
    const i = this.n++;
    this.t[i] = t;
    for (const name in row) {
      const v = row[name];
      if (typeof v !== 'number' || name === 'timestamp') continue;
      let col = this.columns.get(name);
      if (!col) this.columns.set(name, (col = new Float64Array(this.size).fill(NaN)));
      col[i] = v;
    }
    for (const e of this.estimates) {
      if (row[e.error] > 0) continue;
      for (const name of [e.value, e.error]) if (this.columns.has(name)) this.columns.get(name)[i] = NaN;
    }
  }

  // makeRoom grows the columns up to their limit, then drops the oldest rows.
  makeRoom() {
    const full = Math.ceil(this.limit * 1.25);
    if (this.size < full) {
      const size = Math.min(full, this.size * 2);
      const t = new Float64Array(size);
      t.set(this.t);
      this.t = t;
      for (const [name, old] of this.columns) {
        const col = new Float64Array(size).fill(NaN);
        col.set(old);
        this.columns.set(name, col);
      }
      this.size = size;
      return;
    }
    const from = this.n - this.limit;
    this.t.copyWithin(0, from, this.n);
    for (const col of this.columns.values()) {
      col.copyWithin(0, from, this.n);
      col.fill(NaN, this.limit);
    }
    this.n = this.limit;
  }

  // still is a copy that no longer changes: what a paused page looks at.
  still() {
    const copy = Object.create(Rows.prototype);
    Object.assign(copy, this);
    copy.t = this.t.slice(0, this.n);
    copy.columns = new Map([...this.columns].map(([name, col]) => [name, col.slice(0, this.n)]));
    return copy;
  }

  newest(name) {
    const col = this.columns.get(name);
    return col && this.n ? col[this.n - 1] : NaN;
  }

  // mean of a signal over the last rows of so many seconds, without those that have none; NaN without any.
  mean(name, span) {
    const col = this.columns.get(name);
    let sum = 0, n = 0;
    for (let i = this.n - 1; col && i >= 0 && this.t[i] > this.last - span; i--) if (col[i] === col[i]) { sum += col[i]; n++; }
    return sum / n;
  }

  // at finds the first row with t ≥ x.
  at(x) { return firstAt(this.t, this.n, x); }

  // near is the row nearest to a time; −1 outside of the rows and where none is near, in a gap.
  near(x) {
    const i = nearest(this.t, this.n, x);
    return this.columns.get('seq')?.[i] >= 0 ? i : -1;
  }

  // view cuts out [t0, t1] for drawing: every row while there are few, else smallest and largest value of each of about
  // `buckets` equal spans, so that no spike is lost. Spans start at multiples of their length, so a scrolling trace does
  // not shimmer. Times come back relative to `origin`.
  view(names, t0, t1, buckets, origin) {
    const from = Math.max(0, this.at(t0) - 1), to = Math.min(this.n, this.at(t1) + 1);
    const cols = names.map((name) => this.columns.get(name));
    if (to - from <= 2 * buckets) return this.every(cols, from, to, origin);

    // borders of the spans, by row
    const span = (t1 - t0) / buckets, borders = [];
    let current = NaN;
    for (let i = from; i < to; i++) {
      const b = Math.floor(this.t[i] / span);
      if (b !== current) { borders.push(i); current = b; }
    }
    borders.push(to);

    const x = [], ys = cols.map(() => []);
    for (let k = 0; k + 1 < borders.length; k++) {
      const a = borders[k], b = borders[k + 1];
      x.push(this.t[a] - origin);
      const two = b - a > 1;
      if (two) x.push(this.t[b - 1] - origin);
      cols.forEach((col, j) => extremes(col, a, b, two, ys[j]));
    }
    return { x, ys };
  }

  every(cols, from, to, origin) {
    const x = [], ys = cols.map(() => []);
    for (let i = from; i < to; i++) {
      x.push(this.t[i] - origin);
      cols.forEach((col, j) => ys[j].push(col && col[i] === col[i] ? col[i] : null));
    }
    return { x, ys };
  }
}

// firstAt finds the first of n rising times t that is at least x.
export function firstAt(t, n, x) {
  let lo = 0, hi = n;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (t[mid] < x) lo = mid + 1; else hi = mid;
  }
  return lo;
}

// nearest finds the one of n rising times that is nearest to x; −1 where x lies outside of them.
export function nearest(t, n, x) {
  if (!(n && x >= t[0] && x <= t[n - 1])) return -1;
  const i = firstAt(t, n, x);
  return i > 0 && x - t[i - 1] < t[i] - x ? i - 1 : i;
}

// extremes appends smallest and largest value of col[a..b) in the order in which they came; a span that holds a break
// ends in null, so the trace is open there.
function extremes(col, a, b, two, out) {
  let lo = Infinity, hi = -Infinity, iLo = -1, iHi = -1, broken = !col;
  for (let i = a; col && i < b; i++) {
    const v = col[i];
    if (v !== v) { broken = true; continue; }
    if (v < lo) { lo = v; iLo = i; }
    if (v > hi) { hi = v; iHi = i; }
  }
  if (iLo < 0) {
    out.push(null);
    if (two) out.push(null);
  } else if (!two) {
    out.push(lo);
  } else {
    out.push(iLo <= iHi ? lo : hi);
    out.push(broken ? null : iLo <= iHi ? hi : lo);
  }
}
