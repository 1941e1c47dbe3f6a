// What the heads of sections count: layers, or steps of the schedule where these are not the layers in order (docs/asm.md).
const HEAD = /, (layer|step) (\d+):\s*$/;
const STEP = /^step (\d+) layer (\d+)\s*$/;

/** Layer of a section's head, or -1 for none; read once for a program. */
export function layersOfHeads(asm: readonly string[]): (head: string) => number {
  const ofStep = new Map<number, number>();
  for (const line of asm) {
    const step = STEP.exec(line);
    if (step) ofStep.set(Number(step[1]), Number(step[2]));
  }
  return (head) => {
    const [, what, number] = HEAD.exec(head) ?? [];
    return what === undefined ? -1 : what === "layer" ? Number(number) : (ofStep.get(Number(number)) ?? -1);
  };
}
