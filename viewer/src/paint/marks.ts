// A shape for each resource: the second sign beside its hue, where a resource is a point and not an area.
import type { Painter } from "./painter";

type Shape = "circle" | readonly number[]; // corners on the unit circle's scale, x y x y ...

const SQUARE = [-0.85, -0.85, 0.85, -0.85, 0.85, 0.85, -0.85, 0.85];
const UP = [0, -1.1, 1, 0.75, -1, 0.75];
const DOWN = UP.map((v) => -v);
const DIAMOND = [0, -1.15, 1.15, 0, 0, 1.15, -1.15, 0];
const CROSS = [-0.38, -1, 0.38, -1, 0.38, -0.38, 1, -0.38, 1, 0.38, 0.38, 0.38, 0.38, 1, -0.38, 1, -0.38, 0.38, -1, 0.38, -1, -0.38, -0.38, -0.38];

/** In the order of instructions.resources: compute, weights wire, input wire, output, DDR read, DDR write, sequencer. */
const SHAPES: readonly Shape[] = ["circle", SQUARE, UP, DIAMOND, DOWN, CROSS, "circle"];

export function paintMark(p: Painter, resource: number, x: number, y: number, radius: number, fill: string, stroke: string): void {
  const shape = SHAPES[resource] ?? "circle";
  if (shape === "circle") {
    p.circle(x, y, radius, fill, stroke);
    return;
  }
  const corners = shape.map((v, k) => (k % 2 ? y : x) + v * radius);
  p.polygon(corners, fill);
  p.line([...corners, corners[0] as number, corners[1] as number], stroke, 1.5);
}
