// Rows that the stream lost on its way to this page are fetched from the recording and put where they belong.
import { most } from './history.js';

const settle = 1500; // ms until the recording is on file
const patience = 20000; // ms for which a gap is asked for

export class Refill {
  // filled() is called when rows were put in.
  constructor(rows, history, names, filled) {
    Object.assign(this, { rows, history, names, filled, busy: false });
  }

  // look takes the oldest gap that is due.
  async look() {
    const gap = this.rows.open[0];
    if (!gap || this.busy || performance.now() - gap.at < settle) return;
    this.busy = true;
    try {
      const longest = Math.min(this.history.longest, (0.9 * most) / this.history.rate), to = Math.min(gap.to, gap.from + longest);
      const got = this.history.longest ? await this.history.read(gap.from, to, this.names, most) : null;
      if (got && !got.thinned && got.last >= to) {
        this.rows.fill(gap, to, got);
        this.filled();
      } else if (!got || performance.now() - gap.at > patience) this.rows.open.shift(); // it stays a gap
      else gap.at += settle;
    } catch {
      gap.at += settle;
      if (performance.now() - gap.first > patience) this.rows.open.shift();
    }
    this.busy = false;
  }
}
