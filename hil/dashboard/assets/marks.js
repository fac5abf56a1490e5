// Two cursors across all traces: each figure shows what every trace is at both and by how much it differs, the line of tools their times, the time
// between them and its inverse. They stand at a time before the newest row, so they stay where they are while the traces run.
import { eng } from './format.js';

const names = ['A', 'B'];

export class Marks {
  // moved() is called when a cursor has moved; view() is the window, [from, to] in s before the newest row; zero is added to times where they are written.
  constructor(view, moved, zero) {
    this.zero = zero;
    this.at = null; // [A, B], s before the newest row; null: switched off
    this.view = view;
    this.moved = moved;
    this.button = document.getElementById('marks');
    this.line = document.getElementById('marked');
    this.button.addEventListener('click', () => this.toggle());
  }

  toggle() {
    const [a, b] = this.view();
    this.at = this.at ? null : [a + (b - a) / 3, a + (2 * (b - a)) / 3];
    this.button.setAttribute('aria-pressed', String(this.at !== null));
    this.moved();
  }

  // tell writes the times; t are those of the rows at the cursors.
  tell(t) {
    let text = '';
    if (t) {
      const dt = t[1] - t[0];
      text = `A ${eng(t[0] + this.zero, 's', 4)}   B ${eng(t[1] + this.zero, 's', 4)}   Δt ${eng(dt, 's', 4)}   1/Δt ${eng(dt ? 1 / dt : NaN, 'Hz', 4)}`;
    }
    if (this.line.textContent !== text) this.line.textContent = text;
  }

  // place puts the two lines into a figure.
  place(plot) {
    const { u } = plot;
    if (!u) return;
    let lines = [...u.over.querySelectorAll('.mark')];
    if (!this.at) {
      for (const l of lines) l.remove();
      return;
    }
    if (!lines.length) {
      lines = names.map((name, i) => this.line_(plot, name, i));
      u.over.append(...lines);
    }
    const [from, to] = this.view();
    lines.forEach((l, i) => {
      const t = this.at[i];
      l.hidden = t < from || t > to;
      l.style.left = `${(100 * (t - from)) / (to - from)}%`;
      l.setAttribute('aria-valuenow', t.toFixed(4));
      l.setAttribute('aria-valuetext', eng(t + this.zero, 's', 4));
    });
  }

  // line_ is one line of a figure, which can be dragged by mouse and finger and moved by the arrow keys.
  line_(plot, name, i) {
    const line = document.createElement('div');
    line.className = 'mark';
    line.dataset.mark = name;
    line.tabIndex = 0;
    line.setAttribute('role', 'slider');
    line.setAttribute('aria-label', `cursor ${name}`);
    const to = (clientX) => {
      const over = plot.u.over.getBoundingClientRect(), [a, b] = this.view();
      this.move(i, a + ((clientX - over.left) / over.width) * (b - a));
    };
    line.addEventListener('mousedown', (e) => e.stopPropagation()); // else the figure begins to zoom
    line.addEventListener('dblclick', (e) => e.stopPropagation());
    line.addEventListener('pointerdown', (e) => {
      e.stopPropagation();
      line.setPointerCapture(e.pointerId);
      line.focus({ preventScroll: true });
    });
    line.addEventListener('pointermove', (e) => { if (line.hasPointerCapture(e.pointerId)) to(e.clientX); });
    line.addEventListener('keydown', (e) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
      if (!step) return;
      e.preventDefault();
      e.stopPropagation();
      const [a, b] = this.view();
      this.move(i, this.at[i] + ((b - a) / plot.u.over.clientWidth) * step * (e.shiftKey ? 10 : 1));
    });
    return line;
  }

  // move puts a cursor to a time within the view.
  move(i, t) {
    const [a, b] = this.view();
    this.at[i] = Math.min(b, Math.max(a, t));
    this.moved();
  }
}
