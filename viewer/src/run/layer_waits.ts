// What a layer's cores waited for, as the report has it: followed back through the chain of causes.
import type { Layer, Run } from "./run";
import { STALLS, stallOfResource } from "./stalls";

/** Core cycles that the layer's cores waited, one number for each of STALLS. */
export function waitsOf(run: Run, layer: Layer): number[] {
  const waits = STALLS.map(() => 0);
  const byResource = (layer["waitCoreCycles"] ?? {}) as Record<string, unknown>;
  run.instructions.resources.forEach((name, resource) => {
    const cycles = byResource[name];
    const stall = stallOfResource(run, resource);
    if (typeof cycles === "number") waits[stall] = (waits[stall] as number) + cycles;
  });
  return waits;
}
