// Figures: drawn by plotly.js once they are in sight, and again when the trials have changed.
"use strict";

(() => {
  const { filter, joined, text } = window.sweep;
  const figures = [...document.querySelectorAll("[data-figure]")];
  const inSight = new Set();
  const stale = new Set(figures);
  const followed = new WeakSet(); // the plots whose points lead to their trials
  let isBusy = false;

  function words(figure, drawn) {
    const caption = figure.querySelector("figcaption");
    const title = document.createElement("strong");
    title.textContent = `${drawn.title}. `;
    const reason = drawn.reason && `Nothing to draw: ${drawn.reason}.`;
    caption.replaceChildren(title, reason || drawn.caption);
    figure.classList.toggle("blank", Boolean(drawn.reason));
  }

  function follow(event) {
    const trial = [event.points?.[0]?.customdata].flat(2)[0];
    if (Number.isInteger(trial)) location.assign(`${document.body.dataset.study}/trials/${trial}`);
  }

  async function draw(figure) {
    const plot = figure.querySelector(".plot");
    figure.setAttribute("aria-busy", "true");
    try {
      const drawn = JSON.parse(await text(joined(figure.dataset.figure, filter())));
      words(figure, drawn);
      if (drawn.reason) {
        Plotly.purge(plot); // with what listens to it
        followed.delete(plot);
        return;
      }
      const { data, layout } = drawn.figure;
      plot.style.height = `${layout.height}px`;
      plot.style.minHeight = "0";
      await Plotly.react(plot, data, { ...layout, uirevision: "kept" }, drawn.config);
      if (!followed.has(plot)) plot.on("plotly_click", follow);
      followed.add(plot);
    } catch (error) {
      words(figure, { title: figure.querySelector("strong").textContent.replace(/\. $/, ""), reason: error.message });
    } finally {
      figure.removeAttribute("aria-busy");
    }
  }

  // One after the other, those in sight only: the server has other things to do.
  async function work() {
    if (isBusy) return;
    isBusy = true;
    for (;;) {
      const next = figures.find((figure) => stale.has(figure) && inSight.has(figure));
      if (!next) break;
      stale.delete(next);
      await draw(next);
    }
    isBusy = false;
  }

  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting) inSight.add(entry.target);
      else inSight.delete(entry.target);
    }
    work();
  }, { rootMargin: "300px" });
  figures.forEach((figure) => observer.observe(figure));
  document.addEventListener("sweep-changed", () => {
    figures.forEach((figure) => stale.add(figure));
    work();
  });
})();
