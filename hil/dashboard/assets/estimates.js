// The table of estimated parameters: value with its 95 % interval, beside the configured and, on the virtual rig, true one.
import { together } from './format.js';
import { parameters } from './channels.js';

const known = {
  J: { words: 'inertia', unit: 'kg·m²', model: ['J'] },
  M: { words: 'mass', unit: 'kg', model: ['M'] },
  Fv: { words: 'viscous', unit: 'N·m·s/rad', model: ['Fv', 'sigma2'] },
  Fc: { words: 'Coulomb', unit: 'N·m', model: ['Fc'] },
  offset: { words: 'constant', unit: 'N·m', model: ['offset'] },
};
const frozen = 4; // s without a new value while running: the estimator rests

export class Estimates {
  constructor(info) {
    this.info = info;
    this.body = document.getElementById('params');
    this.badge = document.getElementById('unexcited');
    this.virtual = info.axes.some((a) => a.truth);
    document.getElementById('truth-head').hidden = !this.virtual;
    this.parameters = parameters(info);
    document.getElementById('estimates').hidden = !this.parameters.length; // nothing estimates them
    this.parameters.sort((a, b) => rank(a.short) - rank(b.short));
    this.several = new Set(this.parameters.map((p) => p.axis)).size > 1;
    this.show({});
    this.before = ''; // the values last seen …
    this.changed = 0; // s, … and when they last changed
  }

  update(e, mode) {
    this.show(e);
    this.excitation(e, mode);
  }

  show(e) {
    this.body.replaceChildren(...this.parameters.map((p) => {
      const known = e[p.error] > 0; // before the first window there is nothing but zeros
      return this.row(p, known ? e[p.value] : NaN, known ? e[p.error] : NaN);
    }));
  }

  // row writes estimate, model and truth with one exponent, so that the digits stand under each other.
  row(p, value, se) {
    const k = known[p.short] || { words: '', unit: '', model: [p.short] };
    const half = Number.isFinite(se) ? 1.96 * se : NaN, axis = this.info.axes.find((a) => a.name === p.axis);
    const model = pick(axis.model, k.model), truth = pick(axis.truth || {}, k.model);
    const { texts, half: around, unit } = together([value, model, truth], half, p.unit || k.unit);
    const tr = document.createElement('tr');
    const head = cell(tr, 'th', this.several ? `${p.axis} ${p.short}` : p.short, '');
    head.scope = 'row';
    head.append(Object.assign(document.createElement('span'), { className: 'muted words', textContent: ' ' + k.words }));
    const est = cell(tr, 'td', around ? `${texts[0]} ± ${around}` : texts[0], 'num');
    if (half > Math.abs(value)) {
      est.classList.add('weak');
      est.title = 'the interval contains zero';
    }
    cell(tr, 'td', texts[1], 'num');
    if (this.virtual) {
      const td = cell(tr, 'td', texts[2], 'num');
      if (Number.isFinite(truth) && Number.isFinite(value) && half > 0) {
        const inside = Math.abs(value - truth) <= half;
        td.classList.add(inside ? 'inside' : 'outside');
        td.title = inside ? 'inside the interval' : 'outside the interval';
      }
    }
    cell(tr, 'td', unit, 'unit');
    return tr;
  }

  // excitation: the daemon says so, or the values stand still while the rig runs.
  excitation(e, mode) {
    const t = e.timestamp;
    const now = this.parameters.map((p) => e[p.value]).join();
    if (now !== this.before || mode !== 'run') this.changed = t;
    this.before = now;
    const rests = e.excited === false || e.excited === 0 || e.unexcited === true || e.unexcited === 1
      || (mode === 'run' && t - this.changed > frozen);
    this.badge.hidden = !rests;
  }
}

const rank = (k) => { const i = Object.keys(known).indexOf(k); return i < 0 ? 99 : i; };
const pick = (m, names) => m[names.find((n) => n in m)];

function cell(tr, kind, text, className) {
  const td = document.createElement(kind);
  td.textContent = text;
  td.className = className;
  tr.append(td);
  return td;
}
