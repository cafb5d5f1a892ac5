// The stage: data moves from memory over the bus to the processor; below it, the times race.
//
// A moment is a share of the whole time, so that the picture can be played, stepped and dragged, and the
// same moment always looks the same. Packets move at one speed; how many there are tells how busy a
// bus is. What waits is drawn waiting.

/** Share of the whole work that a packet is on its way, and pixels between packets of a full lane. */
const [ON_THE_WAY, APART] = [0.09, 12];
/** Turns of an SM between waiting and computing during the whole work. */
const TURNS = 23;

const benchStage = { marks: null, cells: [], packets: [], queue: [] };

const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

/** How full the queue in front of the processor is: full if the processor limits, empty if data does. */
function queueOf({ paths }) {
  const data = Math.max(paths.memory, paths.chip);
  if (!(paths.math > 0)) return 0;
  return data > 0 ? clamp((paths.math / data - 0.9) / 0.2, 0, 1) : 1;
}

/** Blocks that an SM has left and may hold at a moment of the work. */
function blocksAt(s, law, sm, done) {
  const step = done * law.steps;
  const before = law.full * s.resident;
  if (step < before) return s.resident;
  const own = Math.floor(law.rest / s.sms) + (sm < law.rest % s.sms ? 1 : 0);
  return Math.max(0, Math.ceil(own - (step - before)));
}

/** Lays the stage out for a machine; moments only change what stands on it. */
function buildStage(box, s) {
  const width = box.clientWidth;
  if (!width) return;
  const height = clamp(Math.round(width * 0.24), 150, 340);
  const isNarrow = width < 560;
  const unit = isNarrow ? 54 : clamp(width * 0.11, 80, 190);
  const processor = clamp(width * 0.36, 128, 900);
  const top = 22;
  const inner = height - top - 4;
  const queue = isNarrow ? 12 : 18;
  const bus = (width - 2 * unit - processor - queue) / 2;
  const at = { memory: 1, first: unit, chip: unit + bus, second: 2 * unit + bus, queue: 2 * (unit + bus) + 2, processor: 2 * (unit + bus) + queue };
  const middle = top + inner / 2;
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true", focusable: "false" });
  const word = (x, text, extra = "") => draw("text", { x, y: 14, "text-anchor": "middle", class: extra }, text);
  const level = draw("rect", { x: at.memory + 1, width: unit - 4, class: "bench-level" });
  svg.append(
    word(at.memory + unit / 2, "memory"), word(at.chip + unit / 2, s.onChip == null && !isNarrow ? "L2, rate not known" : "L2"),
    word(at.processor + processor / 2 - 1, count(s.sms, "SM", "SMs")),
    level,
    draw("rect", { x: at.memory, y: top, width: unit - 2, height: inner, rx: 4, class: "bench-box" }),
    draw("rect", { x: at.chip, y: top + inner * 0.2, width: unit, height: inner * 0.6, rx: 4, class: "bench-box" }),
  );
  benchStage.packets = [];
  // A wider bus for more bandwidth, on a scale of decades.
  const lanes = (rate) => clamp(Math.round(2.5 * (Math.log10(rate) - 10.6)), 1, Math.floor((inner * 0.55) / 9));
  const bothBuses = [["memory", at.first, s.bandwidth], ["chip", at.second, s.onChip ?? s.bandwidth]];
  for (const [name, x, rate] of bothBuses) {
    const many = lanes(rate);
    svg.append(draw("rect", { x, y: middle - many * 4.5 - 2, width: bus, height: many * 9 + 4, class: "bench-bus" }));
    for (let lane = 0; lane < many; lane += 1) {
      benchStage.packets.push({ name, x: x + 1, length: bus - 9, y: middle + (lane - many / 2) * 9 + 1.5, shift: (lane * 0.618) % 1, shown: [] });
    }
  }
  benchStage.queue = Array.from({ length: 8 }, (_, place) => draw("rect", { x: at.queue, y: middle + 36 - 9 * place, width: queue - 5, height: 7, class: "bench-packet" }));
  // As many columns as make the cells square.
  const columns = clamp(Math.ceil(Math.sqrt((s.sms * (processor - 4)) / inner)), 1, s.sms);
  const rows = Math.ceil(s.sms / columns);
  const side = Math.min((processor - 4) / columns, inner / rows);
  benchStage.cells = Array.from({ length: s.sms }, (_, sm) => draw("rect", {
    x: at.processor + (sm % columns) * side + 0.5, y: top + Math.floor(sm / columns) * side + 0.5,
    width: Math.max(1, side - (side > 5 ? 2 : 1)), height: Math.max(1, side - (side > 5 ? 2 : 1)), rx: side > 8 ? 2 : 0,
  }));
  benchStage.flow = draw("g", {});
  svg.append(benchStage.flow, ...benchStage.queue, ...benchStage.cells);
  Object.assign(benchStage, { level, top, inner, sms: s.sms });
  box.replaceChildren(svg);
}

/** Shows a moment of the work: packets, queue, SMs. */
function moveStage(s, law, moment) {
  const { level, top, inner } = benchStage;
  if (!level) return null;
  const seconds = moment * law.total;
  const isLaunching = seconds < s.fixed;
  const done = clamp((seconds - s.fixed) / law.work, 0, 0.9995);
  level.setAttribute("y", top + 1 + (inner - 2) * done);
  level.setAttribute("height", (inner - 2) * (1 - done));
  const use = { memory: law.memory / law.work, chip: (law.chip ?? law.memory) / law.work };
  for (const lane of benchStage.packets) movePackets(lane, isLaunching ? 0 : use[lane.name], done);
  const filled = isLaunching ? 0 : Math.round(Math.min(queueOf(law), done * 20) * benchStage.queue.length);
  benchStage.queue.forEach((one, place) => one.toggleAttribute("hidden", place >= filled));
  const duty = law.paths.math / law.work;
  let [occupied, computing] = [0, 0];
  benchStage.cells.forEach((cell, sm) => {
    const has = !isLaunching && blocksAt(s, law, sm, done) > 0;
    const computes = has && (done * TURNS + sm * 0.618) % 1 < duty + 1e-9;
    if (has) occupied += 1;
    if (computes) computing += 1;
    cell.setAttribute("class", computes ? "bench-sm on" : has ? "bench-sm waits" : "bench-sm");
  });
  return { isLaunching, done, occupied, computing };
}

/** Puts the packets of a lane where they are: sent evenly, as often as the bus is busy. */
function movePackets(lane, use, done) {
  const rate = (lane.length / APART / ON_THE_WAY) * Math.min(1, use);
  const places = [];
  if (rate > 0) {
    const last = Math.floor(done * rate - lane.shift);
    const first = Math.max(0, Math.ceil((done - ON_THE_WAY) * rate - lane.shift));
    for (let packet = first; packet <= last; packet += 1) {
      places.push(lane.x + ((done - (packet + lane.shift) / rate) / ON_THE_WAY) * lane.length);
    }
  }
  while (lane.shown.length < places.length) {
    const one = draw("rect", { y: lane.y, width: 6, height: 6, rx: 1, class: `bench-packet ${lane.name}` });
    lane.shown.push(one);
    benchStage.flow.append(one);
  }
  lane.shown.forEach((one, at) => {
    one.toggleAttribute("hidden", at >= places.length);
    if (at < places.length) one.setAttribute("x", places[at].toFixed(1));
  });
}

/** The bars of the race: each unit alone at its full rate, what it waits, what idle SMs cost. */
function raceRows(s, law) {
  const end = law.total;
  const bar = (from, to, kind) => to > from && [from, to, kind];
  const path = (name, alone, whole, kind) => [name, [
    bar(s.fixed, s.fixed + alone, kind), bar(s.fixed + alone, s.fixed + whole, `${kind} extra`), bar(s.fixed + whole, end, "waits"),
  ]];
  const rows = [["launch", [bar(0, s.fixed, "launch")]], path("memory", law.memory, law.paths.memory, "memory")];
  if (law.chip != null) rows.push(path("L2", law.chip, law.paths.chip, "chip"));
  rows.push(path("compute", law.math, law.paths.math, "math"), ["waves", waveBars(s, law)]);
  return rows.map(([name, bars]) => [name, bars.filter(Boolean)]);
}

/** Waves on the axis of time, at most sixty of them drawn apart; the tail with the SMs it leaves idle. */
function waveBars(s, law) {
  const step = law.work / law.steps;
  const full = Math.min(law.full, 60);
  const each = full > 0 ? (law.full * s.resident * step) / full : 0;
  const bars = Array.from({ length: full }, (_, wave) => [s.fixed + wave * each, s.fixed + (wave + 1) * each, wave % 2 ? "wave odd" : "wave", 1]);
  if (law.rest > 0) bars.push([s.fixed + law.full * s.resident * step, law.total, "wave tail", Math.min(1, law.rest / s.sms)]);
  return bars;
}

/** Draws the race; returns what moves the line of the present moment. */
function drawRace(box, s, law) {
  const width = box.clientWidth;
  if (!width) return () => {};
  const left = width < 560 ? 54 : 70;
  const [tall, right] = [22, width - 8];
  const rows = raceRows(s, law);
  const height = rows.length * tall + 24;
  const x = (seconds) => left + (seconds / law.total) * (right - left);
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true", focusable: "false" });
  const passed = draw("rect", { x: left, y: 0, height, width: 0 });
  svg.append(draw("clipPath", { id: "bench-passed" }, passed));
  const bottom = rows.length * tall + 2;
  const most = width < 560 ? 2 : 4;
  for (let tick = 0; tick <= most; tick += 1) {
    const seconds = (law.total * tick) / most;
    const anchor = tick === 0 ? "start" : tick === most ? "end" : "middle";
    svg.append(draw("line", { x1: x(seconds), x2: x(seconds), y1: 0, y2: bottom, class: "bench-tick" }), draw("text", { x: x(seconds), y: bottom + 14, "text-anchor": anchor }, si(seconds, "s")));
  }
  rows.forEach(([name, bars], row) => {
    const y = row * tall + 4;
    svg.append(draw("text", { x: left - 6, y: y + 11, "text-anchor": "end" }, name));
    for (const [from, to, kind, share = 1] of bars) {
      const [tallest, wide] = [tall - 8, Math.max(1, x(to) - x(from) - (kind.startsWith("wave") ? 0.5 : 0))];
      const place = { x: x(from), width: wide, y: y + tallest * (1 - share), height: Math.max(2, tallest * share) };
      // The whole bar faintly, and what has passed of it.
      if (share < 1) svg.append(draw("rect", { ...place, y, height: tallest, class: "bench-idle" }));
      svg.append(draw("rect", { ...place, class: `bench-bar still ${kind}` }), draw("rect", { ...place, class: `bench-bar ${kind}`, "clip-path": "url(#bench-passed)" }));
    }
  });
  const now = draw("line", { y1: 0, y2: bottom, class: "bench-now" });
  svg.append(now);
  box.replaceChildren(svg);
  return (moment) => {
    const place = left + moment * (right - left);
    passed.setAttribute("width", place - left);
    now.setAttribute("x1", place);
    now.setAttribute("x2", place);
  };
}
