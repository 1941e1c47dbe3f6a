// What the view computes once for a run.
import { type CriticalPath, criticalPath } from "../../run/critical_path";
import type { Run } from "../../run/run";
import { folded, type Item } from "./fold";
import { gainsOf } from "../../run/gains";
import { type Only, onlyOf } from "./only";
import type { ShareRow } from "./share_table";
import { type Grouping, groupName, type Share, sharesOf } from "./shares";
import { type StripData, stripData } from "./strip";

export class Known {
  readonly path: CriticalPath;
  readonly items: Item[];
  readonly strip: StripData;
  private readonly shares = new Map<Grouping, Share[]>();
  private single: { text: string; only: Only | null; strip: StripData | null } | null = null;

  constructor(readonly run: Run) {
    this.path = criticalPath(run);
    this.items = folded(run, this.path);
    this.strip = stripData(run, this.path);
  }

  /** Largest share first. */
  rowsOf(by: Grouping): ShareRow[] {
    const { run, path, shares } = this;
    let known = shares.get(by);
    if (!known) shares.set(by, (known = sharesOf(run, path, by)));
    const gains = gainsOf(run);
    return known.map((share) => ({ ...share, name: groupName(run, by, share.group), gain: by === "lock" || share.group < 0 ? undefined : (gains.of(by, share) ?? (gains.canReplay ? null : undefined)) }));
  }

  /** The group that `text` names alone, with its part of the strip. */
  onlyOf(text: string): { only: Only | null; strip: StripData | null } {
    if (this.single?.text !== text) {
      const only = onlyOf(this.run, this.path, text);
      this.single = { text, only, strip: only && stripData(this.run, this.path, only.matches) };
    }
    return this.single;
  }
}

const made = new WeakMap<Run, Known>();

export function knownOf(run: Run): Known {
  let known = made.get(run);
  if (!known) made.set(run, (known = new Known(run)));
  return known;
}
