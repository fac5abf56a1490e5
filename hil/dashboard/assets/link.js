// The link to the daemon: MQTT over a WebSocket, and polling where there is no broker or it does not answer.

const topics = ['status', 'meta', 'state', 'samples', 'estimate', 'health', 'event', 'identify/status', 'identify/result'];
const patience = 2500; // ms of silence after which the page polls
const utf8 = new TextDecoder();

// open connects and calls on[topic](payload) for each message, on.link(state, words) when the connection changes.
// States: wait, live, lost, poll.
export function open(info, on) {
  let heard = performance.now(); // ms, last message
  let up = true; // until the first attempt has failed
  const report = (state, words) => { up = state === 'live'; on.link(state, words); };

  if (info.mqtt) {
    const here = `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/mqtt`;
    const url = info.mqtt.url || here;
    const client = mqtt.connect(url, {
      username: info.mqtt.user, password: info.mqtt.password || undefined,
      clientId: 'page-' + Math.random().toString(36).slice(2, 12),
      keepalive: 15, connectTimeout: 5000, reconnectPeriod: 1000, clean: true,
      timerVariant: 'native', // the other kind starts a worker from a blob, which our security policy forbids
    });
    let tries = 0;
    client.on('connect', () => {
      tries = 0;
      report('live', 'MQTT');
      client.subscribe(topics.map((t) => `${info.topics}/${t}`), { qos: 0 }, (err, granted) => {
        if (err || (granted || []).some((g) => g.qos >= 128)) report('lost', `the broker refused to let ${info.mqtt.user} read ${info.topics}`);
      });
    });
    client.on('reconnect', () => { tries++; });
    client.on('close', () => report('lost', `no broker at ${url}, trying again (${tries + 1})`));
    client.on('error', (err) => report('lost', `broker at ${url}: ${err.message}`));
    client.on('message', (topic, payload) => {
      const name = topic.slice(info.topics.length + 1);
      if (!on[name]) return;
      heard = performance.now();
      deliver(name, utf8.decode(payload), on);
    });
  } else {
    report('poll', 'polling');
  }

  poll(info, on, () => !up || performance.now() - heard > patience);
}

// deliver decodes one payload; what is not JSON is counted and told once, never fatal.
const toldOff = new Set();
function deliver(name, text, on) {
  if (name === 'status') { on.status(text.trim()); return; }
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    if (!toldOff.has(name)) on.complaint(`topic ${name} does not carry JSON; the page cannot show it`);
    toldOff.add(name);
    return;
  }
  on[name](value);
}

// poll asks the server itself while MQTT is down or silent, every second; without a broker always, five times a second.
async function poll(info, on, needed) {
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  let health = 0;
  for (;;) {
    await wait(info.mqtt ? 1000 : 200);
    if (info.mqtt && !needed()) continue;
    try {
      const r = await fetch('/api/state', { signal: AbortSignal.timeout(3000) });
      if (r.ok) on.polled(await r.json());
      on.server(true);
      if (++health % (info.mqtt ? 1 : 5) === 0) {
        const h = await fetch('/api/health', { signal: AbortSignal.timeout(3000) });
        if (h.ok) on.health(await h.json());
        const i = await fetch('/api/identify', { signal: AbortSignal.timeout(3000) });
        if (i.ok) {
          const { status, result } = await i.json();
          on['identify/status'](status);
          on['identify/result'](result);
        }
      }
    } catch {
      on.server(false);
    }
  }
}
