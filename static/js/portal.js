// Progressive enhancement only: every page does its work without this file.
"use strict";

(() => {
  const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));
  const say = (element, text) => { if (element) element.textContent = text; };

  const bytes = (count) => {
    if (count < 1000) return `${count} bytes`;
    const units = ["kB", "MB", "GB"];
    let value = count;
    let unit = -1;
    do { value /= 1000; unit += 1; } while (value >= 1000 && unit < units.length - 1);
    return `${value.toFixed(value < 10 ? 1 : 0)} ${units[unit]}`;
  };

  // Copy buttons: <button data-copy="id of the element">. They are hidden until this runs.
  for (const button of all("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const source = document.getElementById(button.dataset.copy);
      const text = source.dataset.value || source.textContent;
      const told = document.getElementById(button.dataset.told);
      try {
        await navigator.clipboard.writeText(text);
        say(told, "Copied");
      } catch {
        const range = document.createRange();
        range.selectNodeContents(source);
        const selection = window.getSelection();
        selection.removeAllRanges();
        selection.addRange(range);
        say(told, "The text is selected: press Ctrl+C to copy it");
      }
    });
  }

  // Live status: <section data-live="address of the event stream">.
  for (const place of all("[data-live]")) {
    let source = null;
    const badge = place.querySelector("[data-live-badge]");
    const bar = place.querySelector("[data-live-progress]");
    const words = place.querySelector("[data-live-words]");
    const announce = place.querySelector("[data-live-announce]");
    const close = () => { if (source) { source.close(); source = null; } };
    const open = () => {
      if (source) return;
      source = new EventSource(place.dataset.live);
      source.addEventListener("status", (event) => {
        const state = JSON.parse(event.data);
        if (badge.textContent !== state.word) {
          badge.textContent = state.word;
          badge.className = `badge ${state.kind}`;
          say(announce, `The task is now: ${state.word}`);
        }
        if (bar && typeof state.progress === "number") bar.value = state.progress;
        say(words, state.words);
        if (state.ended) {
          close();
          delete place.dataset.live;
          window.location.reload();
        }
      });
      // Nobody asked for it, so the page goes nowhere by itself: a sign-in that needs no word would begin a new session.
      const ends = {
        "signed-out": "This page no longer follows the task. Load it again to sign in.",
        gone: "This task is no longer there.",
      };
      for (const [end, text] of Object.entries(ends)) {
        source.addEventListener(end, (event) => {
          const reason = JSON.parse(event.data).words;
          const all = reason ? `${reason} ${text}` : text;
          close();
          delete place.dataset.live;
          say(words, all);
          say(announce, all);
        });
      }
    };
    document.addEventListener("visibilitychange", () => {
      if (!place.dataset.live) return;
      if (document.hidden) close(); else open();
    });
    if (!document.hidden) open();
  }

  // Show and hide a typed code.
  for (const button of all("[data-reveal]")) {
    const input = document.getElementById(button.dataset.reveal);
    button.hidden = false;
    button.addEventListener("click", () => {
      const hide = input.type === "text";
      input.type = hide ? "password" : "text";
      button.textContent = hide ? "Show" : "Hide";
      button.setAttribute("aria-pressed", String(!hide));
    });
  }

  // Upload with a hash first: <form data-upload>.
  for (const form of all("form[data-upload]")) {
    const file = form.querySelector("input[type=file]");
    const panel = form.querySelector("[data-upload-panel]");
    const bar = panel.querySelector("progress");
    const line = panel.querySelector("[data-upload-line]");
    const announce = panel.querySelector("[data-upload-announce]");
    // The line changes with every chunk; only what matters is read out.
    const tell = (text) => { say(line, text); say(announce, text); };
    const cancel = panel.querySelector("[data-upload-cancel]");
    const again = panel.querySelector("[data-upload-again]");
    const reuse = panel.querySelector("[data-upload-reuse]");
    const force = panel.querySelector("[data-upload-force]");
    const submit = form.querySelector("[data-upload-submit]");
    const sha256 = form.querySelector("input[name=sha256]");
    const name = form.querySelector("input[name=file_name]");
    const csrf = form.querySelector("input[name=csrf]").value;
    let stop = null;

    const show = (element, visible) => { element.hidden = !visible; };
    const idle = () => { submit.disabled = false; show(cancel, false); };

    const hash = (chosen) => new Promise((resolve, reject) => {
      const worker = new Worker(form.dataset.worker);
      stop = () => { worker.terminate(); reject(new Error("cancelled")); };
      worker.onmessage = ({ data }) => {
        if (data.sha256) { worker.terminate(); resolve(data.sha256); return; }
        if (data.error) { worker.terminate(); reject(new Error("The file could not be read. Choose it again.")); return; }
        bar.value = (data.done / Math.max(chosen.size, 1)) * 100;
        say(line, `Reading the file: ${bytes(data.done)} of ${bytes(chosen.size)}`);
      };
      worker.onerror = () => { worker.terminate(); reject(new Error("The file could not be read. Choose it again.")); };
      worker.postMessage(chosen);
    });

    const send = (chosen, digest, again_, resent = false) => new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      const started = performance.now();
      stop = () => { request.abort(); reject(new Error("cancelled")); };
      request.upload.onprogress = (event) => {
        const seconds = Math.max((performance.now() - started) / 1000, 0.1);
        bar.value = (event.loaded / Math.max(event.total, 1)) * 100;
        say(line, `Uploading: ${bytes(event.loaded)} of ${bytes(event.total)}, ${bytes(Math.round(event.loaded / seconds))} each second`);
      };
      request.onerror = () => reject(new Error("The connection was cut. Nothing is lost here: choose Try again."));
      request.onload = () => {
        let answer = {};
        try { answer = JSON.parse(request.responseText); } catch { /* not JSON: the words below say what happened */ }
        if (request.status === 200 && answer.sha256) resolve(answer.sha256);
        // The sign-in was renewed on the way: the same once more is taken.
        else if (answer.type === "token-refreshed-resend" && !resent) send(chosen, digest, again_, true).then(resolve, reject);
        else if (request.status === 401) window.location.reload();
        else reject(new Error(answer.message || "The upload was refused. Choose Try again."));
      };
      request.open("POST", `${form.dataset.uploads}?sha256=${digest}${again_ ? "&force=true" : ""}`);
      request.setRequestHeader("X-CSRF-Token", csrf);
      const body = new FormData();
      body.append("file", chosen, chosen.name);
      request.send(body);
    });

    const finish = (digest) => {
      tell("The file is there.");
      sha256.value = digest;
      name.value = file.files[0].name;
      // The form goes without its file: the hash stands for it.
      file.disabled = true;
      form.submit();
    };

    const known = () => new Promise((resolve, reject) => {
      stop = () => reject(new Error("cancelled"));
      tell("This file was uploaded before. Use it, or upload it again?");
      show(reuse, true);
      show(force, true);
      reuse.focus();
      reuse.onclick = () => resolve(false);
      force.onclick = () => resolve(true);
    }).finally(() => { show(reuse, false); show(force, false); });

    const run = async () => {
      const chosen = file.files[0];
      show(panel, true);
      show(again, false);
      if (chosen.size > Number(form.dataset.max)) {
        tell(`The file has ${bytes(chosen.size)}. At most ${bytes(Number(form.dataset.max))} are taken here.`);
        return;
      }
      if (chosen.size === 0) {
        tell("The file is empty: it has 0 bytes. Choose one with content.");
        return;
      }
      submit.disabled = true;
      tell("Reading the file.");
      show(cancel, true);
      try {
        const digest = await hash(chosen);
        if (form.dataset.present.split(" ").includes(digest)) {
          throw new Error("This file is in the draft already: its content is the same, whatever it is called.");
        }
        const check = await fetch(`${form.dataset.uploads}/${digest}`, { headers: { Accept: "application/json" } });
        if (check.status === 401) { window.location.reload(); return; }
        const there = check.ok && (await check.json()).exists;
        const forced = there ? await known() : false;
        finish(there && !forced ? digest : await send(chosen, digest, forced));
      } catch (problem) {
        tell(problem.message === "cancelled" ? "Cancelled. Your entries are kept." : problem.message || "The connection was cut. Choose Try again.");
        show(again, problem.message !== "cancelled");
        idle();
      }
    };

    form.addEventListener("submit", (event) => {
      if (!file.files.length || typeof Worker === "undefined") return;
      event.preventDefault();
      run();
    });
    cancel.addEventListener("click", () => { if (stop) stop(); });
    again.addEventListener("click", run);
    // Back from a later page: the form is usable again.
    window.addEventListener("pageshow", (event) => { if (event.persisted) { file.disabled = false; show(panel, false); idle(); } });
  }
})();
