// Logarithmic axes: a view in decades, its ticks, and where a value lies on the screen.

/** A range of decades and the pixels it is shown on; `flip` counts pixels from the top. */
class Axis {
  constructor(low, high, from, to) {
    this.low = low;
    this.high = high;
    this.from = from;
    this.to = to;
  }

  at(value) {
    return this.from + ((Math.log10(value) - this.low) / (this.high - this.low)) * (this.to - this.from);
  }

  value(pixel) {
    return 10 ** (this.low + ((pixel - this.from) / (this.to - this.from)) * (this.high - this.low));
  }

  /** Values to label: decades; where a view holds less than two of them, steps within. */
  ticks(room) {
    const most = Math.max(2, Math.floor(Math.abs(this.to - this.from) / room));
    const inside = (values) => values.filter((v) => Math.log10(v) >= this.low - 1e-9 && Math.log10(v) <= this.high + 1e-9);
    const decades = [];
    for (let power = Math.ceil(this.low - 1e-9); power <= this.high + 1e-9; power += 1) decades.push(power);
    if (decades.length >= 2) {
      const step = Math.ceil(decades.length / most);
      return decades.filter((power) => power % step === 0 || step === 1).map((power) => 10 ** power);
    }
    const first = Math.floor(this.low);
    const fine = inside([first, first + 1].flatMap((power) => [1, 2, 5].map((m) => m * 10 ** power)));
    if (fine.length >= 2) return fine;
    return this.even(most);
  }

  /** Even steps, for a view of a small part of a decade. */
  even(most) {
    const [low, high] = [10 ** this.low, 10 ** this.high];
    const raw = (high - low) / Math.min(most, 5);
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw);
    const values = [];
    for (let value = Math.ceil(low / step) * step; value <= high; value += step) values.push(value);
    return values;
  }
}

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** The label of a tick: `100 G` with a unit; without one `0.01`, `10⁻⁶`. */
function tickLabel(value, unit) {
  const power = Math.log10(value);
  if (!unit && (power < -3.5 || power > 4.5) && Math.abs(power - Math.round(power)) < 1e-9) {
    const figures = [...`${Math.abs(Math.round(power))}`].map((figure) => RAISED[figure]);
    return `10${power < 0 ? "⁻" : ""}${figures.join("")}`;
  }
  /** @type {[number, string]} */
  const [factor, letter] = unit ? prefix(value, unit) : [1, ""];
  const scaled = Number((value / factor).toPrecision(4));
  return letter ? `${scaled} ${letter}` : `${scaled}`;
}

/** The smallest range of whole tenths of decades around values, with some air. */
function around(values, air) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (!(value > 0) || !Number.isFinite(value)) continue;
    const power = Math.log10(value);
    if (power < low) low = power;
    if (power > high) high = power;
  }
  if (low > high) return null;
  return [Math.floor((low - air) * 10) / 10, Math.ceil((high + air) * 10) / 10];
}

const apart = (x, y, width, height) => ([u, v, w, h]) => x + width <= u || u + w <= x || y + height <= v || v + h <= y;

/** Pixels of a cell in which marks and lines are noted. */
const CELL = 3;
const [MARK, LINE] = [1, 2];

/** Places of labels, none on another one and none on a mark. */
class Places {
  constructor(left, top, right, bottom) {
    this.left = left;
    this.top = top;
    this.right = right;
    this.bottom = bottom;
    /** @type {number[][]} */
    this.taken = [];
    this.columns = Math.max(1, Math.ceil((right - left) / CELL));
    this.lines = Math.max(1, Math.ceil((bottom - top) / CELL));
    this.noted = new Uint8Array(this.columns * this.lines);
  }

  /** The cells that a rectangle touches, as first and last column and line. */
  cells(x, y, width, height) {
    const within = (at, most) => Math.min(most - 1, Math.max(0, Math.floor(at / CELL)));
    return [
      within(x - this.left, this.columns), within(x + width - this.left, this.columns),
      within(y - this.top, this.lines), within(y + height - this.top, this.lines),
    ];
  }

  /** A mark, which no label may cover. */
  mark(u, v, radius) {
    this.note(u - radius, v - radius, 2 * radius, MARK);
  }

  /** A line, which labels leave free as long as there is room beside it. */
  line(x1, y1, x2, y2) {
    const steps = Math.ceil(Math.hypot(x2 - x1, y2 - y1) / CELL);
    for (let step = 0; step <= steps; step += 1) this.note(x1 + ((x2 - x1) * step) / steps, y1 + ((y2 - y1) * step) / steps, 0, LINE);
  }

  note(x, y, size, what) {
    if (!(x + size >= this.left && x <= this.right && y + size >= this.top && y <= this.bottom)) return;
    const [from, to, top, bottom] = this.cells(x, y, size, size);
    for (let line = top; line <= bottom; line += 1) {
      for (let column = from; column <= to; column += 1) this.noted[line * this.columns + column] |= what;
    }
  }

  take(x, y, width, height) {
    this.taken.push([x, y, width, height]);
  }

  isFree(x, y, width, height, of = MARK) {
    if (x < this.left || y < this.top || x + width > this.right || y + height > this.bottom) return false;
    if (!this.taken.every(apart(x, y, width, height))) return false;
    const [from, to, top, bottom] = this.cells(x, y, width, height);
    for (let line = top; line <= bottom; line += 1) {
      for (let column = from; column <= to; column += 1) if (this.noted[line * this.columns + column] & of) return false;
    }
    return true;
  }

  /** The first of these corners with room, taken; null if there is none. */
  first(corners, width, height) {
    const corner = corners.find(([x, y]) => this.isFree(x, y, width, height, MARK | LINE)) ?? corners.find(([x, y]) => this.isFree(x, y, width, height));
    if (corner) this.take(corner[0], corner[1], width, height);
    return corner ?? null;
  }
}
