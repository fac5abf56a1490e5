// Zooming the y axes of a figure: the wheel over the numbers of an axis, Shift or Ctrl and the wheel inside the figure, dragging the
// numbers up and down, a double-click on them; two fingers spread, which zooms time too. Pages that scroll go on scrolling under a plain
// wheel and under one finger.

const perNotch = 0.8; // of the range, a notch of the wheel
const apart = 40; // px between two fingers along an axis, below which they do not zoom it

// listen adds the gestures to a Plot. It has u, its uPlot, made anew now and then; range(scale), its present range; setRange(scale, range),
// null: automatic; setTime(from, to).
export function listen(plot) {
  const { area } = plot;
  area.addEventListener('wheel', (e) => wheel(plot, e), { passive: false });
  area.addEventListener('dblclick', (e) => {
    const scale = axisAt(plot, e);
    if (scale) plot.setRange(scale, null);
  });
  area.addEventListener('pointerdown', (e) => {
    const scale = e.pointerType === 'mouse' && e.button === 0 && axisAt(plot, e);
    if (scale) dragAxis(plot, scale, e);
  });
  fingers(plot);
}

// axisAt is the scale whose numbers lie under a point; undefined: none.
function axisAt({ u }, { clientX, clientY }) {
  if (!u) return undefined;
  const over = u.over.getBoundingClientRect();
  if (clientY < over.top || clientY > over.bottom) return undefined;
  return clientX < over.left ? 'y' : clientX > over.right && u.scales.y2 ? 'y2' : undefined;
}

function wheel(plot, e) {
  if (!plot.u) return;
  const axis = axisAt(plot, e), inside = plot.u.over.contains(e.target);
  if (!axis && !(inside && (e.shiftKey || e.ctrlKey))) return;
  e.preventDefault();
  const turned = e.deltaY || e.deltaX; // with Shift some browsers turn it to the side
  const over = plot.u.over.getBoundingClientRect(), up = (over.bottom - e.clientY) / over.height;
  for (const scale of axis ? [axis] : scales(plot)) {
    const [a, b] = plot.range(scale), at = a + up * (b - a), k = turned < 0 ? perNotch : 1 / perNotch;
    plot.setRange(scale, [at + (a - at) * k, at + (b - at) * k]);
  }
}

const scales = ({ u }) => Object.keys(u.scales).filter((s) => s !== 'x');

// dragAxis moves an axis with the mouse.
function dragAxis(plot, scale, down) {
  down.preventDefault();
  const [a, b] = plot.range(scale), per = (b - a) / plot.u.over.clientHeight;
  const move = (e) => {
    const by = (e.clientY - down.clientY) * per;
    if (by) plot.setRange(scale, [a + by, b + by]);
  };
  const up = () => {
    removeEventListener('pointermove', move);
    removeEventListener('pointerup', up);
    removeEventListener('pointercancel', up);
  };
  addEventListener('pointermove', move);
  addEventListener('pointerup', up);
  addEventListener('pointercancel', up);
}

// fingers: what lay under the two fingers stays under them.
function fingers(plot) {
  const down = new Map(); // id → [x, y] in px from the upper left corner of the figure
  let begun = null; // { at: the two points, time: [from, to], ranges: scale → range }
  const place = (e) => {
    const over = plot.u.over.getBoundingClientRect();
    return [e.clientX - over.left, e.clientY - over.top];
  };
  const inside = (e) => e.pointerType === 'touch' && plot.u?.over.contains(e.target);
  plot.area.addEventListener('pointerdown', (e) => {
    if (!inside(e)) return;
    down.set(e.pointerId, place(e));
    if (down.size === 2) begun = { at: [...down.values()], time: plot.view, ranges: Object.fromEntries(scales(plot).map((s) => [s, plot.range(s)])) };
  });
  plot.area.addEventListener('pointermove', (e) => {
    if (!down.has(e.pointerId) || !plot.u) return;
    down.set(e.pointerId, place(e));
    if (down.size !== 2 || !begun) return;
    const now = [...down.values()], { clientWidth: w, clientHeight: h } = plot.u.over;
    const along = (i, size, range) => spread(begun.at.map((p) => p[i] / size), now.map((p) => p[i] / size), range, apart / size);
    const up = (points) => points.map(([x, y]) => [x, h - y]);
    const time = along(0, w, begun.time);
    if (time) plot.setTime(...time);
    for (const [scale, range] of Object.entries(begun.ranges)) {
      const to = spread(up(begun.at).map((p) => p[1] / h), up(now).map((p) => p[1] / h), range, apart / h);
      if (to) plot.setRange(scale, to);
    }
  });
  const lifted = (e) => { down.delete(e.pointerId); begun = null; };
  for (const kind of ['pointerup', 'pointercancel']) plot.area.addEventListener(kind, lifted);
}

// spread is the range of an axis after two points of it, given as parts of its length, went from one place to another; null where the points lie
// too near to each other along this axis.
export function spread(from, to, [a, b], least) {
  if (Math.abs(from[1] - from[0]) < least || Math.abs(to[1] - to[0]) < least) return null;
  const [p, q] = from.map((x) => a + x * (b - a)), per = (q - p) / (to[1] - to[0]);
  const low = p - per * to[0];
  return per * (b - a) > 0 ? [low, low + per] : null; // fingers that passed each other do not mirror the figure
}
