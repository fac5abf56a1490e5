// What is in force: every number that may be set while the axis runs, with its limits, and the friction law of every axis. Numbers are set by
// whoever may command the rig; the page shows what the daemon says is in force, not what was typed.
import { eng } from './format.js';

const every = 1000; // ms

export class Parameters {
  // changed(models) is told the laws in force whenever they change.
  constructor(info, commands, changed) {
    this.changed = changed;
    this.commands = commands;
    this.allowed = info.commands.all;
    this.reason = info.commands.reason;
    this.panel = document.getElementById('parameters');
    this.body = document.getElementById('live');
    this.models = document.getElementById('laws');
    this.fields = new Map(); // by name
    this.gen = -1;
    this.ask();
    setInterval(() => this.ask(), every);
  }

  async ask() {
    try {
      const r = await fetch('/api/params', { signal: AbortSignal.timeout(3000) });
      if (r.ok) this.show(await r.json());
    } catch { /* the banner tells that the daemon does not answer */ }
  }

  show(p) {
    const names = Object.keys(p.params);
    this.panel.hidden = !names.length && !Object.keys(p.models).length;
    if (p.gen === this.gen) return;
    this.gen = p.gen;
    if (names.join() !== [...this.fields.keys()].join()) {
      this.fields = new Map(names.map((name) => [name, this.field(name, p.params[name])]));
      this.body.replaceChildren(...[...this.fields.values()].map((f) => f.row));
    }
    for (const [name, f] of this.fields) {
      f.inForce = p.params[name].value;
      if (document.activeElement !== f.input) f.input.value = plain(f.inForce);
    }
    this.changed(p.models);
    this.models.replaceChildren(...Object.entries(p.models).map(([axis, m]) => law(axis, m)));
  }

  // field is the row of a number. Enter sets it, Escape takes back what was typed.
  field(name, p) {
    const row = document.createElement('tr'), head = document.createElement('th'), cell = document.createElement('td'), unit = document.createElement('td');
    const input = document.createElement('input');
    head.scope = 'row';
    head.textContent = name;
    unit.className = 'unit';
    unit.textContent = p.unit;
    cell.className = 'num';
    Object.assign(input, { type: 'text', inputMode: 'decimal', disabled: !this.allowed });
    input.setAttribute('aria-label', name);
    input.dataset.param = name;
    input.title = this.allowed ? `${range(p)}; Enter sets it` : this.reason;
    const f = { row, input, inForce: p.value };
    input.addEventListener('keydown', (e) => {
      if (e.key === 'Escape') input.value = plain(f.inForce);
      if (e.key === 'Enter') this.set(name, input);
    });
    input.addEventListener('blur', () => { input.value = plain(f.inForce); });
    cell.append(input);
    row.append(head, cell, unit);
    return f;
  }

  async set(name, input) {
    const value = Number(input.value.trim().replace(',', '.').replace('−', '-'));
    if (!input.value.trim() || !Number.isFinite(value)) {
      this.commands.say('no', `${name}: “${input.value}” is no number`);
      return;
    }
    await this.commands.send('set', { set: { [name]: value } });
    this.ask();
  }
}

// law shows the friction law of an axis with its numbers.
function law(axis, m) {
  const root = document.createElement('details'), head = document.createElement('summary'), list = document.createElement('dl');
  head.textContent = `${axis}: ${m.law}${m.source === 'file' ? '' : ', handed over'}`;
  for (const [name, v] of [...Object.entries(m.params), ...Object.entries(m.motor || {})]) {
    const dt = document.createElement('dt'), dd = document.createElement('dd');
    dt.textContent = name;
    dd.textContent = eng(v, '');
    list.append(dt, dd);
  }
  root.dataset.axis = axis;
  root.append(head, list);
  return root;
}

const plain = (v) => String(Number(v.toPrecision(9)));

function range(p) {
  if (p.min === null && p.max === null) return 'any number';
  if (p.max === null) return `${p.min} ${p.unit} or more`;
  return `${p.min ?? '−∞'} to ${p.max} ${p.unit}`;
}
