// Channels of the rig by axis, block and role: no part of the page knows a name.

// axes are the names of the axes, in the order of the file; a recording of nothing but sensors has none.
export const axes = (info) => owners(info, 'axis').map((o) => o.name);

// models are the models beside the rig: name and title.
export const models = (info) => owners(info, 'model');

const owners = (info, kind) => info.owners.filter((o) => o.kind === kind);

// find is the channel with a role in a block of an axis; undefined if there is none.
export const find = (info, axis, block, role) => info.channels.find((c) => c.axis === axis && c.block === block && c.role === role);

// short is the name behind the last dot: J of shaft.rls.J.
const short = (c) => c.name.slice(c.name.lastIndexOf('.') + 1);

// derive adds the signals that the page makes of others. Where an axis is fed forward by the equations of its mechanism, the estimated friction holds gravity
// and what the other axes do to it: the feed-forward tells how much that is, since it holds besides only the inertia of the axis itself. They are
// { name, unit, needs: [names], of(values) }. forces: axis → model in force, whose inertia counts.
export function derive(info, forces) {
  const out = [];
  for (const axis of axes(info)) {
    const load = info.channels.filter((c) => c.axis === axis && c.block === 'modelled' && c.role === 'effort')[1], friction = find(info, axis, 'estimated', 'friction');
    const acceleration = find(info, axis, 'modelled', 'acceleration');
    if (!load || !friction || !acceleration) continue;
    const { J, M } = info.axes.find((a) => a.name === axis)?.model ?? {};
    const around = (fed, a) => (fed === 0 ? NaN : fed - (forces()[axis]?.motor?.J ?? J ?? M) * a); // 0: the drive is off
    const add = (name, role, needs, of) => out.push({ name: `${axis}.${name}`, unit: friction.unit, block: 'derived', owner: axis, axis, role, needs: needs.map((c) => c.name), of });
    add('gravity and coupling', 'load', [load, acceleration], around);
    add('friction alone', 'friction', [friction, load, acceleration], (f, fed, a) => f - around(fed, a));
  }
  info.channels = [...info.channels, ...out];
  return out;
}

// fill computes derived signals of a row.
export function fill(derived, row) {
  for (const d of derived) {
    const values = d.needs.map((n) => row[n]);
    row[d.name] = values.every(Number.isFinite) ? d.of(...values) : NaN;
  }
}

// frictionOf is the friction of an axis: without what else acts on it, where that is known.
export const frictionOf = (info, axis) => find(info, axis, 'derived', 'friction') ?? find(info, axis, 'estimated', 'friction');

// parameters are the running estimates: value and standard error, pair by pair.
export function parameters(info) {
  const of = (role) => info.channels.filter((c) => c.block === 'estimated' && c.role === role);
  const errors = of('stderr');
  return of('parameter').map((value, i) => ({ axis: value.axis, short: short(value), value: value.name, error: errors[i].name, unit: value.unit }));
}
