// What the figures on a canvas share: they are zoomed by what is dragged across, by the wheel and by two fingers, and back by a double-click.
import { sheet, ink } from './paper.js';
import { listen, follow, sound } from './gestures.js';

export class Graph {
  // ranged() is called when it was zoomed. A graph paints itself: paint(page, chosen) gives the maps of paper.js with the ranges { x, y }; null: nothing is drawn.
  constructor(canvas, ranged) {
    this.canvas = canvas;
    this.ranged = ranged;
    this.chosen = {}; // x, y → range chosen by hand
    this.at = null; // maps and place of the newest drawing
    listen(this);
    canvas.addEventListener('pointerdown', (e) => this.select(e));
    canvas.addEventListener('dblclick', (e) => { const b = this.box(); if (b && e.clientX > b.left && e.clientY < b.bottom) this.unzoom(); });
  }

  // what gestures ask of a figure
  get area() { return this.canvas; }
  get along() { return 'x'; }
  get sides() { return { left: 'y', bottom: 'x' }; }
  box() {
    const c = this.canvas.getBoundingClientRect(), { at } = this;
    return at && new DOMRect(c.left + at.left, c.top + at.top, at.right - at.left, at.bottom - at.top);
  }
  range(scale) { return this.at.ranges[scale]; }
  setRange(scale, range) {
    if (range && !sound(range)) return;
    if (range) this.chosen[scale] = range; else delete this.chosen[scale];
    this.draw();
    this.ranged();
  }

  get zoomed() { return Object.keys(this.chosen).length > 0; }
  unzoom() {
    this.chosen = {};
    this.draw();
    this.ranged();
  }

  // select zooms what is dragged across with the mouse.
  select(down) {
    const box = this.box();
    if (down.pointerType !== 'mouse' || down.button !== 0 || !box || down.clientX < box.left || down.clientY > box.bottom) return;
    const part = (e) => [(e.clientX - box.left) / box.width, (box.bottom - e.clientY) / box.height].map((p) => Math.min(1, Math.max(0, p)));
    const from = part(down), ranges = this.at.ranges;
    down.preventDefault();
    follow((e) => { this.drag = [from, part(e)]; this.draw(); }, (e) => {
      const to = part(e);
      this.drag = null;
      [['x', 0, box.width], ['y', 1, box.height]].forEach(([scale, i, size]) => {
        const [a, b] = ranges[scale], [p, q] = [from[i], to[i]].sort((m, n) => m - n);
        if ((q - p) * size >= 8) this.setRange(scale, [a + p * (b - a), a + q * (b - a)]);
      });
      this.draw();
    });
  }

  draw() {
    const page = sheet(this.canvas);
    if (!page) return;
    this.at = this.paint(page, this.chosen);
    if (!this.drag || !this.at) return;
    const { at } = this, [[x0, y0], [x1, y1]] = this.drag, w = at.right - at.left, h = at.bottom - at.top;
    page.g.globalAlpha = 0.25;
    page.g.fillStyle = ink('c1');
    page.g.fillRect(at.left + x0 * w, at.bottom - y0 * h, (x1 - x0) * w, (y0 - y1) * h);
    page.g.globalAlpha = 1;
  }
}
