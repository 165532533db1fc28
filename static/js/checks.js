// The network check of a target: asks for its stages while it runs, repeats it after a failure. The page works without this.
"use strict";

(() => {
  const EVERY = 2000;
  const PAUSE = 30;
  const BY_HAND = 15;
  const MOST_REPEATS = 10;

  for (const section of document.querySelectorAll("[data-checks]")) {
    const place = section.querySelector("[data-stages-place]");
    const announce = section.querySelector("[data-checks-announce]");
    const countdown = section.querySelector("[data-countdown]");
    const button = section.querySelector("[data-check-again]");
    section.querySelector("[data-look-again]").hidden = true;
    let timer = null;
    let repeats = 0;
    let left = 0;
    let told = "";

    const state = () => place.querySelector("[data-stages]").dataset.state;

    const tell = () => {
      const verdict = place.querySelector(".verdict");
      const last = [...place.querySelectorAll(".stage-head")].pop();
      const words = `${verdict.textContent.trim()} ${last ? last.textContent.trim() : ""}`.replace(/\s+/g, " ");
      if (words !== told && told !== "") announce.textContent = words;
      told = words;
    };

    // Nobody asked for it, so the page goes nowhere by itself: a sign-in that needs no word would begin a new session.
    const signedOut = () => {
      clearTimeout(timer);
      timer = null;
      button.disabled = true;
      countdown.hidden = false;
      const again = document.createElement("a");
      again.href = window.location.pathname;
      again.textContent = "Sign in again";
      countdown.replaceChildren("You are signed out, and the check is no longer watched. ", again, " to go on; your entries are kept.");
      announce.textContent = countdown.textContent;
    };

    const show = async (answer) => {
      if (answer.status === 401 || answer.redirected) { signedOut(); return; }
      if ([404, 410].includes(answer.status)) { window.location.reload(); return; }
      if (!answer.ok) { later(EVERY * 3, look); return; }
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = page.querySelector("[data-stages]");
      if (!fresh) { window.location.reload(); return; }
      place.replaceChildren(document.importNode(fresh, true));
      tell();
      next();
    };

    const later = (wait, work) => { clearTimeout(timer); timer = setTimeout(work, wait); };

    const look = async () => {
      if (document.hidden) { timer = null; return; }
      try {
        await show(await fetch(section.dataset.checks, { headers: { Accept: "text/html" } }));
      } catch {
        later(EVERY * 3, look);
      }
    };

    const repeat = async () => {
      repeats += 1;
      countdown.hidden = true;
      button.disabled = true;
      try {
        const headers = { Accept: "text/html", "X-CSRF-Token": section.dataset.csrf };
        const answer = await fetch(section.dataset.repeat, { method: "POST", headers });
        if (answer.ok || answer.status === 401) await show(answer);
        else { countdown.hidden = false; countdown.textContent = "The check could not be repeated just now."; button.disabled = false; }
      } catch {
        countdown.hidden = false;
        countdown.textContent = "The connection was cut. Check again by hand.";
        button.disabled = false;
      }
    };

    const count = () => {
      button.disabled = left > BY_HAND;
      countdown.hidden = false;
      if (repeats >= MOST_REPEATS) { button.disabled = false; countdown.textContent = "The check is not repeated by itself any more."; return; }
      countdown.textContent = `The check is repeated by itself in ${left} ${left === 1 ? "second" : "seconds"}.`;
      if (document.hidden) { timer = null; return; }
      if (left === 0) { repeat(); return; }
      left -= 1;
      later(1000, count);
    };

    const next = () => {
      const now = state();
      countdown.hidden = true;
      button.disabled = now === "running";
      if (now === "running" || now === "trouble") later(EVERY, look);
      else if (now === "failed") { left = PAUSE; count(); }
      else clearTimeout(timer);
    };

    // A page in the background asks nobody.
    document.addEventListener("visibilitychange", () => {
      if (document.hidden || timer !== null) return;
      if (state() === "failed") count();
      else if (state() === "running" || state() === "trouble") look();
    });

    tell();
    next();
  }
})();
