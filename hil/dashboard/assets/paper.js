// A sheet of paper for the figures that are not traces: a canvas at the resolution of the screen, ink in the colours
// of the style sheet, axes with ticks in engineering notation.
import { exponent3, unitAt, niceStep, power } from './format.js';

// ink reads a colour of the style sheet, so dark and light need no second list here.
export const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();

// sheet fits the canvas to its box and clears it; null while the box has no size.
export function sheet(canvas) {
  const box = canvas.getBoundingClientRect(), scale = window.devicePixelRatio || 1;
  const w = Math.round(box.width), h = Math.round(box.height);
  if (w < 40 || h < 40) return null;
  if (canvas.width !== Math.round(w * scale) || canvas.height !== Math.round(h * scale)) {
    canvas.width = Math.round(w * scale);
    canvas.height = Math.round(h * scale);
  }
  const g = canvas.getContext('2d');
  g.setTransform(scale, 0, 0, scale, 0, 0);
  g.clearRect(0, 0, w, h);
  g.font = '11px system-ui, sans-serif';
  return { g, w, h };
}

// axes draws a frame with linear scales and returns the maps from values to pixels.
// x, y: {min, max, unit, label}; y.decades: its values are exponents of ten, and its label has the unit.
export function axes({ g, w, h }, x, y) {
  const left = 54, right = w - 10, top = 8, bottom = h - 34;
  const X = (v) => left + ((v - x.min) / (x.max - x.min)) * (right - left);
  const Y = (v) => bottom - ((v - y.min) / (y.max - y.min)) * (bottom - top);
  const ex = exponent3(Math.max(Math.abs(x.min), Math.abs(x.max))), ey = exponent3(Math.max(Math.abs(y.min), Math.abs(y.max)));

  g.lineWidth = 1;
  g.textBaseline = 'top';
  g.textAlign = 'center';
  for (const v of ticks(x.min, x.max, (right - left) / 70)) line(g, X(v), top, X(v), bottom, v === 0 ? ink('axis') : ink('grid'), tick(v / 10 ** ex), X(v), bottom + 4);
  g.textBaseline = 'middle';
  g.textAlign = 'right';
  for (const v of ticks(y.min, y.max, (bottom - top) / 34)) {
    if (y.decades && !Number.isInteger(v)) continue;
    line(g, left, Y(v), right, Y(v), v === 0 && !y.decades ? ink('axis') : ink('grid'), y.decades ? power(v) : tick(v / 10 ** ey), left - 5, Y(v));
  }
  caption(g, `${x.label} (${unitAt(ex, x.unit) || '1'})`, (left + right) / 2, h - 3, 0);
  caption(g, y.decades ? y.label : `${y.label} (${unitAt(ey, y.unit) || '1'})`, 11, (top + bottom) / 2, -Math.PI / 2);
  return { X, Y, left, right, top, bottom };
}

function line(g, x0, y0, x1, y1, colour, text, tx, ty) {
  g.strokeStyle = colour;
  g.beginPath();
  g.moveTo(Math.round(x0) + 0.5, Math.round(y0) + 0.5);
  g.lineTo(Math.round(x1) + 0.5, Math.round(y1) + 0.5);
  g.stroke();
  g.fillStyle = ink('muted');
  g.fillText(text, tx, ty);
}

// caption writes the name of an axis.
export function caption(g, text, x, y, turn) {
  g.save();
  g.translate(x, y);
  g.rotate(turn);
  g.fillStyle = ink('muted');
  g.textAlign = 'center';
  g.textBaseline = turn ? 'middle' : 'bottom';
  g.fillText(text, 0, 0);
  g.restore();
}

const tick = (v) => String(+v.toPrecision(6)).replace('-', '−');

function ticks(min, max, n) {
  const step = niceStep((max - min) / Math.max(2, n)), out = [];
  for (let k = Math.ceil(min / step - 1e-9); k * step <= max + 1e-9 * step; k++) out.push(k === 0 ? 0 : k * step);
  return out;
}
