// What is known, what was asked for, and which kernels fit. The fragment of the address keeps it.

/** @type {Data} */
const DATA = JSON.parse(byId("data").textContent);
const K = DATA.kernels;
const SIZE = K.rank.length;
const text = (position) => (position == null ? "" : DATA.strings[position]);
if (DATA.full_names) K.name = K.full_name.map((name, k) => name ?? K.name[k]);
K.judged_s = K.judged_s.map((time, k) => time ?? K.measured_s[k]);

/** One number over another, where both are known and there is something to divide by. */
const over = (above, below) => (above == null || below == null || !(below > 0) ? null : above / below);
K.share = K.measured_s.map((time) => over(time, DATA.total));
K.headroom = K.judged_s.map((time, k) => over(time, K.roofline_s[k]));
K.arithmetic_intensity_flop_per_byte = K.flops.map((flops, k) => over(flops, K.bytes[k]));
for (const k of DATA.partly ?? []) K.arithmetic_intensity_flop_per_byte[k] = null;
// The pipe that needs the most time, whose ridge point the page shows, and its operations per byte.
K.busiest = K.work.map((work) => work.filter(([, , time]) => time > 0).reduce((most, one) => (most && most[2] > one[2] ? most : one), null));
K.busiest_intensity = K.arithmetic_intensity_flop_per_byte.map((whole, k) => (K.busiest[k] ? over(K.busiest[k][1], K.bytes[k]) : whole));
for (const k of DATA.partly ?? []) K.busiest_intensity[k] = null;
K.run_speedup = K.savings_s.map((win) => (win == null ? null : over(DATA.total, DATA.total - win)));
// Time above the structural time of which no savings are counted is not proven; without such time none is a known zero.
K.proven_savings_s = K.savings_s.map((win, k) => {
  const left = K.judged_s[k] - (K.structural_s[k] ?? 0);
  return win === 0 && left > K.judged_s[k] * 1e-4 ? null : win;
});
// Groups of the user's own, as positions among them.
const OF_GROUP = new Map(DATA.groups.map((name, at) => [name, at]));
K.group = K.group.map((name) => OF_GROUP.get(text(name)));
const GROUPS = DATA.groups.map((name) => [name, name]);
const LIMITERS = DATA.words.limiter.map((word) => [word, word]);
// Points of the charts: kernel, pipe, operations per byte of DRAM, rate, and operations per byte of
// each other level whose traffic was counted.
for (const scene of DATA.scenes) {
  scene.points = scene.points.map(([k, pipe]) => {
    const operations = K.work[k].find(([at]) => at === pipe)[1];
    const others = K.levels[k].filter(([, bytes]) => bytes > 0).map(([at, bytes]) => [at, operations / bytes]);
    return [k, pipe, operations / K.bytes[k], operations / K.judged_s[k], others];
  });
}

/** The word of a figure that has few. */
const wordOf = (column, k) => DATA.words[column][K[column][k]] ?? "";

/** The name of a kernel as tables show it, with what tells it from others of the same name. */
function nameOf(k) {
  const operator = text(K.operator[k]);
  return operator ? `${text(K.name[k])} [${operator}]` : text(K.name[k]);
}

const fullNameOf = (k) => text(K.full_name[k]) || text(K.name[k]);
const stateOf = (k) => DATA.states[K.state[k]];
const isOpportunity = (k) => stateOf(k)[0] === "flagged";

/** Position of the kernel with each rank; a report of chosen kernels leaves ranks out. */
const OF_RANK = new Map(Array.from(K.rank, (rank, k) => /** @type {[number, number]} */ ([rank, k])));

const DEFAULTS = {
  query: "", category: "", state: "", limiter: "", group: "", device: "", sort: "-savings", level: "dram",
};

/** What was asked for. `scene` and everything below it is about the chart alone. */
const asked = {
  ...DEFAULTS,
  selected: null,
  // Whether the selection is the page's own, made so that the details are not empty.
  isFirstChoice: false,
  hovered: null,
  rows: 100,
  scene: 0,
  view: null,
  // Whether the chart shows kernels of less than 1% of the time, too.
  small: false,
  // Links are no level of this device; their roofs are there for who asks.
  hidden: new Set(["memory:system", "memory:peer"]),
  theoretical: true,
  achievable: true,
};

/** Short keys of the fragment. */
const KEYS = {
  query: "q", category: "category", state: "state", limiter: "limiter", group: "group", device: "device", sort: "sort", level: "level",
};

/** Kernels that the chart always shows: 1% of the time or more, and flagged ones; where it has no room for those, the longest that it has. */
const LARGE = (() => {
  const all = Array.from({ length: SIZE }, (_, k) => k);
  const placed = new Set(DATA.scenes.flatMap((scene) => scene.points.map(([k]) => k)));
  const large = all.filter((k) => K.share[k] >= 0.01 || isOpportunity(k));
  if (large.filter((k) => placed.has(k)).length >= 3) return new Set(large);
  const rest = placed.size > 0 ? [...placed] : all;
  return new Set(large.concat(rest.sort((one, two) => K.share[two] - K.share[one] || one - two).slice(0, 30)));
})();

/** Whether the chart shows a kernel, as long as it fits. */
const isShown = (k) => asked.small || LARGE.has(k) || k === asked.selected || FILTERS.some((key) => asked[key] !== DEFAULTS[key]);

const listeners = [];

/** Calls back whenever one of these things changes. */
function onChange(keys, act) {
  listeners.push([keys, act]);
}

/** Changes what is asked for, and lets everything that depends on it follow. */
function ask(changes) {
  const changed = Object.keys(changes).filter((key) => asked[key] !== changes[key]);
  if (changed.length === 0) return;
  Object.assign(asked, changes);
  if (changed.some((key) => key in DEFAULTS)) found = null;
  for (const [keys, act] of listeners) {
    if (keys.some((key) => changed.includes(key))) act();
  }
}

const FILTERS = ["query", "category", "state", "limiter", "group", "device"];

/** Texts that a search looks at, in lower case; made once, when first searched. */
let haystack = null;
function hay(k) {
  haystack ??= Array.from({ length: SIZE }, (_, at) => `${nameOf(at)}\n${fullNameOf(at)}`.toLowerCase());
  return haystack[k];
}

let found = null;

/** Positions of the kernels that fit, in the order asked for. */
function fitting() {
  if (found) return found;
  const words = asked.query.toLowerCase().split(/\s+/).filter(Boolean);
  const index = (list, key) => (key === "" ? -1 : list.findIndex((word) => word[0] === key));
  const state = index(DATA.states, asked.state);
  const category = index(DATA.categories, asked.category);
  const limiter = index(LIMITERS, asked.limiter);
  const group = index(GROUPS, asked.group);
  const device = asked.device === "" ? -1 : Number(asked.device);
  found = [];
  for (let k = 0; k < SIZE; k += 1) {
    if (state >= 0 && K.state[k] !== state) continue;
    if (category >= 0 && K.category[k] !== category) continue;
    if (limiter >= 0 && K.limiter[k] !== limiter) continue;
    if (group >= 0 && K.group[k] !== group) continue;
    if (device >= 0 && K.device[k] !== device) continue;
    if (words.length > 0 && !words.every((word) => hay(k).includes(word))) continue;
    found.push(k);
  }
  const down = asked.sort.startsWith("-");
  const column = COLUMNS.find((one) => one.key === asked.sort.replace(/^-/, "")) ?? COLUMNS[0];
  if (column.key !== "rank" || down) sortBy(found, column.value, down ? -1 : 1);
  return found;
}

/** Sorts positions by a value; missing ones come last either way, ties keep the order of ranks. */
function sortBy(positions, value, way) {
  const keys = new Map(positions.map((k) => [k, value(k)]));
  positions.sort((one, two) => {
    const [a, b] = [keys.get(one), keys.get(two)];
    if (a == null || b == null) return Number(a == null) - Number(b == null) || one - two;
    if (a === b) return one - two;
    return (a < b ? -1 : 1) * way;
  });
}

/** Writes filter and selection into the address, so that it can be sent to someone. */
function remember() {
  const words = new URLSearchParams();
  if (asked.selected != null && !asked.isFirstChoice) words.set("kernel", K.rank[asked.selected]);
  for (const [key, short] of Object.entries(KEYS)) {
    if (asked[key] !== DEFAULTS[key]) words.set(short, asked[key]);
  }
  const fragment = words.toString();
  if (`#${fragment}` === location.hash || (fragment === "" && location.hash === "")) return;
  try {
    history.replaceState(null, "", `#${fragment}`);
  } catch {
    // A page inside another page may not: then there is no address to keep.
  }
}

/** Reads filter and selection from the address. Whatever it says, only known words count. */
function recall() {
  const words = new URLSearchParams(location.hash.slice(1));
  /** @type {Record<string, any>} */
  const changes = { ...DEFAULTS };
  for (const [key, short] of Object.entries(KEYS)) changes[key] = words.get(short) ?? DEFAULTS[key];
  const known = (list, key) => list.some((word) => word[0] === key);
  if (!known(DATA.states, changes.state)) changes.state = "";
  if (!known(DATA.categories, changes.category)) changes.category = "";
  if (!known(LIMITERS, changes.limiter)) changes.limiter = "";
  if (!known(GROUPS, changes.group)) changes.group = "";
  if (!/^\d+$/.test(changes.device) || !(Number(changes.device) < DATA.devices.length)) changes.device = "";
  if (!known(DATA.levels, changes.level)) changes.level = DEFAULTS.level;
  if (!COLUMNS.some((column) => column.key === changes.sort.replace(/^-/, ""))) changes.sort = DEFAULTS.sort;
  Object.assign(changes, sceneOf(Number(changes.device || NaN)));
  // An address without a kernel has none selected: who goes back to it gets what was there.
  changes.selected = OF_RANK.get(Number(words.get("kernel"))) ?? null;
  // On a wide page the details stand beside the chart: they begin with the first kernel.
  changes.isFirstChoice = changes.selected == null && SIZE > 0 && matchMedia("(min-width: 84rem)").matches;
  if (changes.isFirstChoice) changes.selected = 0;
  ask(changes);
}

/** What to ask for so that the chart is of a device, if it has one of it. */
function sceneOf(device) {
  const scene = DATA.scenes.findIndex((one) => one.device === device);
  return scene >= 0 && scene !== asked.scene ? { scene, view: null } : {};
}

/** Selects a kernel, as the user wants it. */
function select(k) {
  ask({ selected: k, isFirstChoice: false, ...sceneOf(k == null ? NaN : K.device[k]) });
}
