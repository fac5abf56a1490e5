// Zooming a figure: the wheel over the numbers of an axis, Shift or Ctrl and the wheel inside the figure, dragging the numbers along their axis, a
// double-click on them; two fingers spread. Pages that scroll go on scrolling under a plain wheel and under one finger.

const perNotch = 0.8; // of the range, a notch of the wheel
const apart = 40; // px between two fingers along an axis, below which they do not zoom it

// listen adds the gestures to a figure. It has area, the element; box(), where its curves are drawn, in px of the window, or null; sides, the scales
// whose numbers stand at its left, right and bottom, undefined where none do or they cannot be dragged; along, the scale to the right; range(scale), the present one; setRange(scale, range), null: automatic.
export function listen(figure) {
  const { area } = figure;
  area.addEventListener('wheel', (e) => wheel(figure, e), { passive: false });
  area.addEventListener('dblclick', (e) => {
    const scale = axisAt(figure, e);
    if (scale) figure.setRange(scale, null);
  });
  area.addEventListener('pointerdown', (e) => {
    const scale = e.pointerType === 'mouse' && e.button === 0 && axisAt(figure, e);
    if (scale) dragAxis(figure, scale, e);
  });
  fingers(figure);
}

// upright are the scales that go up, all the scales of the figure but that of the bottom.
const upright = ({ sides }) => [sides.left, sides.right].filter(Boolean);

// axisAt is the scale whose numbers lie under a point; undefined: none.
function axisAt(figure, { clientX: x, clientY: y }) {
  const box = figure.box(), { sides } = figure;
  if (!box) return undefined;
  if (y >= box.top && y <= box.bottom) return x < box.left ? sides.left : x > box.right ? sides.right : undefined;
  return y > box.bottom && x >= box.left && x <= box.right ? sides.bottom : undefined;
}

// part is the place of a point along a scale: 0 at its lower end, 1 at its upper.
function part(figure, scale, { clientX, clientY }) {
  const box = figure.box();
  return upright(figure).includes(scale) ? (box.bottom - clientY) / box.height : (clientX - box.left) / box.width;
}

const within = (box, e) => box && e.clientX >= box.left && e.clientX <= box.right && e.clientY >= box.top && e.clientY <= box.bottom;

function wheel(figure, e) {
  const axis = axisAt(figure, e);
  if (!axis && !(within(figure.box(), e) && (e.shiftKey || e.ctrlKey))) return;
  e.preventDefault();
  const turned = e.deltaY || e.deltaX; // with Shift some browsers turn it to the side
  for (const scale of axis ? [axis] : e.ctrlKey ? [...upright(figure), figure.along] : upright(figure)) { // Ctrl: time too, in all figures
    const [a, b] = figure.range(scale), at = a + part(figure, scale, e) * (b - a), k = turned < 0 ? perNotch : 1 / perNotch;
    figure.setRange(scale, [at + (a - at) * k, at + (b - at) * k]);
  }
}

// follow calls move(event) until the pointer is lifted, then done(event).
export function follow(move, done = () => {}) {
  const end = (e) => {
    removeEventListener('pointermove', move);
    removeEventListener('pointerup', end);
    removeEventListener('pointercancel', end);
    done(e);
  };
  addEventListener('pointermove', move);
  addEventListener('pointerup', end);
  addEventListener('pointercancel', end);
}

// dragAxis moves an axis with the mouse.
function dragAxis(figure, scale, down) {
  down.preventDefault();
  const [a, b] = figure.range(scale), from = part(figure, scale, down);
  follow((e) => {
    const by = (from - part(figure, scale, e)) * (b - a);
    if (by) figure.setRange(scale, [a + by, b + by]);
  });
}

// fingers: what lay under the two fingers stays under them.
function fingers(figure) {
  const down = new Map(); // id → newest event
  let begun = null; // scale → { from: the two places, range }
  const places = (scale) => [...down.values()].map((e) => part(figure, scale, e));
  figure.area.addEventListener('pointerdown', (e) => {
    if (e.pointerType !== 'touch' || !within(figure.box(), e)) return;
    down.set(e.pointerId, e);
    if (down.size !== 2) return;
    begun = new Map([...upright(figure), figure.along].map((s) => [s, { from: places(s), range: figure.range(s) }]));
  });
  figure.area.addEventListener('pointermove', (e) => {
    if (!down.has(e.pointerId)) return;
    down.set(e.pointerId, e);
    if (down.size !== 2 || !begun) return;
    const box = figure.box();
    for (const [scale, { from, range }] of begun) {
      const to = spread(from, places(scale), range, apart / (upright(figure).includes(scale) ? box.height : box.width));
      if (to) figure.setRange(scale, to);
    }
  });
  const lifted = (e) => { down.delete(e.pointerId); begun = null; };
  for (const kind of ['pointerup', 'pointercancel']) figure.area.addEventListener(kind, lifted);
}

// spread is the range of an axis after two points of it, given as parts of its length, went from one place to another; null where the points lie
// too near to each other along this axis.
function spread(from, to, [a, b], least) {
  if (Math.abs(from[1] - from[0]) < least || Math.abs(to[1] - to[0]) < least) return null;
  const [p, q] = from.map((x) => a + x * (b - a)), per = (q - p) / (to[1] - to[0]);
  const low = p - per * to[0];
  return per * (b - a) > 0 ? [low, low + per] : null; // fingers that passed each other do not mirror the figure
}

// sound tells whether a range can be drawn: numbers of 64 bits tell its ends and what lies between apart.
export function sound([a, b]) {
  const size = Math.max(Math.abs(a), Math.abs(b));
  return b - a > 1e-12 * size && b - a > 1e-15 && size < 1e15;
}
