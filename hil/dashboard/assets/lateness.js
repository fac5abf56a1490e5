// How late the ticks were: histogram with logarithmic counts, the figures beside it, and what was missed and why.
import { sheet, ink, caption } from './paper.js';
import { count, eng } from './format.js';

const micro = (v) => (Number.isFinite(v) ? (v < 10 ? v.toFixed(1) : count(v)) : '–');

// keys of the health report that count something that should not have happened
const losses = /^(skipped|catch_up|trips|core_restarts)$|overrun|drop|lost|gap|crc|error|unconfirmed|resync/;

export class Lateness {
  constructor() {
    this.canvas = document.getElementById('lateness');
    this.counters = document.getElementById('counters');
    this.list = document.getElementById('health');
    this.health = null;
  }

  update(h) {
    this.health = h;
    for (const what of ['late', 'busy']) for (const q of ['p50', 'p99', 'max']) document.getElementById(`${what}_${q}`).textContent = micro(h[`${what}_${q}_us`]);
    this.count(h);
    this.all(h);
    this.draw();
  }

  // count names everything that was missed, by cause; silence means nothing was.
  count(h) {
    const parts = [];
    for (const [key, v] of Object.entries(h)) {
      if (!(v > 0) || key.startsWith('flag') || !losses.test(key)) continue;
      const item = document.createElement('span');
      item.className = 'bad';
      item.textContent = `${key.replaceAll('_', ' ')} ${count(v)}`;
      parts.push(item);
    }
    if (parts.length) this.counters.replaceChildren(...parts);
    else this.counters.textContent = 'no overruns, no skipped ticks, nothing dropped';
  }

  all(h) {
    const cells = [];
    for (const [key, v] of Object.entries(h)) {
      if (Array.isArray(v) || key === 'timestamp') continue;
      const dt = document.createElement('dt'), dd = document.createElement('dd');
      dt.textContent = key;
      dd.textContent = typeof v === 'number' ? (Number.isInteger(v) ? count(v) : eng(v, '', 4)) : String(v ?? '–');
      cells.push(dt, dd);
    }
    this.list.replaceChildren(...cells);
  }

  // draw: bars of equal width, since the borders are finer near zero; a count of one is still a visible bar.
  draw() {
    const page = sheet(this.canvas);
    if (!page) return;
    const { g, w, h } = page, left = 54, right = w - 8, top = 6, bottom = h - 32;
    const edges = this.health?.late_edges_us, counts = this.health?.late_counts;
    g.fillStyle = ink('muted');
    if (!Array.isArray(edges) || !Array.isArray(counts) || counts.length < 1 || edges.length < 1) {
      g.textAlign = 'center';
      g.fillText('waiting for the first report', w / 2, h / 2);
      return;
    }
    // Bar i starts at lower[i]. One more count than borders: the first bar is everything below the first border.
    const lower = counts.length > edges.length ? [null, ...edges] : edges;
    const decades = Math.max(1, Math.ceil(Math.log10(Math.max(1, ...counts) + 1)));
    const Y = (c) => bottom - ((Math.log10(c) + 0.3) / (decades + 0.3)) * (bottom - top);
    const width = (right - left) / counts.length;

    g.textBaseline = 'middle';
    g.textAlign = 'right';
    for (let d = 0; d <= decades; d++) {
      const y = Math.round(Y(10 ** d)) + 0.5;
      g.strokeStyle = ink('grid');
      g.beginPath();
      g.moveTo(left, y);
      g.lineTo(right, y);
      g.stroke();
      if (decades < 6 || d % 2 === 0) g.fillText(d < 4 ? String(10 ** d) : '10' + '⁰¹²³⁴⁵⁶⁷⁸⁹'[d], left - 4, y);
    }
    counts.forEach((c, i) => {
      if (!(c > 0)) return;
      const start = lower[i] ?? 0;
      g.fillStyle = start >= 1000 ? ink('bad') : start >= 100 ? ink('warn') : ink('good');
      g.fillRect(left + i * width + 0.5, Y(c), Math.max(1, width - 1), bottom - Y(c));
    });
    this.borders(g, lower, left, width, bottom);
    caption(g, 'woke late by (µs)', (left + right) / 2, h - 2, 0);
    caption(g, 'ticks', 8, (top + bottom) / 2, -Math.PI / 2);
  }

  // borders writes as many border values as there is room for.
  borders(g, lower, left, width, bottom) {
    g.fillStyle = ink('muted');
    g.textAlign = 'center';
    g.textBaseline = 'top';
    let free = -Infinity;
    lower.forEach((v, i) => {
      if (v === null) return;
      const text = v >= 1000 ? `${+(v / 1000).toPrecision(3)}k` : String(+v.toPrecision(3));
      const x = left + i * width, room = g.measureText(text).width / 2 + 4;
      if (x - room < free) return;
      g.fillText(text, x, bottom + 4);
      free = x + room;
    });
  }
}
