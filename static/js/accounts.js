// The embedded browser of the accounts step. Messages are exchanged with one frame of one origin and with nobody else; what a
// session holds goes from the frame to the gateway and is kept nowhere here.
"use strict";

(() => {
  const section = document.querySelector("[data-browser]");
  if (!section) return;
  const find = (name) => section.querySelector(`[data-browser-${name}]`);
  const begin = find("begin");
  const openButton = find("open");
  const problem = find("problem");
  const panel = find("panel");
  const holder = find("frame");
  const status = find("status");
  const tabList = find("tabs");
  const saveButton = find("save");
  const addButton = find("add");
  const closeButton = find("close-tab");
  const role = section.querySelector("#browser-role");
  const ownField = find("own");
  const ownRole = section.querySelector("#browser-own-role");
  const instead = document.querySelector("[data-browser-instead]");
  const place = document.querySelector("[data-accounts-place]");

  const ANSWER_WITHIN = 10000;
  const SESSION_WITHIN = 30000;
  let frame = null;
  let origin = null;
  let tabs = [];
  let counter = 0;
  let saving = false;
  let leading = false;
  const waiting = new Map();

  const say = (words) => { status.textContent = words; };
  const complain = (words) => { problem.textContent = words; problem.hidden = words === ""; };

  // One question to the frame; ids are unique, so two in one millisecond do not meet.
  const ask = (type, data = null, within = ANSWER_WITHIN) => new Promise((resolve, reject) => {
    if (!frame || !frame.contentWindow) { reject(new Error("The browser is not open.")); return; }
    counter += 1;
    const messageId = `${Date.now()}-${counter}`;
    const timer = setTimeout(() => {
      waiting.delete(messageId);
      reject(new Error("The browser did not answer. Try again, or open it anew."));
    }, within);
    waiting.set(messageId, { resolve, reject, timer });
    frame.contentWindow.postMessage({ type, data, messageId }, origin);
  });

  // What follows the path may hold secrets.
  const shown = (address) => {
    const bare = address.split(/[?#]/)[0];
    return bare === address ? bare : `${bare} (with a query that is not shown)`;
  };
  const blank = (tab) => !tab.url || tab.url === "about:blank";
  const readTabs = (list) => (Array.isArray(list) ? list : [])
    .filter((tab) => tab && typeof tab.targetId === "string")
    .map((tab) => ({ targetId: tab.targetId, url: typeof tab.url === "string" ? tab.url : "", context: String(tab.browserContextId ?? "") }));
  const chosen = () => tabs.find((tab) => tab.targetId === tabList.querySelector("input:checked")?.value) ?? tabs[tabs.length - 1];

  const showTabs = () => {
    const before = tabList.querySelector("input:checked")?.value;
    const rows = tabs.map((tab, index) => {
      const row = document.createElement("div");
      row.className = "check";
      const input = document.createElement("input");
      Object.assign(input, { type: "radio", name: "browser-tab", id: `browser-tab-${index}`, value: tab.targetId });
      input.checked = tab.targetId === before || (index === tabs.length - 1 && !tabs.some((one) => one.targetId === before));
      const label = document.createElement("label");
      label.htmlFor = input.id;
      label.textContent = blank(tab) ? "Empty tab" : shown(tab.url);
      row.append(input, label);
      return row;
    });
    if (rows.length) tabList.replaceChildren(...rows);
    else tabList.textContent = "No tab is open.";
    saveButton.disabled = saving || !tabs.some((tab) => !blank(tab));
    closeButton.disabled = tabs.length === 0;
  };

  // A browser without a tab, or with empty ones only, is led to where people sign in.
  // An empty list comes twice, as an event and as an answer: one lead at a time, or two tabs would open.
  const settle = async () => {
    showTabs();
    const url = section.dataset.start;
    if (!url || leading || !tabs.every(blank)) return;
    leading = true;
    try {
      await ask(tabs.length === 0 ? "newTab" : "go", { url });
    } finally {
      leading = false;
    }
  };

  const refresh = async () => {
    const answer = await ask("getTabs");
    tabs = readTabs(Array.isArray(answer) ? answer : answer?.data);
    await settle();
  };

  const quietly = (work) => work.catch((error) => complain(error.message));

  const loaded = async () => {
    say("The browser is ready.");
    await ask("initCopyPaste").catch(() => {});
    await ask("clearTabs");
    await refresh();
  };

  window.addEventListener("message", (event) => {
    if (!frame || event.source !== frame.contentWindow || event.origin !== origin) return;
    const message = event.data;
    if (message === null || typeof message !== "object") return;
    const answered = typeof message.messageId === "string" ? waiting.get(message.messageId) : undefined;
    if (answered) {
      waiting.delete(message.messageId);
      clearTimeout(answered.timer);
      if (message.data?.success) answered.resolve(message.data.data);
      else answered.reject(new Error(`The browser says: ${String(message.data?.error ?? "that did not work").slice(0, 200)}`));
    } else if (message.type === "iframeLoaded") {
      quietly(loaded());
    } else if (message.type === "updateTabs") {
      const list = message.data?.data ?? message.data;
      if (Array.isArray(list)) { tabs = readTabs(list); quietly(tabs.length ? Promise.resolve(showTabs()) : settle()); } else quietly(refresh());
    }
  });

  const post = (address, body) => fetch(address, {
    method: "POST",
    headers: { "X-CSRF-Token": section.dataset.csrf, Accept: "application/json", ...(body ? { "Content-Type": "application/json" } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });

  const refusal = async (answer) => {
    if (answer.status === 401) { window.location.reload(); return "You are signed out."; }
    try { return (await answer.json()).message || "That did not work. Try again."; } catch { return "That did not work. Try again."; }
  };

  const open = async () => {
    complain("");
    openButton.disabled = true;
    try {
      const answer = await post(section.dataset.open);
      if (!answer.ok) throw new Error(await refusal(answer));
      const session = await answer.json();
      if (!session.url) {
        complain(session.message);
        instead.open = true;
        return;
      }
      origin = session.origin;
      if (new URL(session.url).origin !== origin) throw new Error("The browser comes from another address than it says.");
      frame = document.createElement("iframe");
      frame.setAttribute("sandbox", "allow-scripts allow-same-origin allow-forms allow-popups");
      // Text copied in the browser may be put on the clipboard of who uses it.
      frame.allow = "clipboard-write";
      frame.title = "Embedded browser";
      frame.referrerPolicy = "no-referrer";
      frame.src = session.url;
      holder.replaceChildren(frame);
      say("The browser is starting.");
      panel.hidden = false;
      begin.hidden = true;
      showTabs();
    } catch (error) {
      complain(error.message || "The connection was cut. Try again.");
    } finally {
      openButton.disabled = false;
    }
  };

  const version = () => place.querySelector("[data-accounts]").dataset.version;

  // The table and the version of the draft as an answer has them.
  const take = (text) => {
    const page = new DOMParser().parseFromString(text, "text/html");
    place.replaceChildren(document.importNode(page.querySelector("[data-accounts]"), true));
    for (const input of document.querySelectorAll("input[data-version]")) input.value = version();
  };

  // The draft changed in another tab: this page becomes one of the draft as it is, so that saving again saves.
  const catchUp = async () => {
    const answer = await fetch(window.location.pathname, { headers: { Accept: "text/html" } });
    if (!answer.ok || answer.redirected) return "The draft changed in another tab. Load this page again, then save once more.";
    take(await answer.text());
    return "Not saved yet: the draft changed in another tab or window. The table shows it as it is now; press “Save the session” once more.";
  };

  const save = async () => {
    const tab = chosen();
    const named = role.value === "own" ? ownRole.value.trim() : role.value;
    complain("");
    if (!tab || blank(tab)) { complain("Open a page of the target in the browser first."); return; }
    if (!named) { complain("Name the role."); ownRole.focus(); return; }
    saving = true;
    showTabs();
    say("Saving the session.");
    try {
      const answer = await ask("getSession", { targetId: tab.targetId }, SESSION_WITHIN);
      const saved = await post(section.dataset.save, { v: version(), role: named, url: tab.url, sessionInfo: answer?.sessionInfo ?? null });
      if (saved.status === 409) throw new Error(await catchUp());
      if (!saved.ok) throw new Error(await refusal(saved));
      take(await saved.text());
      // The step is done now: it is left by going on, not by skipping.
      const here = document.querySelector(".steps .here");
      here.className = "done here";
      here.querySelector(".dot").textContent = "";
      here.querySelector(".state").textContent = "Done";
      for (const skip of document.querySelectorAll("[data-skip]")) skip.hidden = true;
      for (const link of document.querySelectorAll("[data-continue]")) link.hidden = false;
      say("The session was saved. Add another account, or continue.");
    } catch (error) {
      say("");
      complain(error.message || "The connection was cut. Try again.");
    } finally {
      saving = false;
      showTabs();
    }
  };

  // Another account gets a cookie jar of its own.
  const add = async () => {
    complain("");
    await ask("newContextTab", { url: section.dataset.start || chosen()?.url || "about:blank" });
    setTimeout(() => quietly(refresh()), 1000);
  };

  const close = async () => {
    const tab = chosen();
    if (!tab) return;
    complain("");
    if (tabs.length === 1) await ask("clearSession", { targetId: tab.targetId });
    await ask("closeTab", { targetId: tab.targetId });
    await refresh();
  };

  find("without").hidden = true;
  begin.hidden = false;
  openButton.addEventListener("click", open);
  saveButton.addEventListener("click", save);
  addButton.addEventListener("click", () => quietly(add()));
  closeButton.addEventListener("click", () => quietly(close()));
  role.addEventListener("change", () => { ownField.hidden = role.value !== "own"; });
})();
