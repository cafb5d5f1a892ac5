// The bench: its controls, its words and numbers, and the clock that plays it.

const BENCH = JSON.parse(byId("bench-data").textContent);
// Rates are in tera in the data, pipes as digits to base 36.
BENCH.devices = BENCH.devices.map(([name, bandwidth, onChip, sms, clock, rates, engines]) => {
  const [pipes, runsOn] = BENCH.engines[engines];
  return [
    name, bandwidth * 1e12, onChip && onChip * 1e12, sms, clock && clock * 1e12,
    rates.map((rate, at) => [pipes[at], rate * 1e12]), [...runsOn].map((digit) => (digit === "-" ? null : parseInt(digit, 36))),
  ];
});
const NAMES = BENCH.forms.map(([name]) => name);

/** Seconds in which the whole time is played, at speed 1. */
const PLAYED = 8;

/** What was chosen. `form` is null for a kernel that is given by its counts. */
const bench = {
  device: BENCH.chosen, pipe: null, form: null, sizes: {}, dtype: 0, name: "", case: null,
  // Whether what a kernel computes was not counted.
  isUncounted: false,
  s: null, law: null, moment: 1, playing: false, speed: 1, last: 0, moveRace: (_moment) => {}, note: "",
};

/** A number as people write it: 3.35T, 64Ki, 2e9, and 16,384 where it is whole; null if it is none. */
function readNumber(words, isWhole) {
  const grouped = isWhole ? /^\s*\d{1,3}(,\d{3})+\s*$/ : /^\s*\d{1,3}(,\d{3}){2,}\s*$/;
  if (grouped.test(words)) words = words.replaceAll(",", "");
  const found = /^\s*([0-9]*[.,]?[0-9]+(?:[eE][+-]?[0-9]+)?)\s*(?:([numµ])|([kKMgGtTpPE])(i?))?[a-zA-Z/]*\s*$/.exec(words);
  if (!found) return null;
  const powers = { n: -3, u: -2, µ: -2, m: -1, K: 1, M: 2, G: 3, T: 4, P: 5, E: 6 };
  const power = powers[found[2] ?? found[3]?.toUpperCase()] ?? 0;
  const value = Number(found[1].replace(",", ".")) * (found[4] ? 1024 : 1000) ** power;
  return Number.isFinite(value) ? value : null;
}

/** A number for an input: all of its digits that matter, with a prefix where it is long. */
function writeNumber(value) {
  if (value == null) return "";
  if (Number.isInteger(value) && value < 1e6) return `${value}`;
  const [per, letter] = prefix(value, "");
  return `${Number((value / per).toPrecision(6))}${letter && ` ${letter}`}`;
}

/** How far beyond its slider a number may lie: farther ones mean nothing, and times overflow. */
const BEYOND = 1000;

/** Sizes that are counted one by one have a limit of their own. */
const MOST_OF_SIZE = { r: 1024 };

/** What can be turned: key, words, unit, range of its slider, whether whole, the most that it may be. */
const HARDWARE = [
  ["bandwidth", "Bandwidth", "B/s", 1e10, 2e13, false],
  ["peak", "Compute rate", "/s", 1e11, 3e16, false],
  ["onChip", "L2 bandwidth", "B/s", 1e11, 1e14, false],
  ["sms", "SMs (CUs)", "", 1, 512, true, 4096],
  ["fixed", "Launch cost", "s", 1e-7, 1e-4, false],
];
const KERNEL = [
  ["operations", "Operations", "", 1e3, 1e16, true],
  ["bytes", "Bytes moved", "B", 1e3, 1e12, true],
  ["reuse", "L2 reads per byte", "", 1, 1000, false],
  ["blocks", "Blocks", "", 1, 1e6, true],
  ["resident", "Blocks per SM", "", 1, 32, true, 1024],
];

/** Operation of the chosen pipe: FLOP, or OP of integers. */
const benchUnit = () => BENCH.pipes[bench.pipe]?.[2] ?? "FLOP";

const benchInputs = new Map();

/** A number and a slider on a scale of decades that mean the same. */
function benchField(key, words, unit, low, high, isWhole, value, change, greatest = high * BEYOND) {
  const steps = 600;
  const span = Math.log(high / low);
  // Nothing may be computed, and nothing padded; of everything else there is some.
  const least = key === "operations" || key === "size-pad" ? 0 : 1;
  const whole = (given) => (isWhole ? Math.max(least, Math.round(given)) : given);
  const slid = (step) => (step === 0 && least === 0 ? 0 : whole(Number((low * Math.exp((step / steps) * span)).toPrecision(3))));
  const number = make("input", { type: "text", inputmode: "decimal", placeholder: "not known", "aria-label": `${words}, number`, autocomplete: "off", spellcheck: "false" });
  const slider = make("input", { type: "range", id: `bench-${key}`, min: 0, max: steps, step: 1 });
  const show = (now) => {
    if (document.activeElement !== number) number.value = writeNumber(now);
    number.removeAttribute("aria-invalid");
    slider.value = !(now > 0) ? 0 : clamp((Math.log(now / low) / span) * steps, 0, steps);
    slider.setAttribute("aria-valuetext", now == null ? "not known" : si(now, unit === "/s" ? `${benchUnit()}/s` : unit).trim());
  };
  number.addEventListener("change", () => {
    const read = readNumber(number.value, isWhole);
    const smallest = isWhole ? least : low / BEYOND;
    if (read == null || (isWhole ? Math.round(read) : read) < smallest || read > greatest) {
      number.setAttribute("aria-invalid", "true");
      byId("bench-note").textContent = `${words}: a number from ${[smallest, greatest].map((end) => `${writeNumber(end)}${unit}`).join(" to ")}.`;
      return;
    }
    change(whole(read));
    number.value = writeNumber(whole(read));
  });
  slider.addEventListener("input", () => change(slid(Number(slider.value))));
  show(value);
  benchInputs.set(key, show);
  const shownUnit = make("span", { class: "bench-unit", "data-unit": unit }, unit === "/s" ? `${benchUnit()}/s` : unit);
  return make("div", { class: "bench-field", "data-key": key }, make("label", { for: `bench-${key}` }, words), slider, number, shownUnit);
}

/** Takes the figures of a device, and the pipe for the chosen format. */
function takeDevice(at) {
  const [, bandwidth, onChip, sms, clock] = BENCH.devices[at];
  bench.device = at;
  Object.assign(bench.s, { bandwidth, onChip, sms, clock });
  takePipe();
}

/** The pipe that runs this kernel in this format, or the one asked for. Counts of one's own stay on their pipe. */
function takePipe(asked, isKept = bench.form == null) {
  const [name, , , , , peaks, runsOn] = BENCH.devices[bench.device];
  const isMatrix = /_matrix/.test(BENCH.pipes[bench.pipe]?.[0]);
  const isProduct = bench.form == null ? isMatrix : COUNTS[bench.form](bench.sizes, 1).isProduct === true;
  const usual = runsOn[bench.dtype + (isProduct ? 0 : BENCH.types.length)];
  const pipe = asked ?? (isKept ? bench.pipe : null) ?? usual;
  const known = peaks.find(([one]) => one === pipe);
  const found = known ?? peaks.find(([one]) => BENCH.pipes[one][0] === "fp32_vector") ?? peaks[0];
  const lacks = pipe == null ? `no units for products in ${BENCH.types[bench.dtype][0]}` : `no known rate for ${BENCH.pipes[pipe][1]}`;
  bench.note = known ? "" : `${name} has ${lacks}: its ${BENCH.pipes[found[0]][1]} rate is used.`;
  bench.pipe = found[0];
  bench.s.peak = found[1];
}

/** Takes the counts of the chosen form. */
function takeForm(keep = {}) {
  const counted = countOf(bench.form, bench.sizes, BENCH.types[bench.dtype][1]);
  bench.misfit = counted.misfit || "";
  if (bench.misfit) return;
  Object.assign(bench.s, { operations: counted.operations, bytes: counted.bytes, blocks: counted.blocks, resident: counted.resident, ...keep });
}

/** Chooses a form with its first sizes, or counts of one's own. */
function chooseForm(name) {
  bench.form = name;
  bench.misfit = "";
  bench.case = null;
  bench.isUncounted = false;
  if (name != null) {
    const [, , sizes, usual] = BENCH.forms[NAMES.indexOf(name)];
    bench.sizes = Object.fromEntries(sizes.map(([key, , , value]) => [key, value]));
    bench.dtype = usual;
    bench.s.reuse = 1;
    takePipe();
    takeForm();
  }
}

/** One of the four cases, on the device that is chosen. */
function chooseCase(key) {
  const one = BENCH.cases.find((other) => other.key === key);
  chooseForm(NAMES[one.form]);
  takeDevice(bench.device);
  bench.s.fixed = BENCH.fixed;
  // Where the rate of a format is not known, fp32 teaches the same.
  const runsOn = BENCH.devices[bench.device][6];
  const isKnown = runsOn[one.dtype + (COUNTS[bench.form](bench.sizes, 1).isProduct ? 0 : BENCH.types.length)] != null;
  bench.dtype = isKnown ? one.dtype : BENCH.types.findIndex(([name]) => name === "fp32");
  const keys = Object.keys(bench.sizes);
  one.sizes.forEach((size, at) => { bench.sizes[keys[at]] = size; });
  takePipe();
  if (one.balanced) bench.sizes[keys[0]] = balancingRows(bench.s.peak / bench.s.bandwidth, one.sizes[1], BENCH.types[bench.dtype][1]);
  takeForm(one.waves == null ? {} : { blocks: one.waves * bench.s.sms });
  bench.case = key;
  bench.name = "";
  // The explanation stays while things are varied.
  for (const one of document.querySelectorAll(".lesson")) one.toggleAttribute("hidden", one.id !== `lesson-${key}`);
  rebuildBench();
  replay();
}

/** Builds the controls anew: another form has other sizes. */
function rebuildBench() {
  benchInputs.clear();
  const { s } = bench;
  const turn = (key) => (value) => { bench.s[key] = value; bench.case = null; drawBench(); };
  const devices = BENCH.devices.map(([name], at) => [`${at}`, name]);
  const peaks = BENCH.devices[bench.device][5].map(([pipe, rate]) => [`${pipe}`, `${BENCH.pipes[pipe][1]}, ${si(rate, `${BENCH.pipes[pipe][2]}/s`)}`]);
  const field = ([key, words, unit, low, high, isWhole, greatest]) => benchField(key, words, unit, low, high, isWhole, s[key], turn(key), greatest);
  byId("bench-hardware").replaceChildren(
    choice("Device", devices, `${bench.device}`, (at) => { takeDevice(Number(at)); rebuildBench(); replay(); }),
    choice("Pipe", peaks, `${bench.pipe}`, (pipe) => { takePipe(Number(pipe)); rebuildBench(); }),
    ...HARDWARE.map(field),
  );
  const forms = [["", bench.name || "counts of your own"], ...BENCH.forms.map(([name, summary]) => [name, `${name}: ${summary}`])];
  const types = BENCH.types.map(([name, bytes], at) => [`${at}`, `${name}, ${bytes} B`]);
  const sized = bench.form == null ? [] : BENCH.forms[NAMES.indexOf(bench.form)][2].map(([key, meaning, isWhole]) => benchField(
    `size-${key}`, `${key}: ${meaning}`, "", 1, MOST_OF_SIZE[key] ?? 1e8, isWhole, bench.sizes[key],
    (value) => { bench.sizes[key] = value; bench.case = null; takeForm(); drawBench(); }, MOST_OF_SIZE[key],
  ));
  byId("bench-kernel").replaceChildren(
    choice("Kernel", forms, bench.form ?? "", (name) => { chooseForm(name || null); rebuildBench(); replay(); }),
    choice("Numbers", types, `${bench.dtype}`, (at) => { bench.dtype = Number(at); bench.case = null; takePipe(undefined, false); if (bench.form) takeForm(); rebuildBench(); }),
    ...sized,
    ...KERNEL.filter(([key]) => bench.form == null || (key !== "operations" && key !== "bytes")).map(field),
  );
  drawBench();
}

/** Words for what bounds the kernel, and what would help. */
function benchWords(s, law, bound) {
  const [times, unit] = [(one, other) => factor(one / other), benchUnit()];
  const busy = percent(law.paths.math / law.work);
  const words = {
    launch: ["Launch-bound", `the work takes ${si(law.expected, "s")}, the launch alone ${si(s.fixed, "s")}: fuse launches or use CUDA or HIP graphs; a faster kernel saves nothing.`],
    parallelism: ["Too little parallelism", `${count(s.blocks, "block", "blocks")} on ${count(s.sms, "SM", "SMs")}: ${count(law.busy, "SM has", "SMs have")} work${law.full > 0 && law.rest > 0 ? `, ${Math.min(s.sms, law.rest)} in the last wave` : ""}, so it takes ${factor(law.work / law.expected)} the roofline time. Use more or smaller blocks.`],
    chip: ["L2-bound", `each byte is read from L2 ${digits(s.reuse)} times, which takes longer than fetching it once from memory. Larger tiles read less.`],
    balanced: ["Balanced", `t_mem and t_math differ by less than 10%: both units are busy. Only less work or a faster device helps.`],
    math: ["Compute-bound", `computing takes ${times(law.math, law.memory)} as long as moving the data; the bus waits. Use a faster pipe or fewer operations.`],
    memory: ["Memory-bound", law.math > 0
      ? `moving the data takes ${times(law.memory, law.math)} as long as computing; the SMs compute ${busy} of the time. Move fewer bytes.`
      : bench.isUncounted
        ? "by its bytes alone: what it computes was not counted. Move fewer bytes, or count its operations."
        : "data is only moved, nothing is computed. Move fewer bytes."],
  };
  const [title, rest] = words[bound];
  const where = law.intensity == null || s.operations === 0 ? "" : ` ${digits(law.intensity)} ${unit}/B, ridge point ${digits(law.ridge)}.`;
  return [title, `${rest}${where}`];
}

/** Rows of the arithmetic: symbol, value, how it comes about. */
function benchSums(s, law) {
  const unit = benchUnit();
  const [bytes, work, rate] = [si(s.bytes, "B"), si(s.operations, unit), si(s.peak, `${unit}/s`)];
  const per = (value) => (value == null ? MISSING : `${digits(value)} ${unit}/B`);
  const rows = [
    ["t_mem", si(law.memory, "s"), `bytes ÷ bandwidth = ${bytes} ÷ ${si(s.bandwidth, "B/s")}`],
    ["t_math", si(law.math, "s"), `operations ÷ rate = ${work} ÷ ${rate}`],
    ["roofline time", si(law.expected, "s"), "max(t_mem, t_math), as memory and compute overlap"],
    ["intensity", per(law.intensity), `operations ÷ bytes = ${work} ÷ ${bytes}`],
    ["ridge point", per(law.ridge), `rate ÷ bandwidth = ${rate} ÷ ${si(s.bandwidth, "B/s")}`],
    ["attainable", law.attainable == null ? MISSING : si(law.attainable, `${unit}/s`), "min(rate, intensity × bandwidth)"],
    ["t_L2", law.chip == null ? MISSING : si(law.chip, "s"), law.chip == null ? "L2 bandwidth not known" : `bytes × L2 reads per byte ÷ L2 bandwidth = ${si(law.chipBytes, "B")} ÷ ${si(s.onChip, "B/s")}`],
    ["waves", digits(law.waves), `blocks ÷ (SMs × blocks per SM) = ${s.blocks} ÷ (${s.sms} × ${s.resident})`],
    ["SM efficiency", percent(law.smEfficiency), `blocks per SM ÷ those of the fullest SM = ${digits(s.blocks / s.sms)} ÷ ${law.steps}`],
    ["wave efficiency", percent(law.waveEfficiency), "waves ÷ waves rounded up"],
  ];
  if (law.ports != null) rows.push(["t_port", si(law.ports, "s"), `bytes × L2 reads per byte ÷ (SMs with work × ${BENCH.port} B × clock) = ${si(law.chipBytes, "B")} ÷ (${law.busy} × ${BENCH.port} B × ${si(s.clock, "Hz")})`]);
  rows.push(
    ["work", si(law.work, "s"), "max(t_mem, t_port, t_math ÷ SM efficiency, t_L2 ÷ SM efficiency)"],
    ["estimated time", si(law.total, "s"), `launch cost + work = ${si(s.fixed, "s")} + ${si(law.work, "s")}`],
  );
  return rows;
}

/** How busy each unit is while the work lasts. */
function benchMeters(s, law, now) {
  const share = (value) => percent(Math.min(1, value / law.work));
  const wait = (isBusy) => (isBusy ? "" : ", waits");
  const most = Math.max(law.paths.memory, law.paths.chip, law.paths.math) * 0.9;
  const lines = [["memory bus", `${share(law.memory)} busy${wait(law.paths.memory > most)}`]];
  if (law.chip != null) lines.push(["L2 bus", `${share(law.chip)} busy`]);
  lines.push(["busy SMs", `${share(law.paths.math)} computing${wait(law.paths.math > most)}`]);
  if (now) lines.push(["now", now.isLaunching ? "launching: no block runs yet" : `${now.occupied} of ${s.sms} SMs have a block, ${now.computing === 1 ? "1 computes" : `${now.computing} compute`}`], ["sent", `${si(s.bytes * now.done, "B")} of ${si(s.bytes, "B")}`]);
  return lines.map(([label, value]) => make("div", {}, make("dt", {}, label), make("dd", {}, value)));
}

/** Draws all that follows from what is chosen. */
function drawBench() {
  const { s } = bench;
  const law = lawOf(s, BENCH.port);
  bench.law = law;
  const bound = boundOf(s, law, BENCH);
  const [title, rest] = benchWords(s, law, bound);
  const says = [bench.misfit && `Not counted: ${bench.misfit}.`, bench.note].filter(Boolean).join(" ");
  byId("bench-note").textContent = says;
  byId("bench-says").replaceChildren(make("strong", {}, title), `: ${rest}`);
  byId("bench").dataset.bound = bound;
  for (const [key, show] of benchInputs) show(key.startsWith("size-") ? bench.sizes[key.slice(5)] : s[key]);
  for (const one of document.querySelectorAll("[data-case]")) one.setAttribute("aria-pressed", String(one.getAttribute("data-case") === bench.case));
  byId("bench-sums").replaceChildren(make("table", {}, make("caption", {}, "The arithmetic"), make("tbody", {},
    ...benchSums(s, law).map(([symbol, value, why]) => make("tr", {}, make("th", { scope: "row" }, symbol), make("td", { class: "n" }, value), make("td", {}, why))))));
  buildStage(byId("bench-stage"), s);
  bench.moveRace = drawRace(byId("bench-race"), s, law);
  drawBenchChart(byId("bench-chart"), s, law, benchUnit());
  showMoment(bench.moment);
}

/** Shows a moment, a share of the whole time. */
function showMoment(moment) {
  bench.moment = clamp(moment, 0, 1);
  const now = moveStage(bench.s, bench.law, bench.moment);
  bench.moveRace(bench.moment);
  const slider = byId("bench-time");
  slider.value = bench.moment * 1000;
  slider.setAttribute("aria-valuetext", si(bench.moment * bench.law.total, "s"));
  byId("bench-clock").textContent = `${si(bench.moment * bench.law.total, "s")} of ${si(bench.law.total, "s")}`;
  byId("bench-meters").replaceChildren(...benchMeters(bench.s, bench.law, now));
}

const isStill = matchMedia("(prefers-reduced-motion: reduce)");

function setPlaying(on) {
  bench.playing = on && !isStill.matches;
  bench.last = 0;
  byId("bench-play").textContent = bench.playing ? "pause" : "play";
  byId("bench-play").hidden = isStill.matches;
  byId("bench-speed").closest("label").hidden = isStill.matches;
  if (bench.playing) requestAnimationFrame(tickBench);
}

function tickBench(now) {
  if (!bench.playing) return;
  const passed = bench.last ? Math.min(100, now - bench.last) / 1000 : 0;
  bench.last = now;
  showMoment(bench.moment + (passed * bench.speed) / PLAYED);
  if (bench.moment >= 1) setPlaying(false);
  else requestAnimationFrame(tickBench);
}

/** From the start; who asked for less motion sees the end. */
function replay() {
  showMoment(isStill.matches ? 1 : 0);
  setPlaying(true);
}

function stepBench(by) {
  setPlaying(false);
  showMoment(bench.moment + by / 40);
}

function buildTransport() {
  const button = (id, label, words, act) => make("button", { type: "button", id, title: words, onclick: act }, label);
  const slider = make("input", { type: "range", id: "bench-time", min: 0, max: 1000, step: 1, "aria-label": "moment", oninput: (event) => { setPlaying(false); showMoment(event.target.value / 1000); } });
  const speeds = [["0.25", "¼ speed"], ["0.5", "½ speed"], ["1", "speed 1"], ["2", "speed 2"], ["4", "speed 4"]];
  const speed = choice("", speeds, "1", (value) => { bench.speed = Number(value); });
  speed.querySelector("select").id = "bench-speed";
  speed.querySelector("select").setAttribute("aria-label", "speed");
  byId("bench-transport").replaceChildren(
    button("bench-play", "play", "Play or pause", () => {
      if (!bench.playing && bench.moment >= 1) showMoment(0);
      setPlaying(!bench.playing);
    }),
    button("bench-back", "‹", "A step back", () => stepBench(-1)), button("bench-step", "›", "A step on", () => stepBench(1)),
    slider, make("output", { id: "bench-clock", for: "bench-time" }), speed,
  );
}

/** Builds the bench where its skeleton stands, with the first case. */
function startBench() {
  bench.s = { bandwidth: 1, peak: 1, onChip: null, sms: 1, clock: null, fixed: BENCH.fixed, operations: 1, bytes: 1, reuse: 1, blocks: 1, resident: 1 };
  buildTransport();
  for (const one of document.querySelectorAll("[data-case]")) one.addEventListener("click", () => chooseCase(one.getAttribute("data-case")));
  takeDevice(bench.device);
  chooseCase(BENCH.cases[0].key);
  let wide = 0;
  new ResizeObserver(() => {
    const now = byId("bench-stage").clientWidth;
    if (now !== wide) requestAnimationFrame(drawBench);
    wide = now;
  }).observe(byId("bench-stage"));
  for (const query of ["print", "(prefers-color-scheme: dark)"]) matchMedia(query).addEventListener("change", drawBench);
  addEventListener("beforeprint", () => { setPlaying(false); showMoment(1); });
  isStill.addEventListener("change", () => { setPlaying(false); showMoment(1); });
}
