// Pages: what is shown follows the stored studies and the filter; figures.js draws the figures.
"use strict";

(() => {
  const POLL_MS = 2000;
  const { poll } = document.body.dataset;
  const form = document.getElementById("filter");
  const live = document.getElementById("live");
  const table = new URLSearchParams(location.search);
  let version = null;
  let asked = 0;

  // The filter as it is pressed, in the words of the page's address.
  function filter() {
    const query = new URLSearchParams();
    if (!form) return query;
    for (const [name, value] of new FormData(form)) query.append(name, value);
    for (const low of form.querySelectorAll("[data-range]:first-of-type")) {
      const ends = [...low.parentElement.querySelectorAll("[data-range]")].map((e) => e.value.trim());
      const areNumbers = ends.every((end) => end === "" || Number.isFinite(Number(end)));
      if (areNumbers && ends.some(Boolean)) query.append(low.dataset.range, ends.join(".."));
    }
    return query;
  }

  function withTable(query) {
    for (const key of ["sort", "page"]) if (table.has(key)) query.set(key, table.get(key));
    return query;
  }

  function joined(path, query) {
    const text = query.toString();
    return text ? `${path}${path.includes("?") ? "&" : "?"}${text}` : path;
  }

  async function text(path) {
    const answer = await fetch(path);
    if (answer.status === 401) throw new Error("the token is asked for again: reload with it");
    if (answer.ok) return answer.text();
    const said = await answer.text();
    const isJson = (answer.headers.get("Content-Type") || "").includes("json");
    const words = isJson
      ? JSON.parse(said).error
      : new DOMParser().parseFromString(said, "text/html").querySelector(".message")?.textContent;
    throw new Error(words || `the server answered ${answer.status}`);
  }

  function say(words, isFault) {
    live.textContent = words;
    live.className = isFault ? "fault" : "";
  }

  // The new content, with what was unfolded and scrolled left as it was.
  function replace(section, content) {
    if (section.dataset.shown === content) return;
    const open = [...section.querySelectorAll("details")].map((each) => each.open);
    const boxes = [...section.querySelectorAll(".scroll")].map((box) => box.scrollLeft);
    const log = section.querySelector(".log");
    const wasRead = log && log.scrollTop + log.clientHeight < log.scrollHeight - 8;
    const place = log?.scrollTop;
    section.innerHTML = content;
    section.dataset.shown = content;
    section.querySelectorAll("details").forEach((each, index) => { each.open = open[index] ?? each.open; });
    section.querySelectorAll(".scroll").forEach((box, index) => { box.scrollLeft = boxes[index] ?? 0; });
    const fresh = section.querySelector(".log");
    if (fresh) fresh.scrollTop = wasRead ? place : fresh.scrollHeight;
  }

  async function load(section, isWanted = () => true) {
    const query = withTable(filter());
    if (section.dataset.attempt) query.set("attempt", section.dataset.attempt);
    const mine = ++asked;
    section.dataset.asked = mine;
    section.setAttribute("aria-busy", "true");
    try {
      const content = await text(joined(section.dataset.fragment, query));
      if (Number(section.dataset.asked) === mine && isWanted(section)) replace(section, content);
    } finally {
      section.removeAttribute("aria-busy");
    }
  }

  async function refresh(isWanted = () => true) {
    const sections = [...document.querySelectorAll("[data-fragment]")].filter(isWanted);
    await Promise.all(sections.map((section) => load(section, isWanted)));
  }

  // What is pressed or selected would be lost with the content that it is in.
  function isHeld(section) {
    const selection = getSelection();
    return section.matches(":active") || (!selection.isCollapsed && section.contains(selection.anchorNode));
  }

  const isGrowing = (section) => section.querySelector("[data-growing]") !== null && !isHeld(section);

  async function follow() {
    const start = performance.now();
    try {
      if (!document.hidden) {
        const now = JSON.parse(await text(poll)).version;
        if (now !== version) {
          const isFirst = version === null;
          await refresh();
          if (!isFirst) document.dispatchEvent(new Event("sweep-changed"));
          version = now;
        } else {
          await refresh(isGrowing);
        }
        say("live", false);
      }
    } catch (error) {
      say(`not updating: ${error.message}`, true);
    }
    // A large study is asked for less often than it takes to answer.
    setTimeout(follow, Math.max(POLL_MS, 4 * (performance.now() - start)));
  }

  function show() {
    const query = withTable(filter());
    history.replaceState(null, "", joined(location.pathname, query));
    refresh((section) => section.dataset.fragment.endsWith("/tables")).catch((error) =>
      say(`not shown: ${error.message}`, true));
  }

  form?.addEventListener("change", () => {
    table.delete("page");
    show();
    document.dispatchEvent(new Event("sweep-changed"));
  });
  form?.addEventListener("submit", (event) => event.preventDefault());
  form?.addEventListener("reset", (event) => {
    event.preventDefault();
    for (const input of form.querySelectorAll("input")) {
      if (input.type === "hidden") input.remove();
      else if (input.type === "checkbox") input.checked = false;
      else input.value = "";
    }
    form.dispatchEvent(new Event("change"));
  });

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const { sort, page, attempt } = button.dataset;
    if (sort !== undefined) {
      table.set("sort", sort);
      table.delete("page");
    } else if (page !== undefined) {
      table.set("page", page);
    } else if (attempt !== undefined) {
      const section = button.closest("[data-fragment]");
      section.dataset.attempt = attempt;
      load(section).catch((error) => say(`not shown: ${error.message}`, true));
      return;
    } else {
      return;
    }
    show();
  });

  window.sweep = { filter, joined, text, say };
  document.querySelectorAll(".log").forEach((log) => { log.scrollTop = log.scrollHeight; });
  if (poll) follow();
})();
