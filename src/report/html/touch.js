// Pointer, wheel, fingers and keys on the chart.

/** The dot nearest to a place, if it is near enough to be meant. */
function nearest(u, v) {
  let [best, least] = [null, Infinity];
  for (const dot of chart.dots) {
    const distance = Math.hypot(dot.u - u, dot.v - v);
    // Small marks lie above large ones.
    const far = Math.max(0, distance - dot.radius) + distance / 1000 + dot.radius / 100;
    if (far < least && distance <= dot.radius + 14) [best, least] = [dot, far];
  }
  return best;
}

function placeOf(event) {
  const box = chart.box.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

const isInPlot = (u, v) => u >= chart.plot.left && u <= chart.plot.right && v >= chart.plot.top && v <= chart.plot.bottom;

/** Shows a part of the chart, between a hundredth of a decade and thirty decades. */
function look(x, y) {
  const fits = ([low, high]) => high - low > 0.01 && high - low < 30;
  if (fits(x) && fits(y)) ask({ view: { x, y } });
}

/** Zooms around a place; a factor below one comes nearer. */
function zoom(by, u, v) {
  if (!chart.plot) return;
  const { left, right, top, bottom } = chart.plot;
  const about = (axis, pixel) => {
    const fixedAt = Math.log10(axis.value(pixel));
    return [fixedAt + (axis.low - fixedAt) * by, fixedAt + (axis.high - fixedAt) * by];
  };
  look(about(chart.x, u ?? (left + right) / 2), about(chart.y, v ?? (top + bottom) / 2));
}

function move(du, dv) {
  const by = (axis, pixels) => ((axis.high - axis.low) * pixels) / (axis.to - axis.from);
  const [dx, dy] = [by(chart.x, du), by(chart.y, dv)];
  look([chart.x.low - dx, chart.x.high - dx], [chart.y.low - dy, chart.y.high - dy]);
}

/** What a pointer points at. */
function showTip(dot) {
  const tip = byId("tip");
  tip.hidden = !dot;
  if (!dot) return;
  const { k } = dot;
  const line = (label, value) => make("div", {}, make("dt", {}, label), make("dd", {}, value));
  tip.replaceChildren(
    make("strong", {}, `${K.rank[k]}. ${elide(nameOf(k), 90)}`),
    make("dl", {},
      line("measured", `${si(K.measured_s[k], "s")}, ${percent(K.share[k])}`),
      line("roofline", rooflineText(k, (time) => si(time, "s"))),
      line("ratio", headroomText(k)),
      line("savings", K.proven_savings_s[k] == null ? MISSING : si(K.proven_savings_s[k], "s")),
      line("limiter", limiterText(k)),
      line("state", stateOf(k)[1])),
  );
  const left = dot.u + dot.radius + 12;
  const width = Math.min(300, chart.box.clientWidth - 16);
  const x = left + width > chart.box.clientWidth ? Math.max(8, dot.u - dot.radius - 12 - width) : left;
  const y = Math.max(4, Math.min(dot.v - 20, chart.box.clientHeight - tip.offsetHeight - 4));
  Object.assign(tip.style, { width: `${width}px`, transform: `translate(${x}px, ${y}px)` });
}

function hover(dot) {
  ask({ hovered: dot?.k ?? null });
  showTip(dot);
}

/** What a kernel is, in one spoken sentence. */
function sentence(k) {
  const headroom = K.headroom[k] == null ? "" : `, ${headroomText(k)} its roofline time`;
  return `${K.rank[k]}: ${elide(nameOf(k), 80)}, ${stateOf(k)[1]}, ${si(K.measured_s[k], "s")}${headroom}`;
}

/** Steps through the kernels that fit, in the order of the table. */
function step(by) {
  const all = fitting();
  if (all.length === 0) return;
  const now = all.indexOf(asked.selected);
  const next = by === -Infinity ? 0 : by === Infinity ? all.length - 1 : now < 0 ? 0 : Math.min(all.length - 1, Math.max(0, now + by));
  select(all[next]);
  byId("spoken").textContent = sentence(all[next]);
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const acts = {
    ArrowRight: () => step(1), ArrowDown: () => step(1), ArrowLeft: () => step(-1), ArrowUp: () => step(-1),
    PageDown: () => step(10), PageUp: () => step(-10), Home: () => step(-Infinity), End: () => step(Infinity),
    Enter: () => byId("detail").focus(), Escape: () => { select(null); hover(null); },
    "+": () => zoom(0.7), "=": () => zoom(0.7), "-": () => zoom(1 / 0.7), 0: () => ask({ view: null }),
  };
  const act = acts[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}

/** Fingers or the mouse button that are down, with where they were last. */
const down = new Map();
let traveled = 0;

function onMove(event) {
  const [u, v] = placeOf(event);
  const before = down.get(event.pointerId);
  if (!before) {
    if (event.pointerType !== "touch") hover(chart.plot && isInPlot(u, v) ? nearest(u, v) : null);
    return;
  }
  if (down.size === 2) {
    const [other] = [...down.entries()].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
    const [was, is] = [Math.hypot(before[0] - other[0], before[1] - other[1]), Math.hypot(u - other[0], v - other[1])];
    if (was > 0 && is > 0) zoom(was / is, (u + other[0]) / 2, (v + other[1]) / 2);
    traveled = Infinity;
  } else {
    traveled += Math.hypot(u - before[0], v - before[1]);
    // A trembling hand does not drag.
    if (traveled > 4) {
      if (!chart.box.hasPointerCapture(event.pointerId)) chart.box.setPointerCapture(event.pointerId);
      showTip(null);
      move(u - before[0], v - before[1]);
    }
  }
  down.set(event.pointerId, [u, v]);
}

function onUp(event) {
  const was = down.delete(event.pointerId);
  if (!was || traveled > 4 || event.type !== "pointerup") return;
  const [u, v] = placeOf(event);
  const dot = nearest(u, v);
  if (dot) select(dot.k);
  showTip(event.pointerType === "touch" ? null : dot);
}

/** Listens to the chart. */
function touch() {
  const { box } = chart;
  box.addEventListener("pointerdown", (event) => {
    const [u, v] = placeOf(event);
    if (event.button !== 0 || !chart.plot || !isInPlot(u, v)) return;
    if (down.size === 0) traveled = 0;
    down.set(event.pointerId, [u, v]);
  });
  box.addEventListener("pointermove", onMove);
  for (const end of ["pointerup", "pointercancel"]) box.addEventListener(end, onUp);
  box.addEventListener("pointerleave", (event) => {
    if (!down.has(event.pointerId)) hover(null);
  });
  box.addEventListener("dblclick", (event) => zoom(0.5, ...placeOf(event)));
  box.addEventListener("keydown", onKey);
  // The wheel scrolls the page, unless the chart was asked for.
  box.addEventListener("wheel", (event) => {
    if (!chart.plot || !(event.ctrlKey || event.metaKey || document.activeElement === box)) return;
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1;
    zoom(Math.exp(Math.max(-1, Math.min(1, (event.deltaY * lines) / 400))), ...placeOf(event));
  }, { passive: false });
}
