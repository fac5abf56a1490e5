// The table of estimated parameters: value with its 95 % interval, beside the configured and, on the virtual rig, true one.
import { eng, plusMinus } from './format.js';

const known = {
  J: { words: 'inertia', unit: 'kg·m²', model: ['J'] },
  Fv: { words: 'viscous', unit: 'N·m·s/rad', model: ['Fv', 'sigma2'] },
  Fc: { words: 'Coulomb', unit: 'N·m', model: ['Fc'] },
  off: { words: 'offset', unit: 'N·m', model: ['off', 'offset'] },
};
const frozen = 4; // s without a new window while running: the estimator rests

export class Estimates {
  constructor(info) {
    this.info = info;
    this.body = document.getElementById('params');
    this.badge = document.getElementById('unexcited');
    document.getElementById('truth-head').hidden = !info.truth;
    this.units = new Map(info.channels.map((c) => [c.name, c.unit]));
    this.windows = NaN;
    this.grown = 0; // s, when the number of windows last grew
  }

  update(e, mode) {
    const names = Object.keys(e).filter((k) => `${k}_se` in e);
    names.sort((a, b) => rank(a) - rank(b));
    if (names.length) this.body.replaceChildren(...names.map((k) => this.row(k, e[k], e[`${k}_se`])));
    this.excitation(e, mode);
  }

  row(name, value, se) {
    const k = known[name] || { words: '', unit: '', model: [name] };
    const unit = this.units.get(`rls.${name}`) || k.unit;
    const half = typeof se === 'number' ? 1.96 * se : NaN;
    const tr = document.createElement('tr');
    const head = cell(tr, 'th', name, '');
    head.scope = 'row';
    if (k.words) head.append(Object.assign(document.createElement('span'), { className: 'muted', textContent: ' ' + k.words }));
    const est = cell(tr, 'td', value === null ? '–' : plusMinus(value, half, unit), 'num');
    if (isFinite(half) && half > Math.abs(value)) {
      est.classList.add('weak');
      est.title = 'the interval contains zero';
    }
    cell(tr, 'td', look(this.info.model, k.model, unit), 'num');
    if (this.info.truth) {
      const t = pick(this.info.truth, k.model), td = cell(tr, 'td', look(this.info.truth, k.model, unit), 'num');
      const judged = t !== undefined && isFinite(half) && value !== null;
      td.classList.toggle('inside', judged && Math.abs(value - t) <= half);
      td.classList.toggle('outside', judged && Math.abs(value - t) > half);
      if (judged) td.title = Math.abs(value - t) <= half ? 'inside the interval' : 'outside the interval';
    }
    return tr;
  }

  // excitation: the daemon says so, or the count of used windows stands still while the rig runs.
  excitation(e, mode) {
    const t = e.timestamp;
    if (!(e.windows <= this.windows) || mode !== 'run') this.grown = t;
    this.windows = e.windows;
    const rests = e.excited === false || e.excited === 0 || e.unexcited === true || e.unexcited === 1
      || (mode === 'run' && t - this.grown > frozen);
    this.badge.hidden = !rests;
  }
}

const rank = (k) => { const i = Object.keys(known).indexOf(k); return i < 0 ? 99 : i; };
const pick = (m, names) => m[names.find((n) => n in m)];
const look = (m, names, unit) => { const v = pick(m, names); return v === undefined ? '–' : eng(v, unit, 4); };

function cell(tr, kind, text, className) {
  const td = document.createElement(kind);
  td.textContent = text;
  td.className = className;
  tr.append(td);
  return td;
}
