// What two runs were given that differs, beside mesh and clock, which other sentences name: "DDR read 4 GB/s → 250 MB/s a channel".
import type { DeviceJson } from "../../run/format";
import { groupName } from "../../run/groups";
import type { Run } from "../../run/run";
import { bytes, count, kibibytes } from "../../ui/numbers";

const rate = (n: number): string => `${bytes(n)}/s`;

const FACTS: readonly [keyof DeviceJson, string, (n: number) => string, string][] = [
  ["ddrReadBytesPerSecond", "DDR read", rate, " a channel"],
  ["ddrWriteBytesPerSecond", "DDR write", rate, " a channel"],
  ["ddrReadTotalBytesPerSecond", "DDR read of all channels", rate, ""],
  ["ddrWriteTotalBytesPerSecond", "DDR write of all channels", rate, ""],
  ["ddrChannelsIn", "DDR channels in", count, " a memtile"],
  ["ddrChannelsOut", "DDR channels out", count, " a memtile"],
  ["wireBytesPerSecond", "wires", rate, ""],
  ["coreWriteBytesPerSecond", "cores send", rate, ""],
  ["coreBytes", "core memory", kibibytes, ""],
  ["memtileBytes", "memtile", kibibytes, ""],
];

/** Phrases, none where nothing else differs. */
export function whatElse(a: Run, b: Run): string[] {
  const device = FACTS.flatMap(([key, name, text, each]) => {
    const [before, after] = [a.device[key], b.device[key]].map((value) => (typeof value === "number" ? text(value) : "none"));
    return before === after ? [] : [`${name} ${before} → ${after}${each}`];
  });
  const [before, after] = [a.report.device.macsPerCycle, b.report.device.macsPerCycle];
  if (before !== after) device.push(`a core ${count(before)} → ${count(after)} MAC/cycle`);
  const isOtherModel = a.model === b.model && a.report.model.sha256 !== b.report.model.sha256;
  return [...(isOtherModel ? ["the model's file is another one"] : []), ...device, ...tiledOnlyIn("A", a, b), ...tiledOnlyIn("B", b, a)];
}

const groupsOf = (run: Run): string[] => run.groups.map(({ index, tiles }) => `${groupName(run, index)} in ${tiles} tiles`);

/** Groups of layers that this run computes tile by tile and the other one does not, or in another number of tiles. */
function tiledOnlyIn(name: string, run: Run, other: Run): string[] {
  const known = new Set(groupsOf(other));
  const own = groupsOf(run).filter((group) => !known.has(group));
  return own.length ? [`${name} computes ${own.join(" and ")}`] : [];
}
