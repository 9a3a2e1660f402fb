// Draws the charts of a report from the numbers in the page. Nothing is fetched, and no text of the data is ever markup.
(() => {
"use strict";

const data = JSON.parse(document.getElementById("series").textContent);
const MINUTE = 60000, HOUR = 60 * MINUTE, DAY = 24 * HOUR;
const COLOURS = 9, STACKED = 7;
const HIGH = 210, LEFT = 56, RIGHT = 10, TOP = 10, BOTTOM = 24;
const TIME_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10080].map((minutes) => minutes * MINUTE);
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const TIMES = [[86400e6, "d"], [3600e6, "h"], [60e6, "min"], [1e6, "s"], [1e3, "ms"], [1, "µs"]];
const LOG_TICKS = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 60e6, 600e6, 3600e6, 36000e6, 86400e6, 864000e6];

// -- words

const two = (number) => String(number).padStart(2, "0");

function clock(ms) {
  const at = new Date(ms);
  return `${two(at.getUTCHours())}:${two(at.getUTCMinutes())}`;
}

function day(ms) {
  const at = new Date(ms);
  return `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]}`;
}

function short(number) {
  if (number >= 1e6) return `${+(number / 1e6).toFixed(1)}M`;
  if (number >= 1e4) return `${+(number / 1e3).toFixed(1)}k`;
  return String(+number.toFixed(number < 10 ? 2 : 0));
}

function long(number) {
  return number.toLocaleString("en", { maximumFractionDigits: number < 10 ? 2 : 0 });
}

function duration(us) {
  if (us === 0) return "0 s";
  const [size, unit] = TIMES.find(([least]) => us >= least) || [1, "µs"];
  const amount = us / size;
  return `${amount >= 10 ? Math.round(amount) : +amount.toFixed(1)} ${unit}`;
}

// -- scales

function step(most) {
  const rough = most / 4, power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
}

function linear(most, whole) {
  const size = Math.max(step(most || 1), whole ? 1 : 0);
  const top = Math.ceil((most || 1) / size - 1e-9) * size;
  const ticks = [];
  for (let tick = 0; tick <= top + size / 2; tick += size) ticks.push(tick);
  return { ticks, share: (value) => value / top };
}

function logarithmic(values) {
  const some = values.filter((value) => value > 0);
  const least = Math.max(1, Math.min(...some)), most = Math.max(...some);
  const below = LOG_TICKS.filter((tick) => tick <= least).pop() || 1;
  const above = LOG_TICKS.find((tick) => tick >= most && tick > below) || most;
  const ticks = LOG_TICKS.filter((tick) => tick >= below && tick <= above);
  const every = Math.ceil(ticks.length / 6), shown = ticks.filter((_, place) => place % every === 0);
  const span = Math.log(above / below) || 1;
  // No logarithm shows zero: where there is one, it has a strip of its own at the foot.
  const foot = some.length < values.length ? 0.1 : 0;
  return {
    ticks: foot ? [0, ...shown] : shown,
    share: (value) => (value > 0 ? foot + (1 - foot) * Math.log(Math.max(value, below) / below) / span : 0),
  };
}

function times(wide) {
  const whole = data.slots * data.width_ms, room = Math.max(2, Math.floor(wide / 60));
  const size = TIME_STEPS.find((one) => whole / one <= room) || Math.ceil(whole / room / DAY) * DAY;
  const found = [];
  for (let at = Math.ceil(data.from_ms / size) * size; at < data.from_ms + whole; at += size) {
    found.push([(at - data.from_ms) / whole, at % DAY === 0 || size >= DAY ? day(at) : clock(at)]);
  }
  return found;
}

// -- what is drawn

const seconds = data.width_ms / 1000;

function rate(group, names) {
  const most = Math.max(...names.flatMap((name) => group[name])) / seconds;
  const per = most >= 1 ? 1 : 60;
  return {
    unit: per === 1 ? "messages per second" : "messages per minute",
    lines: names.map((name) => ({ name, values: group[name].map((count) => count * per / seconds) })),
    value: (amount) => long(amount), tick: short,
  };
}

function percentiles(columns) {
  const names = ["p50", "p95", "p99"];
  return {
    log: true, unit: "", tick: duration, value: duration,
    lines: columns.map((values, place) => ({ name: names[place], values })).reverse(),
  };
}

function stacked(groups) {
  const inner = groups.slice(1, 1 + STACKED), rest = groups.slice(1 + STACKED);
  const held = inner.filter((group) => group.backlog.some((count) => count));
  const lines = held.map((group) => ({ name: group.name || "(no name)", values: group.backlog }));
  if (rest.length) {
    const sum = rest[0].backlog.map((_, slot) => rest.reduce((total, group) => total + group.backlog[slot], 0));
    lines.push({ name: rest.length === 1 ? rest[0].name : "others", values: sum });
  }
  return lines;
}

const CHARTS = {
  throughput: (group) => ({ ...rate(group, ["published", "finished"]), shade: true, colours: [1, 2] }),
  backlog: (group, all) => {
    const lines = all ? stacked(data.groups) : [{ name: "backlog", values: group.backlog }];
    return { unit: "messages", whole: true, lines, stack: lines.length > 1, shade: true, tick: short, value: long,
      colours: [1, 3, 6, 5, 2, 7, 8, 9] };
  },
  wait: (group) => ({ ...percentiles(group.wait), colours: [5, 1, 6] }),
  work: (group) => ({ ...percentiles(group.work), colours: [5, 1, 6] }),
  trouble: (group) => ({
    unit: `messages per ${duration(data.width_ms * 1000)}`, whole: true, bars: true, stack: true, tick: short, value: long,
    lines: [{ name: "came back", values: group.retried }, { name: "dropped", values: group.dropped },
      { name: "expired", values: group.expired }], colours: [3, 4, 9],
  }),
  oldest: (group) => ({ unit: "", durations: true, shade: true, tick: duration, value: duration,
    lines: [{ name: "oldest", values: group.oldest.map((age) => age || 0) }], colours: [5] }),
};

// -- drawing

const SVG = "http://www.w3.org/2000/svg";

function shape(name, attributes, parent, words) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (words !== undefined) made.textContent = words;
  parent.append(made);
  return made;
}

function element(name, parent, words, kind) {
  const made = document.createElement(name);
  if (words !== undefined) made.textContent = words;
  if (kind) made.className = kind;
  parent.append(made);
  return made;
}

function durationScale(most) {
  const unit = TIMES.find(([size]) => most >= 2 * size) || TIMES[TIMES.length - 1];
  const scale = linear(most / unit[0], false);
  return { ticks: scale.ticks.map((tick) => tick * unit[0]), share: (value) => scale.share(value / unit[0]) };
}

class Chart {
  constructor(figure) {
    this.figure = figure;
    this.plot = figure.querySelector(".plot");
    this.legend = figure.querySelector(".legend");
    this.slot = null;
  }

  show(spec) {
    this.spec = spec;
    this.draw();
  }

  empty() {
    return !this.spec.lines.some((line) => line.values.some((value) => value));
  }

  draw() {
    this.hide();
    this.plot.replaceChildren();
    this.legend.replaceChildren();
    if (this.empty()) {
      element("p", this.plot, this.figure.dataset.empty, "empty");
      return;
    }
    this.wide = this.plot.clientWidth;
    this.inner = this.wide - LEFT - RIGHT;
    this.tall = HIGH - TOP - BOTTOM;
    this.tops = this.spec.stack ? stack(this.spec.lines) : this.spec.lines.map((line) => line.values);
    this.scale = this.scaled();
    this.svg = shape("svg", { viewBox: `0 0 ${this.wide} ${HIGH}`, height: HIGH }, this.plot);
    this.axes();
    this.spec.lines.forEach((line, place) => this.line(line, place));
    this.key();
    this.cursor = shape("g", {}, this.svg);
  }

  scaled() {
    const all = this.tops.flat().filter((value) => value !== null);
    const most = Math.max(...all);
    if (this.spec.log) return logarithmic(all);
    return this.spec.durations ? durationScale(most) : linear(most, this.spec.whole);
  }

  x(slot) { return LEFT + this.inner * (slot + 0.5) / data.slots; }
  y(value) { return TOP + this.tall * (1 - this.scale.share(value)); }
  colour(place) { return `c${this.spec.colours[place % this.spec.colours.length] || COLOURS}`; }

  axes() {
    for (const tick of this.scale.ticks) {
      const y = this.y(tick);
      shape("line", { class: "gridline", x1: LEFT, x2: LEFT + this.inner, y1: y, y2: y }, this.svg);
      shape("text", { x: LEFT - 8, y: y + 4, "text-anchor": "end" }, this.svg, this.spec.tick(tick));
    }
    const base = TOP + this.tall;
    shape("line", { class: "axis", x1: LEFT, x2: LEFT + this.inner, y1: base, y2: base }, this.svg);
    for (const [share, words] of times(this.inner)) {
      const x = LEFT + this.inner * share;
      shape("line", { class: "axis", x1: x, x2: x, y1: base, y2: base + 4 }, this.svg);
      const anchor = x > this.wide - 30 ? "end" : x < LEFT + 14 ? "start" : "middle";
      shape("text", { x, y: base + 17, "text-anchor": anchor }, this.svg, words);
    }
  }

  line(line, place) {
    const kind = this.colour(place), values = this.tops[place];
    const group = shape("g", { class: kind }, this.svg);
    if (this.spec.bars) {
      this.bars(group, values, place);
      return;
    }
    const below = this.spec.stack && place ? this.tops[place - 1] : null;
    const filled = this.spec.stack ? "area" : "shade";
    for (const run of runs(values)) {
      const points = run.map((slot) => `${this.x(slot).toFixed(1)},${this.y(values[slot]).toFixed(1)}`);
      if (this.spec.stack || (this.spec.shade && place === 0)) {
        const floor = [...run].reverse().map((slot) => `${this.x(slot).toFixed(1)},${this.y(below ? below[slot] : 0).toFixed(1)}`);
        shape("path", { class: filled, d: `M${[...points, ...floor].join("L")}Z` }, group);
      }
      if (run.length === 1) {
        shape("circle", { class: "dot", cx: this.x(run[0]), cy: this.y(values[run[0]]), r: 1.8 }, group);
      } else if (!this.spec.stack) {
        shape("path", { d: `M${points.join("L")}` }, group);
      }
    }
  }

  bars(group, values, place) {
    const wide = Math.max(1, this.inner / data.slots - (this.inner / data.slots > 4 ? 1 : 0));
    values.forEach((top, slot) => {
      const bottom = place ? this.tops[place - 1][slot] : 0;
      if (top <= bottom) return;
      const y = this.y(top), tall = Math.max(1, this.y(bottom) - y);
      shape("rect", { class: "slab", x: this.x(slot) - wide / 2, y, width: wide, height: tall }, group);
    });
  }

  key() {
    if (this.spec.unit) element("span", this.legend, this.spec.unit);
    if (this.spec.lines.length < 2) return;
    this.spec.lines.forEach((line, place) => {
      const row = element("span", this.legend);
      element("i", row).className = this.colour(place);
      row.append(line.name);
    });
  }

  // -- the value under the pointer

  point(slot, telling) {
    this.hide();
    if (slot === null || !this.svg || !this.svg.isConnected) return;
    const x = this.x(slot);
    shape("line", { class: "cursor", x1: x, x2: x, y1: TOP, y2: TOP + this.tall }, this.cursor);
    this.spec.lines.forEach((line, place) => {
      if (line.values[slot] === null || this.spec.bars) return;
      shape("circle", { class: `dot ${this.colour(place)}`, cx: x, cy: this.y(this.tops[place][slot]), r: 3 }, this.cursor);
    });
    if (telling) this.tell(slot, x);
  }

  tell(slot, x) {
    const at = data.from_ms + slot * data.width_ms;
    this.tip = element("div", this.figure, undefined, "tip");
    element("p", this.tip, `${day(at)}, ${clock(at)} – ${clock(at + data.width_ms)}`);
    this.spec.lines.forEach((line, place) => {
      const row = element("div", this.tip, undefined, this.colour(place));
      const name = element("span", row);
      element("i", name).className = this.colour(place);
      name.append(line.name);
      element("strong", row, line.values[slot] === null ? "–" : this.spec.value(line.values[slot]));
    });
    const left = this.plot.offsetLeft + x, wide = this.tip.offsetWidth;
    this.tip.style.left = `${Math.max(4, left + 14 + wide > this.figure.clientWidth ? left - wide - 14 : left + 14)}px`;
    this.tip.style.top = `${this.plot.offsetTop + TOP}px`;
  }

  hide() {
    if (this.cursor) this.cursor.replaceChildren();
    if (this.tip) this.tip.remove();
    this.tip = null;
  }

  slotAt(event) {
    const box = this.svg.getBoundingClientRect();
    const share = (event.clientX - box.left - LEFT) / this.inner;
    return Math.min(data.slots - 1, Math.max(0, Math.floor(share * data.slots)));
  }
}

function stack(lines) {
  const sums = new Array(data.slots).fill(0);
  return lines.map((line) => line.values.map((value, slot) => (sums[slot] += value || 0)));
}

function runs(values) {
  const found = [];
  values.forEach((value, slot) => {
    if (value === null) return;
    const last = found[found.length - 1];
    if (last && last[last.length - 1] === slot - 1) last.push(slot);
    else found.push([slot]);
  });
  return found;
}

// -- all together

const charts = [...document.querySelectorAll("figure")].map((figure) => new Chart(figure));
const chooser = document.getElementById("group");

function show() {
  const place = Number(chooser.value);
  for (const chart of charts) chart.show(CHARTS[chart.figure.id](data.groups[place], place === 0 && data.groups.length > 2));
}

function point(slot, told) {
  for (const chart of charts) {
    chart.slot = slot;
    chart.point(slot, chart === told);
  }
}

for (const chart of charts) {
  chart.plot.addEventListener("pointermove", (event) => { if (!chart.empty()) point(chart.slotAt(event), chart); });
  chart.plot.addEventListener("pointerdown", (event) => { if (!chart.empty()) point(chart.slotAt(event), chart); });
  chart.plot.addEventListener("pointerleave", () => point(null, chart));
  chart.figure.addEventListener("blur", () => point(null, chart));
  chart.figure.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by || chart.empty()) return;
    event.preventDefault();
    const from = chart.slot === null ? (by > 0 ? -1 : data.slots) : chart.slot;
    point(Math.min(data.slots - 1, Math.max(0, from + by)), chart);
  });
}
chooser.addEventListener("change", show);
for (const button of document.querySelectorAll("button[data-group]")) {
  button.addEventListener("click", () => {
    chooser.value = button.dataset.group;
    show();
    chooser.scrollIntoView({ block: "start", behavior: "smooth" });
  });
}

let drawnAt = document.documentElement.clientWidth;
show();
new ResizeObserver(() => {
  const wide = document.documentElement.clientWidth;
  if (wide === drawnAt) return;
  drawnAt = wide;
  show();
}).observe(document.documentElement);
})();
