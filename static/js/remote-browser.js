// The page of a remote browser: shows its picture, sends it what the user does, and speaks with the page that embeds it.
// The embedding page has to be one of the configured parents; everything it asks is answered.
'use strict';

(() => {
  const { id, token, parents: list } = document.body.dataset;
  const parents = JSON.parse(list);
  const get = (name) => document.getElementById(name);
  const screen = get('screen');
  const keys = get('keys');
  const address = get('address');
  const picture = screen.getContext('2d', { alpha: false });
  const ANSWER_LIMIT = 20000;

  let socket = null;
  let tabs = [];
  let active = null;
  let size = { width: 1280, height: 800 };
  let ended = false;
  let loaded = false;
  let tries = 0;
  let commands = 0;
  const waiting = new Map();

  const status = (words) => { get('status').textContent = words; };
  const send = (message) => {
    if (socket?.readyState !== WebSocket.OPEN) return false;
    socket.send(JSON.stringify(message));
    return true;
  };

  // ---- The embedding page ----

  const event = (message) => {
    if (window.parent === window) return;
    // Where the browser tells who embeds us, only that one is spoken to; elsewhere others do not get what is not for them.
    const known = location.ancestorOrigins?.[0];
    for (const origin of known ? parents.filter((parent) => parent === known) : parents) {
      window.parent.postMessage(message, origin);
    }
  };

  const tabList = () => tabs.map(({ targetId, url, browserContextId }) => ({ targetId, url, browserContextId }));

  window.addEventListener('message', ({ origin, source, data }) => {
    if (source !== window.parent || source === window || !parents.includes(origin)) return;
    const messageId = data?.messageId;
    const kind = typeof data?.type === 'string' && data.type ? data.type : 'unknown';
    const answer = (result) => source.postMessage({ type: kind, messageId, data: result }, origin);
    if (typeof data !== 'object' || data === null || kind !== data.type) {
      answer({ success: false, error: 'A command is an object with a type, a messageId and data.' });
      return;
    }
    const number = ++commands;
    let sent = false;
    try {
      sent = send({ t: 'command', number, kind, data: data.data ?? null });
    } catch {
      answer({ success: false, error: 'The data of this command cannot be read.' });
      return;
    }
    if (!sent) {
      answer({ success: false, error: ended ? 'This browser has ended.' : 'This browser is not connected. Please try again.' });
      return;
    }
    const timer = setTimeout(() => settle(number, { success: false, error: 'The browser did not answer in time.' }), ANSWER_LIMIT);
    waiting.set(number, { answer, timer });
  });

  const settle = (number, result) => {
    const command = waiting.get(number);
    if (!command) return;
    waiting.delete(number);
    clearTimeout(command.timer);
    command.answer(result);
  };

  const settleAll = (error) => {
    for (const number of [...waiting.keys()]) settle(number, { success: false, error });
  };

  // ---- The link ----

  const connect = () => {
    const url = new URL(`${id}/link`, location.href);
    url.protocol = url.protocol.replace('http', 'ws');
    url.search = '';
    socket = new WebSocket(url, ['cardea-browser', `token.${token}`]);
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => {
      tries = 0;
      status('Connected');
      resize();
    };
    socket.onmessage = ({ data }) => (typeof data === 'string' ? told(JSON.parse(data)) : paint(data));
    socket.onclose = () => {
      settleAll('The connection to the browser was lost.');
      if (ended) return;
      if (++tries > 6) return end('The connection to the browser is lost. Open a new one to go on.');
      status('The connection was lost. Connecting again …');
      setTimeout(connect, Math.min(4000, 250 * 2 ** tries));
    };
  };

  const told = (message) => {
    switch (message.t) {
      case 'tabs': return showTabs(message);
      case 'answer': {
        const { number, success, data, error } = message;
        return settle(number, success ? { success, ...(data === null ? {} : { data }) } : { success, error });
      }
      case 'time': return showTime(message);
      case 'status': return status(message.words);
      case 'dialog': return showDialog(message);
      case 'copied': return showCopied(message.text);
      case 'ended': return end(message.words);
    }
  };

  const end = (words) => {
    ended = true;
    settleAll('This browser has ended.');
    get('ended').textContent = words;
    get('ended').hidden = false;
    status('');
  };

  // Frames are painted in their order, each is told when it is on the screen.
  let painting = Promise.resolve();
  const paint = (bytes) => {
    painting = painting.then(async () => {
      const head = new DataView(bytes);
      const frame = head.getUint32(0);
      try {
        const image = await createImageBitmap(new Blob([new Uint8Array(bytes, 8)], { type: 'image/jpeg' }));
        size = { width: head.getUint16(4) || size.width, height: head.getUint16(6) || size.height };
        if (screen.width !== image.width || screen.height !== image.height) {
          screen.width = image.width;
          screen.height = image.height;
        }
        picture.drawImage(image, 0, 0);
        image.close();
        document.body.dataset.frames = frame;
      } finally {
        send({ t: 'painted', frame });
      }
    }).catch(() => {});
  };

  // ---- Tabs, address, words ----

  const showTabs = (message) => {
    const before = JSON.stringify(tabList());
    ({ tabs, active } = message);
    const strip = get('tabs');
    strip.replaceChildren(...tabs.map((tab) => {
      const isBlank = tab.url === '' || tab.url === 'about:blank';
      const name = isBlank ? 'New tab' : tab.title || tab.url.replace(/^https?:\/\//, '');
      const box = document.createElement('div');
      box.className = 'tab';
      const show = document.createElement('button');
      show.type = 'button';
      show.textContent = name;
      show.title = name;
      show.className = tab.loading ? 'loading' : '';
      if (tab.targetId === active) show.setAttribute('aria-current', 'true');
      show.onclick = () => { send({ t: 'show', targetId: tab.targetId }); keys.focus(); };
      const close = document.createElement('button');
      close.type = 'button';
      close.textContent = '×';
      close.setAttribute('aria-label', `Close the tab ${name}`);
      close.onclick = () => send({ t: 'close', targetId: tab.targetId });
      box.append(show, close);
      return box;
    }));
    const open = tabs.find((tab) => tab.targetId === active);
    get('empty').hidden = Boolean(open);
    if (document.activeElement !== address) address.value = open && open.url !== 'about:blank' ? open.url : '';
    get('reload').textContent = open?.loading ? '✕' : '↻';
    get('reload').setAttribute('aria-label', open?.loading ? 'Stop' : 'Reload');
    if (!loaded) {
      loaded = true;
      event({ type: 'iframeLoaded' });
    }
    if (before !== JSON.stringify(tabList())) event({ type: 'updateTabs', data: { data: tabList() } });
  };

  const showTime = ({ idle, life }) => {
    const left = Math.min(idle, life);
    const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
    const soon = left <= 60;
    get('time').textContent = soon && idle < life ? `Ends in ${clock(left)} without use` : `${clock(life)} left`;
    get('time').classList.toggle('soon', soon);
  };

  const showDialog = ({ host, words }) => {
    get('dialog-host').textContent = `${host || 'The page'} says`;
    get('dialog-words').textContent = words;
    get('dialog').hidden = false;
    get('dialog-close').focus();
  };
  get('dialog-close').onclick = () => { get('dialog').hidden = true; keys.focus(); };

  const showCopied = (text) => {
    if (!text) return status('Nothing is selected on the page.');
    const shown = () => {
      get('copied-text').value = text;
      get('copied').hidden = false;
      get('copied-text').select();
    };
    // A frame may not be allowed to write to the clipboard; then the text is shown, ready to be copied.
    const policy = document.permissionsPolicy ?? document.featurePolicy;
    if (!navigator.clipboard?.writeText || policy?.allowsFeature('clipboard-write') === false) return shown();
    navigator.clipboard.writeText(text).then(() => status('Copied.'), shown);
  };
  get('copied-close').onclick = () => { get('copied').hidden = true; keys.focus(); };

  get('bar').addEventListener('submit', (submitted) => {
    submitted.preventDefault();
    if (!send({ t: 'go', address: address.value })) return status('The browser is not connected yet. Please try again in a moment.');
    status('');
    keys.focus();
  });
  get('back').onclick = () => send({ t: 'move', to: 'back' });
  get('forward').onclick = () => send({ t: 'move', to: 'forward' });
  get('reload').onclick = () => send({ t: 'move', to: tabs.find((tab) => tab.targetId === active)?.loading ? 'stop' : 'reload' });
  get('new').onclick = () => { send({ t: 'new' }); address.focus(); };
  get('leave').onclick = () => leave();

  // ---- Mouse, wheel, touch ----

  const modifiers = (given) => (given.altKey ? 1 : 0) | (given.ctrlKey ? 2 : 0) | (given.metaKey ? 4 : 0) | (given.shiftKey ? 8 : 0);
  const place = (given) => {
    const box = screen.getBoundingClientRect();
    return {
      x: Math.round((given.clientX - box.left) * size.width / box.width),
      y: Math.round((given.clientY - box.top) * size.height / box.height),
    };
  };
  const BUTTONS = ['left', 'middle', 'right', 'back', 'forward'];

  let moved = null;
  const mouse = (kind, given) => {
    const button = kind === 'move' ? heldButton(given.buttons) : BUTTONS[given.button] ?? 'none';
    send({ t: 'mouse', kind, ...place(given), button, buttons: given.buttons & 31, clicks: kind === 'move' ? 0 : Math.min(given.detail || 1, 3), modifiers: modifiers(given) });
  };
  const heldButton = (buttons) => (buttons & 1 ? 'left' : buttons & 2 ? 'right' : buttons & 4 ? 'middle' : 'none');
  const flushMove = () => {
    if (moved) mouse('move', moved);
    moved = null;
  };

  screen.addEventListener('mousedown', (given) => {
    given.preventDefault();
    keys.focus({ preventScroll: true });
    flushMove();
    mouse('down', given);
  });
  window.addEventListener('mouseup', (given) => {
    if (given.target !== screen && !given.buttons && document.activeElement !== keys) return;
    flushMove();
    mouse('up', given);
  });
  // One movement for each picture is enough.
  screen.addEventListener('mousemove', (given) => {
    if (!moved) requestAnimationFrame(flushMove);
    moved = given;
  });
  screen.addEventListener('contextmenu', (given) => given.preventDefault());
  screen.addEventListener('wheel', (given) => {
    given.preventDefault();
    const unit = given.deltaMode === 1 ? 24 : given.deltaMode === 2 ? size.height : 1;
    send({ t: 'wheel', ...place(given), dx: given.deltaX * unit, dy: given.deltaY * unit, modifiers: modifiers(given) });
  }, { passive: false });

  const touch = (kind) => (given) => {
    given.preventDefault();
    if (kind === 'start') keys.focus({ preventScroll: true });
    const points = kind === 'end' || kind === 'cancel' ? [] : [...given.touches].map((point) => ({ ...place(point), id: point.identifier & 0xffff }));
    // A finger that is lifted while others stay is the rest moving on.
    if (kind === 'end' && given.touches.length > 0) return;
    send({ t: 'touch', kind, points, modifiers: modifiers(given) });
  };
  for (const kind of ['start', 'move', 'end', 'cancel']) screen.addEventListener(`touch${kind}`, touch(kind), { passive: false });

  // ---- Keys and text ----

  let composing = false;
  const isClipboard = (given) => ((given.ctrlKey || given.metaKey) && ['c', 'v', 'x'].includes(given.key.toLowerCase())) || (given.key === 'Insert' && (given.shiftKey || given.ctrlKey));
  const key = (down, given) => send({
    t: 'key', down, key: given.key, code: given.code, keyCode: given.keyCode, location: given.location, repeat: given.repeat, modifiers: modifiers(given),
  });
  const leave = () => {
    address.focus();
    status('You left the page. Click its picture, or press Tab until you reach it, to go back.');
  };

  keys.addEventListener('keydown', (given) => {
    if (given.key === 'Tab' && given.ctrlKey && given.altKey) {
      given.preventDefault();
      return leave();
    }
    // What an input method works on comes as text.
    if (composing || given.isComposing || given.keyCode === 229 || given.key === 'Dead') return;
    if (isClipboard(given)) {
      const letter = given.key.toLowerCase();
      if (letter === 'c' || letter === 'x') {
        given.preventDefault();
        send({ t: 'copy' });
      }
      return;
    }
    given.preventDefault();
    // The graph key of many keyboards comes as Control and Alt: what it writes is text.
    if (given.getModifierState('AltGraph') && given.key.length === 1) return void send({ t: 'text', text: given.key });
    key(true, given);
  });
  keys.addEventListener('keyup', (given) => {
    if (composing || given.isComposing || given.keyCode === 229 || isClipboard(given)) return;
    given.preventDefault();
    key(false, given);
  });
  keys.addEventListener('compositionstart', () => { composing = true; });
  keys.addEventListener('compositionupdate', (given) => send({ t: 'compose', text: given.data }));
  keys.addEventListener('compositionend', (given) => {
    composing = false;
    if (given.data) send({ t: 'text', text: given.data });
    else send({ t: 'compose', text: '' });
    keys.value = '';
  });
  keys.addEventListener('input', (given) => {
    if (composing || given.isComposing) return;
    if (keys.value && given.inputType !== 'insertCompositionText') send({ t: 'text', text: keys.value });
    keys.value = '';
  });
  keys.addEventListener('paste', (given) => {
    given.preventDefault();
    const text = given.clipboardData?.getData('text/plain');
    if (text) send({ t: 'text', text: text.slice(0, 60000) });
  });

  // ---- Size ----

  const resize = () => {
    const { width, height } = get('stage').getBoundingClientRect();
    if (width >= 1 && height >= 1) send({ t: 'resize', width: Math.round(width), height: Math.round(height), scale: window.devicePixelRatio || 1 });
  };
  let resizing = null;
  new ResizeObserver(() => {
    clearTimeout(resizing);
    resizing = setTimeout(resize, 100);
  }).observe(get('stage'));

  connect();
})();
