// What happened, newest first. Texts come from the daemon and are shown as text, never as markup.
import { clock } from './format.js';

const kept = 200;

export class Events {
  constructor() {
    this.list = document.getElementById('events');
    this.n = 0;
  }

  add({ timestamp, level, code, text }) {
    if (this.n++ === 0) this.list.replaceChildren();
    const li = document.createElement('li');
    li.dataset.level = ['info', 'warn', 'error'].includes(level) ? level : 'info';
    for (const [kind, words] of [['time', clock(timestamp)], ['b', level], ['code', code], ['span', text]]) {
      const part = document.createElement(kind);
      part.textContent = words ?? '';
      li.append(part, ' ');
    }
    this.list.prepend(li);
    while (this.list.children.length > kept) this.list.lastChild.remove();
  }
}
