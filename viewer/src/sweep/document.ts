// heddle.sweep/1: what `heddle collect` writes, one array for each column of results.csv.

export const FORMAT = "heddle.sweep/1";

/** key: what the point is; vary: what the sweep varied; result: what came of it; effort: what it took to find out. */
export type Role = "key" | "vary" | "result" | "effort";

export interface ColumnJson {
  name: string;
  /** "" for counts, fractions and texts. */
  unit: string;
  kind: "number" | "text";
  role: Role;
  help: string;
}

export interface SweepJson {
  format: string;
  heddle: string;
  title: string;
  columns: ColumnJson[];
  points: number;
  data: Record<string, (number | string | null)[]>;
  /** By the name of a point: its page, as seen from this one. */
  timelines?: Record<string, string>;
}

/** Why a document cannot be shown, or null. */
export function refusal(json: unknown): string | null {
  const given = typeof json === "object" && json !== null ? (json as Partial<SweepJson>) : {};
  const newer = typeof given.format === "string" ? /^heddle\.sweep\/(\d+)$/.exec(given.format) : null;
  if (newer && Number(newer[1]) > 1) return `The file is ${given.format}; this page reads ${FORMAT}. Write it anew: heddle collect FOLDER.`;
  if (given.format !== FORMAT) return `This is not a sweep of heddle: its format should be ${FORMAT}, but is ${JSON.stringify(given.format) ?? "missing"}.`;
  if (!Array.isArray(given.columns) || typeof given.points !== "number" || typeof given.data !== "object") return "The sweep lacks its columns, its number of points or its data.";
  const uneven = given.columns.find(({ name }) => given.data?.[name]?.length !== given.points);
  return uneven ? `The column ${uneven.name} has ${given.data?.[uneven.name]?.length ?? "no"} entries for ${given.points} points.` : null;
}
