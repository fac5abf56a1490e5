// The buttons. Stop, Hold and E-stop are always alive; the others when rows come, the mode allows them and the server takes them.

const from = { arm: ['ready'], run: ['armed', 'hold'], hold: ['run'], reset: ['trip', 'estop'] };
const label = { arm: 'Arm', run: 'Run', hold: 'Hold', stop: 'Stop', reset: 'Reset', estop: 'E-stop', set: 'Set', adopt: 'Adopt',
  identify: 'Identification', cancel: 'Cancel', accept: 'Accept', rollback: 'Roll back', keep: 'Keep' };
const needsRight = new Set(['arm', 'run', 'reset']);

export class Commands {
  constructor(info, counters) {
    this.info = info;
    this.counters = counters;
    this.answer = document.getElementById('answer');
    this.buttons = [...document.querySelectorAll('[data-cmd]')];
    for (const b of this.buttons) b.addEventListener('click', () => this.send(b.dataset.cmd));
    this.present = 'unknown';
    this.live(false);
    if (!info.commands.all) this.say('', info.commands.reason);
  }

  // live is told whether rows come.
  live(on) {
    this.isLive = on;
    this.mode(this.present);
  }

  // mode enables the buttons that make sense now.
  mode(m) {
    this.present = m;
    for (const b of this.buttons) {
      const name = b.dataset.cmd;
      const denied = !this.info.commands.stop || (needsRight.has(name) && !this.info.commands.all);
      const blind = needsRight.has(name) && !this.isLive, pointless = from[name] && !from[name].includes(m) && m !== 'unknown';
      b.disabled = denied || blind || pointless;
      b.title = denied ? this.info.commands.reason : blind ? 'no rows come from the rig' : pointless ? `${label[name]} is possible in ${from[name].join(', ')}` : '';
    }
  }

  // send carries a command with what belongs to it, and gives the answer: { ok, error }. What the daemon wants to be confirmed it asks the person.
  async send(name, body = {}) {
    const id = 'page-' + Math.random().toString(36).slice(2, 10);
    this.say('', `${label[name]} …`);
    this.counters.commands++;
    try {
      const r = await fetch(`/api/cmd/${name}`, {
        method: 'POST', headers: { 'Content-Type': 'application/json', 'X-Hil': '1' },
        body: JSON.stringify({ id, ...body }), signal: AbortSignal.timeout(6000),
      });
      const reply = await r.json();
      if (reply.confirm && !body.confirm && confirm(`${reply.error.replace(/\. Not taken; .*$/s, '')}.\n\n${label[name]} all the same?`)) return this.send(name, { ...body, confirm: true });
      if (reply.ok) this.say('yes', `${label[name]}: taken`);
      else if (reply.taken) this.say('no', `${label[name]}: ${reply.error}`);
      else this.say('no', `${label[name]} refused: ${reply.error}`);
      return reply;
    } catch (err) {
      this.say('no', `${label[name]} NOT delivered: ${err.message}. Use the switch at the rig.`);
      return { ok: false, error: `not delivered: ${err.message}` };
    }
  }

  say(ok, text) {
    this.answer.dataset.ok = ok;
    this.answer.textContent = text;
    this.answer.title = text;
  }
}
