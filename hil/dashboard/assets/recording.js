// The page of a recording in place of a rig: the newest second of it stands for the rows that a rig would send, the rest comes from the file as it is looked at.
import { most } from './history.js';
import { eng } from './format.js';

const $ = (id) => document.getElementById(id);
const pieces = 10; // stretches of the run that the friction curve is made of

export class Recording {
  constructor(info, rows, traces, curve) {
    Object.assign(this, { info, rows, traces, curve });
    this.length = info.recording.last - info.recording.first; // s
  }

  // load reads the end of the recording and shows the whole of it; it gives the mode at its end.
  async load() {
    const { info, rows, traces } = this, { last } = info.recording, names = info.channels.map((c) => c.name);
    const got = await traces.history.read(last - Math.min(1, (0.9 * most) / info.rate_hz), last, names, most);
    rows.push(got.t.map((t, i) => ({ timestamp: t, seq: got.seq?.[i], ...Object.fromEntries(names.map((n) => [n, got.columns[n][i]])) })).filter((r) => r.seq));
    traces.look(Math.min(this.length, traces.history.longest));
    this.head(got.modes.at(-1)?.mode);
    return got.modes.at(-1)?.mode;
  }

  // friction fills the figure of friction over velocity from the whole run, or from stretches all along a long one. None overlap.
  async friction() {
    const { info, traces, curve } = this, longest = (0.95 * most) / info.rate_hz, n = Math.min(pieces, Math.ceil(this.length / longest));
    const piece = Math.min(longest, this.length / n), apart = n > 1 ? (this.length - piece) / (n - 1) : 0;
    for (let i = 0; i < n && curve.names.length; i++) {
      try {
        curve.add(await traces.history.motion(curve.names, info.recording.last - i * apart, piece));
        curve.draw();
      } catch { return; } // the traces say why there is no history
    }
  }

  head(mode) {
    const { info } = this, { run, first, file, problem } = info.recording;
    document.body.classList.add('recording');
    $('mode').dataset.mode = 'recording';
    $('mode').textContent = 'RECORDING';
    $('mode').title = file;
    $('about').textContent = `${new Date(first * 1000).toLocaleString()} · ${eng(this.length, 's', 4)} at ${eng(info.rate_hz, 'Hz', 3)} · ended in ${mode ?? '–'}`;
    $('about').title = `${run} ${file} ${info.version}`;
    $('banner').hidden = !problem;
    $('banner').textContent = problem ?? '';
    document.title = `recording · ${info.rig}`;
  }
}
