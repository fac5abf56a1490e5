// The page of one rig: reads what runs from /api/info, listens to the daemon's stream, hands every message to the part that shows it.
import { open } from './link.js';
import { Rows } from './rows.js';
import { Traces } from './traces.js';
import { Curve } from './curve.js';
import { Lateness } from './lateness.js';
import { Estimates } from './estimates.js';
import { Events } from './events.js';
import { Commands } from './commands.js';
import { Cards } from './cards.js';
import { Refill } from './refill.js';
import { Export } from './export.js';
import { Identification } from './identification.js';
import { Parameters } from './parameters.js';
import { Recording } from './recording.js';
import { derive, parameters } from './channels.js';
import { eng, count } from './format.js';

const $ = (id) => document.getElementById(id);
const keep = 60; // s of rows kept, as far as the limit below allows
const rowLimit = 180000; // rows kept at most: some 90 MB for 50 signals
const patience = 2000; // ms without a new row before the page says so
const modes = {
  init: 'starting', selftest: 'testing the sensors', ready: 'output safe, may be armed', armed: 'output safe, may run',
  run: 'moving', hold: 'holding still, output live', trip: 'stopped by the guard', estop: 'emergency stop',
};

// counters are what the end-to-end tests look at, together with hil.view() and hil.mode.
const counters = { batches: 0, states: 0, health: 0, estimates: 0, events: 0, frames: 0, commands: 0, polls: 0 };

async function start() {
  const info = await describe(), rig = identity(info);
  const derived = derive(info, () => identification?.inForce ?? {});
  let identification;
  const rows = new Rows(Math.min(rowLimit, Math.max(4000, keep * (info.rate_hz || 1000))), parameters(info), derived);
  const events = new Events(info, { show: (t) => traces.showTime(t), changed: () => { now.fresh = true; } });
  const now = { mode: 'unknown', link: ['wait', 'connecting'], server: true, rowAt: performance.now(), heard: false, fresh: false };
  const traces = new Traces(info, rows, counters, events);
  const curve = new Curve(info, () => traces.tools()), lateness = new Lateness(), estimates = new Estimates(info), commands = new Commands(info, counters);
  const cards = new Cards(info, rows, (name) => traces.show(name));
  identification = new Identification(info, commands, curve);
  if (!info.recording) new Parameters(info, commands, (models) => identification.forces(models));
  new Export(info, traces, (ok, text) => commands.say(ok, text));
  traces.others.push(curve);
  const refill = new Refill(rows, traces.history, info.channels.map((c) => c.name), () => { now.fresh = true; });
  head(info);

  const setMode = (m) => {
    if (typeof m !== 'string' || m === now.mode) return;
    now.mode = m;
    const badge = $('mode');
    badge.dataset.mode = m in modes ? m : 'unknown';
    badge.textContent = m.toUpperCase();
    badge.title = modes[m] || '';
    $('spoken').textContent = `mode ${m}: ${modes[m] || ''}`;
    document.title = `${m} · ${info.rig}`;
    commands.mode(m);
  };
  const take = (batch) => {
    const before = rows.received;
    rows.push(batch);
    if (rows.received === before) return; // the same rows again are no sign of life
    now.rowAt = performance.now();
    if (!now.heard) setTimeout(remember, 2000); // by then the recording has reached the first row of this page
    now.heard = now.fresh = true;
    alive();
    if (now.mode === 'run') curve.add(batch);
  };
  // what the friction curve would show had the page been open before
  const remember = async () => {
    if (!traces.history.longest) return;
    try {
      curve.add(await traces.history.motion(curve.names, rows.base + rows.first));
    } catch { /* the traces say why there is no history */ }
  };
  // an estimate that was made before the run began, and was retained, is none
  const estimate = (e) => {
    const own = e?.timestamp >= Date.parse(info.start) / 1000 ? e : {};
    estimates.update(own, now.mode);
    curve.estimate(own);
  };

  // commands but stops need a rig that sends rows
  const alive = () => {
    const live = now.heard && performance.now() - now.rowAt <= patience;
    if (live === now.live) return;
    now.live = live;
    commands.live(live);
    identification.live(live);
  };

  if (info.recording) await show(info, new Recording(info, rows, traces, curve), { curve, estimates, identification, setMode: (m) => { now.mode = m; } });
  else open({
    link: (state, words) => { now.link = [state, words]; },
    server: (answers) => { now.server = answers; },
    complaint: (text) => events.add({ timestamp: Date.now() / 1000, level: 'warn', code: 'PAGE', text }),
    again: async () => {
      const fresh = await describe();
      if (identity(fresh) !== rig) location.reload(); // another run with other signals answers under the same address
      events.recall();
      if (fresh.start === info.start) return;
      info.start = fresh.start; // another run of the same rig
      estimate(null);
    },
    state: (s) => { counters.states++; setMode(s.mode); },
    polled: (s) => { counters.polls++; setMode(s.mode); estimate(s); },
    samples: (b) => { if (!Array.isArray(b)) return; counters.batches++; take(b); refill.look(); },
    estimate: (e) => { counters.estimates++; estimate(e); },
    health: (h) => { counters.health++; lateness.update(h); if (Number.isFinite(h.rate_hz)) now.rate = h.rate_hz; now.cause = h.why || h.cause; vitals(); },
    'identify/status': (s) => identification.status(s),
    'identify/result': (r) => identification.found(r),
    event: (e) => { counters.events++; events.add(e); },
  });

  const vitals = () => {
    const [state, words] = now.link;
    $('link').dataset.state = state;
    $('link').textContent = state === 'live' ? 'live' : state === 'wait' ? 'connecting' : 'lost';
    $('link').title = words;
    $('rate').textContent = now.rate === undefined ? '–' : `${eng(now.rate, 'Hz', 4)}`;
    $('why').hidden = !now.cause || now.cause.startsWith('none') || !['hold', 'trip', 'estop'].includes(now.mode);
    $('cause').textContent = $('why').title = now.cause || '';
    $('lost').textContent = rows.received ? count(rows.lost) : '–';
    $('lost').classList.toggle('bad', rows.lost > 0);
  };

  // what to do after a trip, in whole sentences; the line of the header is one line
  const advise = () => {
    const cause = $('why').hidden ? '' : now.cause, name = cause && Object.keys(info.advice).filter((c) => cause.startsWith(c)).sort((a, b) => b.length - a.length)[0];
    if (!cause) now.read = '';
    $('advice').hidden = !cause || now.read === cause;
    if ($('advice-cause').textContent !== cause) $('advice-cause').textContent = cause;
    const then = ['trip', 'estop'].includes(now.mode) ? 'Then reset, arm and run.' : '';
    const text = cause ? [`${info.advice[name] ?? ''}.`.replace(/([.?!)])\.$/, '$1').replace(/^\.$/, ''), then].filter(Boolean).join(' ') : '';
    if ($('advice-text').textContent !== text) $('advice-text').textContent = text;
  };

  $('advice').addEventListener('click', () => { now.read = now.cause; advise(); });

  // a banner for whatever makes the picture untrue, worst first
  const banner = () => {
    const silent = performance.now() - now.rowAt, [state, words] = now.link;
    let text = '';
    if (!now.server && state !== 'live') text = 'The daemon does not answer. The page tries again by itself.';
    else if (silent > patience) text = `No data for ${Math.floor(silent / 1000)} s.` + (state === 'lost' ? ` ${words}.` : '');
    else if (state === 'lost') text = `${words}. Showing the newest state by polling.`;
    if ($('banner').textContent !== text) $('banner').textContent = $('banner').title = text;
    $('banner').hidden = !text;
    document.body.classList.toggle('stale', now.heard && silent > patience);
    alive();
  };

  let drawn = 0, cost = 0;
  const frame = (t) => {
    requestAnimationFrame(frame);
    // a scroll of two pixels is worth a picture; drawing takes at most a quarter of the time, since the loop may share this machine
    if (!now.fresh || (traces.paused && !info.recording) || t - drawn < Math.max(38, Math.min(100, 5 * traces.window), 4 * cost)) return;
    now.fresh = false;
    drawn = t;
    const begun = performance.now();
    traces.draw();
    cards.draw();
    cost = 0.8 * cost + 0.2 * (performance.now() - begun);
  };
  requestAnimationFrame(frame);
  setInterval(() => {
    traces.values();
    cards.values();
    if (info.recording) return;
    vitals();
    advise();
    banner();
  }, 200);
  setInterval(() => curve.draw(), 250);
  const again = () => { curve.draw(); lateness.draw(); cards.draw(); };
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', again);
  new ResizeObserver(again).observe($('lateness'));
  keys(traces, commands);

  window.hil = {
    counters, info, rows, view: () => [...traces.view], window: () => traces.window, paused: () => traces.paused, mode: () => now.mode,
    link: () => now.link[0], free: traces.free, events, redraw: () => traces.draw(), marks: () => traces.marks.at, still: () => traces.source, history: traces.history, curves: () => ({ ranges: curve.at?.ranges, found: curve.axis.found.length, handed: Boolean(curve.axis.handed), last: curve.axis.found.at(-1), model: curve.axis.model }), zoom: (a, b) => traces.zoomTo(a, b), drawn: () => traces.plots[1].data[0],
    inView: () => { const [x, , [a, b]] = traces.plots[1].data; return x.filter((t) => t >= a && t <= b).length; }, ranges: () => traces.plots.map((p) => (p.u ? p.range('y') : null)), curveSamples: () => curve.axis?.samples ?? 0, curveUnits: () => [curve.axis?.velocity?.unit, curve.axis?.friction?.unit],
  };
}

// show fills the page from a recording.
async function show(info, recording, { curve, estimates, identification, setMode }) {
  const mode = await recording.load(), { rows } = recording;
  setMode(mode);
  const last = { timestamp: info.recording.last, ...Object.fromEntries(estimates.parameters.flatMap((p) => [p.value, p.error]).map((n) => [n, rows.newest(n)])) };
  estimates.update(last, mode);
  curve.estimate(last);
  const r = await fetch('/api/identify');
  if (r.ok) identification.kept((await r.json()).results ?? []);
  await recording.friction();
}

// describe asks the server until it answers.
async function describe() {
  for (;;) {
    try {
      const r = await fetch('/api/info');
      if (r.ok) return await r.json();
      $('banner').textContent = `The server answers ${r.status}: ${await r.text()}`;
    } catch {
      $('banner').textContent = 'The daemon does not answer. The page tries again by itself.';
    }
    $('banner').hidden = false;
    await new Promise((done) => setTimeout(done, 1000));
  }
}

// identity is what must be the same for a page to go on.
const identity = (i) => JSON.stringify([i.rig, i.channels, i.config_hash, i.version]);

function head(info) {
  $('rig').textContent = info.rig || 'hil';
  $('about').textContent = [info.version, `${eng(info.rate_hz, 'Hz', 3)} loop`, info.axes.some((a) => a.truth) ? 'virtual rig' : '', info.dry_run ? 'dry run: nothing is sent' : ''].filter(Boolean).join(' · ');
  $('note').textContent = info.note || '';
}

function keys(traces, commands) {
  const act = {
    s: () => commands.send('stop'), p: () => traces.pause(!traces.paused), 1: () => traces.setWindow(2), 2: () => traces.setWindow(10), 3: () => traces.setWindow(30),
    '+': () => traces.step(0, 0.5), '-': () => traces.step(0, 2), ArrowLeft: () => traces.step(-0.25, 1), ArrowRight: () => traces.step(0.25, 1), 0: () => traces.unzoom(),
    c: () => traces.marks.toggle(), Escape: () => document.getElementById('advice').click(),
  };
  addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.altKey || e.metaKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return;
    const does = act[e.key.length === 1 ? e.key.toLowerCase() : e.key];
    if (!does || (e.repeat && e.key === 's')) return;
    e.preventDefault();
    does();
  });
}

start();
