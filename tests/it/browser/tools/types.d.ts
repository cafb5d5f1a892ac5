// What the data of the page holds, for the check of types; the program writes it in src/report/html/data.rs.

/** Level or pipe; theoretical, achievable and lowest rate. */
type RoofData = [number, number, number | null, number];

/** Kernel, pipe, operations per byte of DRAM, rate, and level with operations per byte of every other level. */
type PointData = [number, number, number, number, [number, number][]];

interface Scene {
  device: number;
  memory: RoofData[];
  compute: RoofData[];
  points: PointData[];
  absent: [string, number, number][];
}

interface Kernels {
  [figure: string]: (number | null)[] | any[];
}

interface Data {
  total: number;
  threshold: number;
  farthest: number;
  fixed: number;
  shortest: number;
  is_at_measured_clock: boolean;
  near: number;
  full_names: boolean;
  partly?: number[];
  bandwidths?: Record<number, number>;
  busy?: Record<number, number>;
  words: Record<string, string[]>;
  states: [string, string][];
  categories: [string, string][];
  levels: [string, string, string][];
  pipes: [string, string, string][];
  devices: string[];
  scenes: Scene[];
  kernels: Kernels;
  findings: Record<number, any[]>;
  needed: Record<number, any>;
  told: Record<number, [number, number, number][]>;
  groups: string[];
  strings: string[];
}
