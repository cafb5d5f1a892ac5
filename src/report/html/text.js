// Numbers and elements. Numbers are written exactly as the other outputs write them: three digits,
// SI prefixes; a missing value is a dash.

const MISSING = "-";

/** Fixed digits, a half away from zero: as the other outputs round. */
function fixed(value, places) {
  return (value * (1 + 4 * Number.EPSILON)).toFixed(places);
}

function digits(value) {
  const size = Math.abs(value);
  if (size > 0 && size < 0.0005) return value > 0 ? "<0.001" : ">-0.001";
  if (size >= 99.95) return fixed(value, 0);
  if (size >= 9.995) return fixed(value, 1);
  return fixed(value, size >= 0.0995 || size === 0 ? 2 : 3);
}

/** @type {[number, string][]} */
const PREFIXES = [
  [1e18, "E"], [1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"],
  [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"],
];

/**
 * Factor and prefix for a value; nobody reads kiloseconds.
 * @returns {[number, string]}
 */
function prefix(value, unit) {
  const largest = unit === "s" ? 1 : Infinity;
  const fits = (one) => one[0] <= largest && Math.abs(value) >= one[0] * 0.9995;
  return PREFIXES.find(fits) ?? PREFIXES.at(-1);
}

function si(value, unit) {
  if (value == null) return MISSING;
  if (value === 0) return `0 ${unit}`;
  const [factor, letter] = prefix(value, unit);
  return `${digits(value / factor)} ${letter}${unit}`;
}

function percent(share) {
  if (share == null) return MISSING;
  const value = share * 100;
  return value !== 0 && value < 0.05 ? "<0.1%" : `${fixed(value, 1)}%`;
}

function factor(value) {
  if (value == null) return MISSING;
  return value >= 9999.5 ? ">9999×" : `${digits(value)}×`;
}

/** A headroom; what was not counted makes it an interval, whose lower end is what is certain. */
function interval(headroom, low) {
  if (headroom === Infinity) return `≥${factor(low)}`;
  if (low == null || low >= headroom * 0.999) return factor(headroom);
  const most = factor(headroom);
  if (low > 0.005) return `${digits(low)}–${most}`;
  return most.startsWith("<") ? most : `≤${most}`;
}

/** One unit for a column of times, chosen by its longest. */
function timeUnit(times) {
  let longest = 0;
  for (const time of times) if (time > longest) longest = time;
  if (longest >= 1) return { symbol: "s", per: 1 };
  return longest >= 1e-3 ? { symbol: "ms", per: 1e3 } : { symbol: "µs", per: 1e6 };
}

function inUnit(time, unit) {
  if (time == null) return MISSING;
  const value = time * unit.per;
  return value !== 0 && Math.abs(value) < 0.0005 ? "<0.001" : digits(value);
}

function count(number, one, many) {
  return `${number} ${number === 1 ? one : many}`;
}

/** A long name with its middle left out, as its ends tell most. */
function elide(text, room) {
  const letters = [...text];
  if (letters.length <= room) return text;
  const head = Math.ceil((room - 1) * 0.6);
  return `${letters.slice(0, head).join("")}…${letters.slice(letters.length - (room - 1 - head)).join("")}`;
}

/** @returns {any} */
const byId = (id) => document.getElementById(id);

/** An element. Text becomes text, never markup: names of kernels are written by anyone. */
function make(name, attributes = {}, ...children) {
  return dress(document.createElement(name), attributes, children);
}

/** The same for drawings. */
function draw(name, attributes = {}, ...children) {
  return dress(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function dress(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value == null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child != null && child !== "" && child !== false));
  return element;
}

/** A choice of one of several words. */
function choice(label, options, value, change) {
  const list = make("select", { onchange: (event) => change(event.target.value) });
  for (const [key, text] of options) {
    list.append(make("option", { value: key, selected: key === value }, text));
  }
  return make("label", {}, make("span", {}, label), list);
}

function tick(label, checked, change, mark) {
  const box = make("input", { type: "checkbox", checked, onchange: (event) => change(event.target.checked) });
  return make("label", { class: "tick" }, box, mark, make("span", {}, label));
}
