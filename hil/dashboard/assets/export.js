// What is seen, as a file: the rows of the window with the signals that are drawn as CSV, the figures as PNG.
import { ink } from './paper.js';
import { count } from './format.js';
import { most } from './history.js';

const longest = 600000; // rows of a file

export class Export {
  constructor(info, traces, say) {
    this.info = info;
    this.traces = traces;
    this.say = say;
    document.getElementById('csv').addEventListener('click', () => this.guarded('CSV', () => this.csv()));
    document.getElementById('png').addEventListener('click', () => this.guarded('PNG', () => this.png()));
  }

  async guarded(what, make) {
    try {
      this.say('', `${what} …`);
      this.say('yes', `${what}: ${await make()}`);
    } catch (err) {
      this.say('no', `${what}: not written: ${err.message}`);
    }
  }

  // csv: the first line holds the names, the second the units behind "# ", as in a file of hil export.
  async csv() {
    const { source, view, history } = this.traces;
    if (!source.n) throw new Error('no rows yet');
    const names = [...new Set(this.traces.plots.flatMap((p) => p.names))], unit = new Map(this.info.channels.map((c) => [c.name, c.unit]));
    const from = source.last + view[0], to = source.last + view[1];
    const lines = [['timestamp', 'seq', ...names].map(quote).join(','), ['# s', '', ...names.map((n) => unit.get(n) ?? 'us')].map(quote).join(',')];
    const add = (stamp, seq, values) => lines.push([stamp.toFixed(6), seq, ...values.map((v) => (Number.isFinite(v) ? String(v) : 'NaN'))].join(','));

    // from the recording, piece by piece and whole; what is not on file yet, and all of a run without a recording, is what the page holds
    let until = -Infinity; // s since 1970, end of what was read
    if (history.longest) {
      const end = source.base + to, piece = Math.min(history.longest, (0.9 * most) / this.info.rate_hz), signals = names.filter((n) => unit.has(n));
      for (let start = Math.max(source.base + from, history.oldest); start < end; start += piece) {
        const got = await history.read(start, Math.min(start + piece, end), signals, most);
        if (got.thinned) throw new Error(`more rows in ${piece.toFixed(1)} s than can be fetched; use hil export --from --to`);
        got.t.forEach((t, i) => { if (got.seq[i] && t > until + 1e-7) { add(t, got.seq[i], names.map((n) => got.columns[n]?.[i] ?? NaN)); until = t; } });
        if (lines.length > longest) throw new Error(`more than ${count(longest)} rows. Choose a shorter window, or use hil export --from --to`);
        if (start + piece > got.last) break;
      }
    }
    const seq = source.columns.get('seq'), columns = names.map((n) => source.columns.get(n));
    for (let i = source.at(Math.max(from, until - source.base + 0.5 / this.info.rate_hz)); i < source.n && source.t[i] <= to; i++) {
      if (seq[i] >= 0) add(source.base + source.t[i], seq[i], columns.map((c) => (c ? c[i] : NaN))); // else the mark of a gap
    }
    if (lines.length === 2) throw new Error('no rows in this window');
    save(new Blob([lines.join('\n') + '\n'], { type: 'text/csv' }), this.name('csv'));
    return `${count(lines.length - 2)} rows, ${names.length + 2} columns`;
  }

  // png draws the figures as they stand on the page, with their captions and cursors.
  async png() {
    const { traces } = this, scale = Math.max(2, window.devicePixelRatio || 1), head = 26;
    const all = document.getElementById('plots').getBoundingClientRect(), boxes = traces.plots.filter((p) => p.canvas).map((p) => [p, p.root.getBoundingClientRect()]);
    const bottom = Math.max(...boxes.map(([, b]) => b.bottom)), canvas = document.createElement('canvas');
    canvas.width = Math.round(all.width * scale);
    canvas.height = Math.round((bottom - all.top + head) * scale);
    const g = canvas.getContext('2d');
    g.scale(scale, scale);
    g.fillStyle = ink('ground');
    g.fillRect(0, 0, all.width, canvas.height);
    g.textBaseline = 'middle';
    g.fillStyle = ink('text');
    g.font = '600 13px system-ui, sans-serif';
    g.fillText(this.info.rig, 8, head / 2);
    g.font = '12px system-ui, sans-serif';
    g.fillStyle = ink('muted');
    g.textAlign = 'right';
    g.fillText(`${document.getElementById('marked').textContent}   0 s is ${new Date((this.end() - this.traces.zero) * 1000).toISOString()}`, all.width - 8, head / 2);
    g.textAlign = 'left';
    for (const [plot, box] of boxes) figure(g, plot, box, box.left - all.left, box.top - all.top + head);
    const blob = await new Promise((done) => canvas.toBlob(done, 'image/png'));
    if (!blob) throw new Error('this browser cannot make a picture of that size');
    save(blob, this.name('png'));
    return `${canvas.width} × ${canvas.height} pixels`;
  }

  // end is the time of the right edge before zooming, s since 1970.
  end() { return this.traces.end; }

  name(ending) {
    const t = this.end() + this.traces.view[1];
    return `${this.info.rig}-${new Date(t * 1000).toISOString().slice(0, 23).replace(/[:.]/g, '-')}.${ending}`;
  }
}

function figure(g, plot, box, x, y) {
  g.fillStyle = ink('panel');
  g.fillRect(x, y, box.width, box.height);
  // captions where they stand on the page
  for (const part of plot.caption.querySelectorAll('h2, .trace, select')) {
    const at = part.getBoundingClientRect(), left = x + at.left - box.left, middle = y + at.top - box.top + at.height / 2;
    const bold = part.tagName === 'H2';
    g.font = `${bold ? '650 13px' : '11.5px'} system-ui, "DejaVu Sans", sans-serif`;
    g.fillStyle = ink(bold ? 'text' : 'muted');
    if (part.tagName === 'SELECT') { g.fillText(part.selectedOptions[0]?.text ?? '', left, middle, at.width); continue; }
    const trace = plot.spec.series.find((s) => part.contains(s.cell));
    if (!trace) { g.fillText(part.textContent, left, middle); continue; }
    g.strokeStyle = ink(trace.colour);
    g.lineWidth = 2.5;
    g.setLineDash(trace.dash || []);
    g.beginPath();
    g.moveTo(left, middle);
    g.lineTo(left + 14, middle);
    g.stroke();
    g.setLineDash([]);
    g.fillText(part.textContent, left + 18, middle, at.width);
  }
  const { canvas } = plot, at = canvas.getBoundingClientRect();
  g.drawImage(canvas, x + at.left - box.left, y + at.top - box.top, at.width, at.height);
  for (const mark of plot.u?.over.querySelectorAll('.mark:not([hidden])') ?? []) {
    const m = mark.getBoundingClientRect(), middle = x + m.left - box.left + m.width / 2, top = y + m.top - box.top;
    g.fillStyle = ink('text');
    g.fillRect(middle - 0.75, top, 1.5, m.height);
    g.fillRect(middle - 6, top, 12, 13);
    g.fillStyle = ink('ground');
    g.font = '700 10px system-ui, sans-serif';
    g.textAlign = 'center';
    g.fillText(mark.dataset.mark, middle, top + 7);
    g.textAlign = 'left';
  }
}

const quote = (s) => (/[",\n]/.test(s) ? `"${s.replaceAll('"', '""')}"` : s);

function save(blob, name) {
  const a = document.createElement('a');
  a.href = URL.createObjectURL(blob);
  a.download = name;
  document.body.append(a);
  a.click();
  a.remove();
  setTimeout(() => URL.revokeObjectURL(a.href), 10000);
}
