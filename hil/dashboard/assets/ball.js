// The figure of a model that follows a ball by the poses of a tracker: how the ball is turned, its path on the plane, and its rolling
// friction with the 95 % interval while it settles. Everything is drawn from the newest seconds of rows.
import { sheet, axes, ink } from './paper.js';
import { together } from './format.js';

const span = 10; // s of rows that are drawn
const buckets = 250; // points of a trace
const above = 0.45; // rad, the height from which the plane is looked at
const signals = ['x', 'y', 'z', 'qw', 'qx', 'qy', 'qz', 'roll', 'roll_se', 'reason'];

// Why there is no value, by number; docs/howto/ball-filter.md has the whole sentences.
export const reasons = ['', 'waiting for frames', 'learning', 'too slow to begin', 'too fast for the frames', 'the contact slips', 'more tangential force than the contact has',
  'the normal force is not above zero', 'the poses contradict the model', 'settling after a doubt'];

// isBall tells whether the signals of a model are those of a ball.
export const isBall = (owner, channels) => signals.every((s) => channels.some((c) => c.name === `${owner.name}.${s}`));

export class Ball {
  constructor(owner, channels) {
    this.name = (s) => `${owner.name}.${s}`;
    this.unit = channels.find((c) => c.name === this.name('roll')).unit;
    this.canvas = ['orientation', 'path', 'friction'].map((what) => Object.assign(document.createElement('canvas'), { className: what }));
    const labels = ['orientation of the ball: its three axes, seen from above the plane', 'path of the centre on the plane', 'rolling friction over time, with its 95 % interval'];
    this.canvas.forEach((c, i) => { c.setAttribute('role', 'img'); c.setAttribute('aria-label', labels[i]); });
    this.says = Object.assign(document.createElement('p'), { className: 'says' });
    this.says.append('rolling friction ', (this.value = document.createElement('b')), ' ', (this.why = Object.assign(document.createElement('span'), { className: 'tag' })));
    const figures = Object.assign(document.createElement('div'), { className: 'figures' });
    figures.append(...this.canvas);
    this.root = Object.assign(document.createElement('div'), { className: 'ball' });
    this.root.append(this.says, figures);
  }

  // values writes the numbers.
  values(rows) {
    const [v, se, reason] = ['roll', 'roll_se', 'reason'].map((s) => rows.newest(this.name(s)));
    const { texts, half, unit } = together([v], 1.96 * se, this.unit);
    const text = half ? `${texts[0]} ± ${half} ${unit}` : '–';
    if (this.value.textContent !== text) this.value.textContent = text;
    const why = reason > 0 ? reasons[reason] ?? `reason ${reason}` : '';
    if (this.why.textContent !== why) this.why.textContent = why;
    this.why.hidden = !why;
  }

  draw(rows) {
    const [turned, path, friction] = this.canvas.map(sheet);
    if (turned) this.drawBall(turned, rows);
    const t1 = rows.last, list = ['x', 'y', 'roll', 'roll_se'].map(this.name);
    const { x: t, ys: [x, y, roll, se] } = rows.view(list, t1 - span, t1, buckets, t1);
    if (path) this.drawPath(path, x, y, rows.newest(this.name('z')));
    if (friction) this.drawFriction(friction, t, roll, se);
  }

  // drawBall: three great circles in the planes of the body's axes, what is behind them fainter, and the ends of the axes.
  drawBall({ g, w, h }, rows) {
    const q = ['qw', 'qx', 'qy', 'qz'].map((s) => rows.newest(this.name(s)));
    const r = Math.min(w, h) / 2 - 16, cx = w / 2, cy = h / 2 - 4;
    g.fillStyle = ink('grid');
    ellipse(g, cx, cy + r * Math.cos(above), 0.6 * r, 0.6 * r * Math.sin(above)); // where it stands
    g.fill();
    g.fillStyle = ink('raised');
    ellipse(g, cx, cy, r, r);
    g.fill();
    g.strokeStyle = ink('axis');
    g.lineWidth = 1;
    g.stroke();
    if (!q.every(Number.isFinite)) return;
    const c = Math.cos(above), s = Math.sin(above);
    const see = (b) => { // right, up, towards the eye
      const [x, y, z] = turn(q, b);
      return [cx + r * x, cy - r * (s * y + c * z), s * z - c * y];
    };
    for (const front of [false, true]) {
      g.globalAlpha = front ? 1 : 0.25;
      for (let k = 0; k < 3; k++) {
        g.strokeStyle = ink(`c${k + 1}`);
        g.lineWidth = 2;
        g.beginPath();
        let on = false;
        for (let i = 0; i <= 90; i++) {
          const a = (i * Math.PI) / 45, b = [0, 0, 0];
          b[(k + 1) % 3] = Math.cos(a);
          b[(k + 2) % 3] = Math.sin(a);
          const [px, py, depth] = see(b);
          if (depth >= 0 !== front) { on = false; continue; }
          if (on) g.lineTo(px, py); else g.moveTo(px, py);
          on = true;
        }
        g.stroke();
        const end = [0, 0, 0];
        end[k] = 1;
        const [px, py, depth] = see(end);
        if (depth >= 0 !== front) continue;
        g.fillStyle = ink(`c${k + 1}`);
        ellipse(g, px, py, 9, 9);
        g.fill();
        g.fillStyle = ink('ground');
        g.font = '700 11px system-ui, sans-serif';
        g.textAlign = 'center';
        g.textBaseline = 'middle';
        g.fillText('xyz'[k], px, py);
      }
    }
    g.globalAlpha = 1;
  }

  // drawPath has one scale for both directions, and the ball at its size.
  drawPath(page, x, y, radius) {
    const known = x.map((v, i) => [v, y[i]]).filter(([a, b]) => a !== null && b !== null);
    if (!known.length) return;
    const R = radius > 0 ? radius : 0;
    const range = (k) => {
      const all = known.map((p) => p[k]);
      return [Math.min(...all), Math.max(...all)];
    };
    const [x0, x1] = range(0), [y0, y1] = range(1), { w, h } = page;
    const scale = Math.max((x1 - x0 + 2.4 * R) / (w - 64), (y1 - y0 + 2.4 * R) / (h - 42), 1e-6); // m per pixel, by the frame of axes()
    const about = (a, b, pixels) => ({ min: (a + b) / 2 - (scale * pixels) / 2, max: (a + b) / 2 + (scale * pixels) / 2, unit: 'm' });
    const at = axes(page, { ...about(x0, x1, w - 64), label: 'x' }, { ...about(y0, y1, h - 42), label: 'y' }), g = page.g;
    g.strokeStyle = ink('c1');
    g.lineWidth = 1.5;
    g.beginPath();
    let last = null;
    for (let i = 0; i < x.length; i++) {
      const p = x[i] === null || y[i] === null ? null : [x[i], y[i]];
      if (p && last && Math.hypot(p[0] - last[0], p[1] - last[1]) < Math.max(R, 1e-3)) g.lineTo(at.X(p[0]), at.Y(p[1]));
      else if (p) g.moveTo(at.X(p[0]), at.Y(p[1])); // it was carried
      last = p;
    }
    g.stroke();
    const [px, py] = known.at(-1);
    g.strokeStyle = ink('text');
    g.lineWidth = 1;
    ellipse(g, at.X(px), at.Y(py), R / scale, R / scale);
    g.stroke();
    g.fillStyle = ink('c1');
    ellipse(g, at.X(px), at.Y(py), 3.5, 3.5);
    g.fill();
  }

  // drawFriction is scaled to what is known within a few percent.
  drawFriction(page, t, roll, se) {
    const known = roll.map((v, i) => (v !== null && se[i] > 0 ? i : -1)).filter((i) => i >= 0);
    if (!known.length) return;
    const now = known.at(-1), centre = roll[now];
    let half = Math.max(6 * se[now], 0.002 * Math.abs(centre));
    for (const i of known) if (se[i] < 0.01 * Math.abs(centre)) half = Math.max(half, 1.1 * Math.abs(roll[i] - centre) + 2 * se[i]);
    const at = axes(page, { min: -span, max: 0, unit: 's', label: 'time' }, { min: centre - half, max: centre + half, unit: this.unit, label: 'rolling' }), g = page.g;
    g.save();
    g.beginPath();
    g.rect(at.left, at.top, at.right - at.left, at.bottom - at.top);
    g.clip();
    for (const piece of pieces(known)) {
      g.fillStyle = ink('c3');
      g.globalAlpha = 0.25;
      g.beginPath();
      piece.forEach((i) => g.lineTo(at.X(t[i]), at.Y(roll[i] + 1.96 * se[i])));
      piece.toReversed().forEach((i) => g.lineTo(at.X(t[i]), at.Y(roll[i] - 1.96 * se[i])));
      g.fill();
      g.globalAlpha = 1;
      g.strokeStyle = ink('c3');
      g.lineWidth = 2;
      g.beginPath();
      piece.forEach((i) => g.lineTo(at.X(t[i]), at.Y(roll[i])));
      g.stroke();
    }
    g.restore();
  }
}

// pieces cuts rising numbers where one is missing.
function pieces(list) {
  const out = [];
  for (const i of list) {
    if (out.length && out.at(-1).at(-1) === i - 1) out.at(-1).push(i); else out.push([i]);
  }
  return out;
}

// turn is q·b·q*.
function turn([w, x, y, z], [a, b, c]) {
  const tx = 2 * (y * c - z * b), ty = 2 * (z * a - x * c), tz = 2 * (x * b - y * a);
  return [a + w * tx + y * tz - z * ty, b + w * ty + z * tx - x * tz, c + w * tz + x * ty - y * tx];
}

function ellipse(g, x, y, a, b) {
  g.beginPath();
  g.ellipse(x, y, a, b, 0, 0, 2 * Math.PI);
}
