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

// parameters are the running estimates: value and standard error, pair by pair.
export function parameters(info) {
  const of = (role) => info.channels.filter((c) => c.block === 'estimated' && c.role === role);
  const errors = of('stderr');
  return of('parameter').map((value, i) => ({ axis: value.axis, short: short(value), value: value.name, error: errors[i].name, unit: value.unit }));
}
