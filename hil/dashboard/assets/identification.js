// Identification beside the loop: choose what is fitted, watch it, compare the new parameters with those in force, accept them or go back.
// The daemon decides; the page asks it, and shows what it says.
import { eng, together, count, seconds } from './format.js';

const $ = (id) => document.getElementById(`ident-${id}`);
// runs tells whether something runs, or will run again.
const runs = (s) => Boolean(s) && (s.state === 'waiting' || s.state === 'running' || (s.every_s > 0 && s.state !== 'idle'));

export class Identification {
  // curve draws each result; commands carries what is asked.
  constructor(info, commands, curve) {
    this.info = info;
    this.commands = commands;
    this.curve = curve;
    this.panel = document.getElementById('identification');
    this.state = null;
    this.result = null;
    this.inForce = {}; // axis → { law, params, motor, source }
    this.drawn = new Set(); // ids of the results whose curves are drawn
    this.results = []; // all, the newest first
    this.isLive = false;

    $('axis').append(...info.axes.map((a) => new Option(a.name)));
    $('axis').closest('label').hidden = info.axes.length < 2;
    $('law').append(new Option('default', ''), ...info.laws.map((l) => new Option(l.name)));
    $('axis').addEventListener('change', () => this.buttons());
    $('start').addEventListener('click', () => this.start());
    $('cancel').addEventListener('click', () => this.ask('cancel'));
    $('accept').addEventListener('click', () => this.ask('accept', { accept: this.result.id }));
    $('rollback').addEventListener('click', () => this.ask('rollback'));
    $('keep').addEventListener('click', () => this.ask('keep'));
    $('results').addEventListener('change', () => this.look(this.results[$('results').selectedIndex]));
    this.buttons();
  }

  // status takes the topic identify/status.
  status(s) {
    if (!s) return;
    this.state = s;
    this.panel.hidden = !this.info.axes.length; // inertia and friction are those of an axis
    $('state').textContent = s.state;
    $('state').dataset.state = s.state;
    const running = runs(s), part = s.of > 0 ? s.step / s.of : NaN;
    $('bar').style.width = `${100 * Math.min(1, Math.max(0, part)) || 0}%`;
    $('what').textContent = s.way ? [s.axis, s.way, s.law].filter(Boolean).join(' · ') : 'no fit yet';
    $('progress').textContent = running || s.state === 'done'
      ? [s.method, s.phase, s.of > 0 ? `${count(s.step)} of ${count(s.of)}` : '', Number.isFinite(s.best) ? `best ${eng(s.best, s.unit, 4)}` : ''].filter(Boolean).join(' · ') || '–' : '';
    $('reason').textContent = s.reason || '';
    this.buttons();
  }

  // live is told whether rows come.
  live(on) {
    this.isLive = on;
    this.buttons();
  }

  // kept takes the results of a recording, the newest first.
  kept(results) {
    this.panel.hidden = !results.length;
    for (const r of results.toReversed()) this.found(r);
  }

  // found takes the topic identify/result; null: there is none yet.
  found(r) {
    if (r) {
      const i = this.results.findIndex((o) => o.id === r.id);
      if (i < 0) this.results.unshift(r); else this.results[i] = r;
      $('results').replaceChildren(...this.results.map((o) => new Option(`${o.id} ${o.axis} ${o.law}: ${o.verdict}${o.accepted ? ', accepted' : ''}`)));
    }
    $('results').hidden = this.results.length < 2;
    this.newest = r;
    this.look(r);
  }

  // look shows a result.
  look(r) {
    this.result = r;
    $('results').selectedIndex = this.results.indexOf(r);
    $('verdict').textContent = r ? [r.verdict, r.axis, r.law, r.way, r.accepted ? 'accepted' : ''].filter(Boolean).join(' · ') : '';
    $('verdict').dataset.verdict = r?.verdict ?? '';
    const fits = r ? [['fit', r.fit_percent], ['validation', r.validation_percent]].filter(([, x]) => Number.isFinite(x)).map(([what, x]) => `${what} ${x.toFixed(1)}\u202f%`) : [];
    if (r?.record) fits.push(`from ${r.record.from_s?.toFixed(1)} to ${r.record.to_s?.toFixed(1)} s, ${count(r.record.rows)} rows`);
    $('fit').textContent = fits.join(' · ');
    const left = r?.left_out?.length ? [`the law has no place for ${r.left_out.join(', ')}`] : [];
    $('reasons').replaceChildren(...[...(r?.reasons || []).map((x) => x.text), ...left].map((text) => Object.assign(document.createElement('li'), { textContent: text })));
    $('refusal').textContent = r && !r.acceptable && !this.info.recording ? `cannot be accepted: ${r.refusal || 'the daemon does not say why'}` : '';
    $('repeat').hidden = !r?.command;
    $('command').textContent = r?.command || '';
    this.table();
    this.buttons();
    this.draw();
  }

  // forces takes what is in force, from /api/params.
  forces(models) {
    this.inForce = models;
    for (const [axis, m] of Object.entries(models)) this.curve.inForce(axis, m.source === 'file' ? null : m);
    this.table();
    this.buttons();
  }

  get axis() { return $('axis').value || this.info.axes[0]?.name; }

  buttons() {
    const { all, reason } = this.info.commands, running = runs(this.state), source = this.inForce[this.result?.axis ?? this.axis]?.source;
    const set = (name, can, why) => {
      $(name).disabled = !all || !can;
      $(name).title = !all ? reason : can ? '' : why;
    };
    set('start', this.isLive && this.state && !running, !this.isLive ? 'no rows come from the rig' : running ? 'one runs already; cancel it first' : 'the daemon has not said yet that it can');
    set('cancel', running, 'nothing runs');
    const r = this.result;
    const old = r !== this.newest && 'only the newest result can be put in force';
    set('accept', this.isLive && !old && r?.acceptable && !r.accepted, !r ? 'there is no result yet' : old || (r.accepted ? 'it is in force' : r.refusal || 'no rows come from the rig'));
    set('keep', !old && r?.accepted, 'only a result that was accepted and is in force can be written into the rig file');
    set('rollback', source && source !== 'file', 'what is in force is that of the file');
    for (const name of ['axis', 'way', 'law', 'window', 'every']) $(name).disabled = !all;
  }

  start() {
    const body = { axis: this.axis, way: $('way').value, law: $('law').value };
    for (const [name, key] of [['window', 'window_s'], ['every', 'every_s']]) {
      const text = $(name).value.trim(), x = text || name === 'window' ? seconds(text) : 0;
      if (!Number.isFinite(x) || (name === 'window' && !(x > 0))) {
        this.say(false, `${name}: “${text}”, want ${name === 'window' ? 'a time above 0, such as 20 or 1m30s' : 'a time such as 90 or 1m30s, or nothing for once'}`);
        return;
      }
      body[key] = x;
    }
    this.ask('identify', { identify: body });
  }

  async ask(name, body) {
    const reply = await this.commands.send(name, body);
    this.say(reply.ok, reply.text ?? (reply.ok ? '' : reply.error));
  }

  // say shows what the daemon answered, where the finger is.
  say(ok, text) {
    $('answer').textContent = text;
    $('answer').classList.toggle('bad', !ok);
  }

  // table sets the new parameters beside those in force.
  table() {
    const r = this.result, m = r && this.inForce[r.axis];
    const file = this.info.axes.find((a) => a.name === r?.axis)?.model ?? {};
    const rows = (r?.parameters ?? []).map((p) => row(p, m && inForce(p.name, m, file)));
    // what is in force or follows from the result, and it does not speak of
    const named = new Set((r?.parameters ?? []).map((p) => p.name));
    const rest = { ...(m?.params ?? {}), ...(r?.model?.params ?? {}) };
    for (const name of Object.keys(rest)) if (!named.has(name)) rows.push(row({ name, unit: this.unit(name, r.axis, [r.law, m?.law]), value: r.model?.params[name] ?? null }, m?.params[name]));
    $('old').textContent = m ? `in force: ${m.law}` : 'in force';
    $('new').textContent = r ? `identified: ${r.law}` : 'identified';
    $('rows').replaceChildren(...rows);
    $('table').hidden = !rows.length;
  }

  // unit is that of a parameter of one of some laws on an axis.
  unit(name, axis, laws) {
    const rotary = 'J' in (this.info.axes.find((a) => a.name === axis)?.model ?? {});
    const p = this.info.laws.filter((l) => laws.includes(l.name)).flatMap((l) => l.parameters).find((q) => q.name === name.replace(/Backward$/, ''));
    return p ? (rotary ? p.rotary : p.linear) : '';
  }

  // draw puts the curve of a new result into the figure.
  draw() {
    const r = this.result;
    if (!r?.model || this.drawn.has(r.id)) return;
    this.drawn.add(r.id);
    this.curve.found(r.axis, r.model);
  }
}

// inForce is what a model has for a parameter of a result, whose names may be those of a direction or of another law; file: inertia of the file.
function inForce(name, { params, motor }, file) {
  if (name === 'J' || name === 'M') return motor?.J ?? file[name];
  const base = name.replace(/[+-]$/, ''), own = params[base] ?? (base === 'Fv' ? params.sigma2 : undefined);
  return name.endsWith('-') ? params[base + 'Backward'] ?? own : own;
}

// small is a second line of a cell.
const small = (textContent, className) => Object.assign(document.createElement('small'), { textContent, className: `muted ${className}` });

// row is one parameter: in force, identified ± 95 %, interval, unit; what it was judged below its name.
function row(p, old) {
  const half = p.ci95 ? (p.ci95[1] - p.ci95[0]) / 2 : Number.isFinite(p.se) ? 1.96 * p.se : NaN;
  const { texts, half: around, unit } = together([p.value ?? NaN, old ?? NaN, ...(p.ci95 ?? [])], half, p.unit);
  const tr = document.createElement('tr');
  const cell = (kind, text, className) => {
    const e = Object.assign(document.createElement(kind), { textContent: text, className });
    tr.append(e);
    return e;
  };
  const head = cell('th', p.name, '');
  head.scope = 'row';
  if (p.judgement) head.append(small(p.judgement, p.judgement.replaceAll(' ', '-')));
  cell('td', texts[1], 'num');
  const interval = p.ci95 ? `${texts[2]} … ${texts[3]}` : '–';
  cell('td', around ? `${texts[0]} ± ${around}` : texts[0], 'num').append(small(p.ci95 ? interval : '', 'narrow'));
  cell('td', interval, 'num wide');
  cell('td', unit, 'unit');
  if (p.ci95 && Number.isFinite(old) && (old < p.ci95[0] || old > p.ci95[1])) tr.classList.add('moved');
  return tr;
}
