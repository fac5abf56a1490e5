// The link to the daemon: a WebSocket on which it sends what is new, and polling of the newest state while that is down or silent.

const patience = 2500; // ms of silence after which the page polls
const pause = 1000; // ms between two attempts

// open connects and calls on[topic](payload) for each message, on.link(state, words) when the connection changes, on.again() when it came back.
// States: wait, live, lost.
export function open(on) {
  const url = `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/api/stream`;
  let heard = performance.now(); // ms, last message
  let up = true; // until the first attempt has failed
  let tries = 0, been = false;

  const connect = () => {
    const ws = new WebSocket(url);
    ws.onopen = () => {
      tries = 0;
      up = true;
      on.link('live', 'stream of the daemon');
      if (been) on.again();
      been = true;
    };
    ws.onmessage = ({ data }) => {
      const cut = data.indexOf('\n'), name = data.slice(0, cut);
      heard = performance.now();
      if (on[name]) deliver(name, data.slice(cut + 1), on);
    };
    ws.onclose = () => {
      up = false;
      on.link('lost', `no stream from ${location.host}, trying again (${++tries})`);
      setTimeout(connect, pause);
    };
  };
  connect();
  poll(on, () => !up || performance.now() - heard > patience);
}

// deliver decodes one payload; what is not JSON is told once, never fatal.
const toldOff = new Set();
function deliver(name, text, on) {
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

// poll asks for the newest state and health itself, every second while it is needed.
async function poll(on, needed) {
  for (;;) {
    await new Promise((done) => setTimeout(done, pause));
    if (!needed()) { on.server(true); continue; }
    try {
      const r = await fetch('/api/state', { signal: AbortSignal.timeout(3000) });
      if (r.ok) on.polled(await r.json());
      on.server(true);
      const h = await fetch('/api/health', { signal: AbortSignal.timeout(3000) });
      if (h.ok) on.health(await h.json());
    } catch {
      on.server(false);
    }
  }
}
