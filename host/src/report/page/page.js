// What a pointer over a figure shows. Everything else works without: switches and views are CSS.
"use strict";
(() => {
  const tip = document.createElement("div");
  tip.id = "tip";
  tip.hidden = true;
  tip.setAttribute("role", "status");
  document.body.append(tip);
  const line = (text, bold) => {
    const row = document.createElement("div");
    const part = document.createElement(bold ? "b" : "span");
    part.textContent = text;
    row.append(part);
    tip.append(row);
  };
  const show = (event) => {
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const right = event.clientX + 16 + box.width > innerWidth;
    const left = right ? event.clientX - box.width - 14 : event.clientX + 16;
    const top = Math.min(event.clientY + 14, innerHeight - box.height - 6);
    tip.style.left = Math.max(4, left) + "px";
    tip.style.top = Math.max(4, top) + "px";
  };
  const hide = () => { tip.hidden = true; };
  const number = (value) => {
    if (value === null) return "–";
    const size = Math.abs(value);
    return size !== 0 && (size < 1e-3 || size >= 1e5) ? value.toExponential(2) : String(Number(value.toPrecision(4)));
  };
  // The browser's own tips would stand beside ours.
  for (const title of document.querySelectorAll("svg.figure > title, [data-tip] > title")) {
    const svg = title.closest("svg");
    if (title.parentNode === svg) {
      svg.setAttribute("aria-label", title.textContent);
      svg.removeAttribute("aria-labelledby");
    }
    title.remove();
  }
  for (const shape of document.querySelectorAll("[data-tip]")) {
    shape.addEventListener("pointermove", (event) => {
      tip.replaceChildren();
      line(shape.dataset.tip, false);
      show(event);
    });
    shape.addEventListener("pointerleave", hide);
  }
  for (const svg of document.querySelectorAll("svg[data-hover]")) {
    let data = null;
    let guide = null;
    svg.addEventListener("pointermove", (event) => {
      data = data || JSON.parse(svg.dataset.hover);
      const box = svg.getBoundingClientRect();
      const at = (event.clientX - box.left) / box.width * svg.viewBox.baseVal.width;
      const group = svg.closest("[data-group]");
      const visible = data.series.filter((series) => {
        const box = group && group.querySelector("input[data-key='" + series.k + "']");
        return series.points.length > 0 && (!box || box.checked);
      });
      const nearest = (points) => points.reduce((a, b) => Math.abs(b[0] - at) < Math.abs(a[0] - at) ? b : a);
      const found = visible.map((series) => [series.name, nearest(series.points)]);
      if (found.length === 0) return hide();
      const place = nearest(found.map((pair) => pair[1]));
      if (!guide) {
        guide = document.createElementNS("http://www.w3.org/2000/svg", "line");
        guide.setAttribute("class", "guide");
        guide.setAttribute("y1", data.top);
        guide.setAttribute("y2", data.bottom);
        svg.append(guide);
      }
      guide.setAttribute("x1", place[0]);
      guide.setAttribute("x2", place[0]);
      tip.replaceChildren();
      line(data.x + ": " + number(place[2]), true);
      for (const [name, point] of found) {
        if (Math.abs(point[0] - place[0]) > 3) continue;
        const interval = point.length > 4 ? " (" + number(point[4]) + " to " + number(point[5]) + ")" : "";
        line(name + ": " + number(point[3]) + interval, false);
      }
      show(event);
    });
    svg.addEventListener("pointerleave", () => {
      hide();
      if (guide) guide.remove();
      guide = null;
    });
  }
  // Tables that are sorted by a click on a column's name, and searched.
  const key = (row, column) => {
    const text = row.cells[column].textContent;
    const value = Number(text);
    return text === "–" ? Infinity : Number.isNaN(value) ? text : value;
  };
  const compare = (a, b) => typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1;
  for (const table of document.querySelectorAll("table[data-sort]")) {
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const sort = () => {
        const up = head.getAttribute("aria-sort") !== "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        const rows = [...body.rows].map((row) => [key(row, column), row]);
        rows.sort((a, b) => up ? compare(a[0], b[0]) : compare(b[0], a[0]));
        body.append(...rows.map((pair) => pair[1]));
      };
      head.tabIndex = 0;
      head.addEventListener("click", sort);
      head.addEventListener("keydown", (event) => { if (event.key === "Enter") sort(); });
    });
  }
  for (const place of document.querySelectorAll("[data-search]")) {
    const rows = [...document.getElementById(place.dataset.search).tBodies[0].rows];
    const input = document.createElement("input");
    input.type = "search";
    input.placeholder = "search: words in any column";
    input.setAttribute("aria-label", "Search");
    const count = document.createElement("span");
    count.setAttribute("role", "status");
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
      let shown = 0;
      for (const row of rows) {
        const cells = " " + [...row.cells].map((cell) => cell.textContent.toLowerCase()).join(" ") + " ";
        row.hidden = !words.every((word) => cells.includes(word));
        shown += row.hidden ? 0 : 1;
      }
      count.textContent = words.length === 0 ? "" : shown + " of " + rows.length;
    });
    place.append(input, count);
  }
  addEventListener("scroll", hide, { passive: true });
  // While the run goes on, the page is made again from time to time, and loaded again: not while somebody types, selects, or
  // looks at another tab. What was switched, opened and searched for stays; the browser keeps the place.
  const live = document.getElementById("live");
  const inputs = () => [...document.querySelectorAll("input[id], .search input, details")];
  const kept = "host " + location.pathname;
  try {
    const saved = JSON.parse(sessionStorage.getItem(kept) || "null");
    sessionStorage.removeItem(kept);
    if (saved && saved.title === document.title) {
      inputs().forEach((input, i) => {
        const was = saved.inputs[i];
        if (was === undefined || (input.id || input.tagName) !== was[0]) return;
        if (input.tagName === "DETAILS") input.open = was[1];
        else if (input.type === "search") { input.value = was[1]; input.dispatchEvent(new Event("input")); }
        else input.checked = was[1];
      });
    }
  } catch (error) { /* Nothing is kept where nothing may be stored. */ }
  if (live) {
    const made = Number(live.dataset.made) * 1000;
    const next = Math.max(3, Number(live.dataset.next)) * 1000;
    const busy = () => document.hidden || String(getSelection()) !== "" ||
      (document.activeElement && document.activeElement.type === "search");
    const again = () => {
      if (busy()) return;
      const state = (input) => input.tagName === "DETAILS" ? input.open : input.type === "search" ? input.value : input.checked;
      try {
        const list = inputs().map((input) => [input.id || input.tagName, state(input)]);
        sessionStorage.setItem(kept, JSON.stringify({ title: document.title, inputs: list }));
      } catch (error) { /* See above. */ }
      location.reload();
    };
    // A run that was killed makes no other page, and says so to nobody.
    const silent = Date.now() - made > 10 * next + 600000;
    if (silent) {
      live.classList.add("stale");
      live.append(" Nothing has been written since: the run may have been killed. host run --resume goes on with it.");
    }
    setInterval(again, silent ? 300000 : next + 500);
    document.addEventListener("visibilitychange", () => { if (Date.now() - made > next) again(); });
  }
})();
