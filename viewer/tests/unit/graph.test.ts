import { beforeAll, describe, expect, it, vi } from "vitest";
import { held, zoomed } from "../../src/views/graph/camera";
import { folded, type Layout } from "../../src/views/graph/fold";
import { type Network, networkOf, partsOf } from "../../src/views/graph/network";
import { legendOf } from "../../src/views/graph/legend";
import { spread } from "../../src/views/graph/spread";
import { figuresOf, firstThatFits, fitName, isLegible } from "../../src/views/graph/words";
import { hitEdge, hitNode } from "../../src/views/graph/pick";
import { finished, layRibbon, type Ribbon } from "../../src/views/graph/ribbon";
import { Run } from "../../src/run/run";
import { RESOURCES, runOf, timelineOf } from "./sample";

const SIZE = { main: 38, cross: 138 };

/** Nodes in order, "0>1 0>2" for the edges. */
function network(count: number, edges: string): Network {
  return {
    nodes: Array.from({ length: count }, (_, index) => ({ kind: "operator" as const, index, name: `n${index}`, tensor: index })),
    edges: edges.split(" ").filter(Boolean).map((text) => {
      const [from, to] = text.split(">").map(Number) as [number, number];
      return { from, to, tensor: from };
    }),
  };
}

/** A chain with shortcuts, each node fed by the one before; the same at every run. */
function tangled(count: number, reach: number): Network {
  const edges: string[] = [];
  for (let node = 1; node < count; node++) {
    edges.push(`${node - 1}>${node}`);
    const from = node - 2 - ((node * 7) % reach);
    if (node % 3 === 0 && from >= 0) edges.push(`${from}>${node}`);
  }
  return network(count, edges.join(" "));
}

const partsText = (n: Network) => partsOf(n).map(({ from, to, port }) => `${from}-${to}:${port}`).join(" ");

describe("parts", () => {
  it("are cut where a single tensor passes", () => {
    expect(partsText(network(4, "0>1 1>2 2>3"))).toBe("0-0:-1 1-1:0 2-2:1 3-3:2");
    expect(partsText(network(6, "0>1 1>2 2>3 1>3 3>4 4>5"))).toBe("0-0:-1 1-1:0 2-3:1 4-4:3 5-5:4");
    expect(partsText(network(5, "0>1 0>2 1>3 2>3 3>4"))).toBe("0-0:-1 1-3:0 4-4:3");
  });

  it("have no port where nothing goes on, and are one where an edge goes back", () => {
    expect(partsText(network(4, "0>1 2>3"))).toBe("0-0:-1 1-1:0 2-2:-1 3-3:2");
    expect(partsText(network(3, "0>1 1>2 2>0"))).toBe("0-2:-1");
  });
});

describe("networkOf", () => {
  it("has inputs before their first reader and outputs behind their maker", () => {
    const json = timelineOf([{ slices: [] }], [0, 1]);
    const run = new Run({ ...json, graph: {
      tensors: json.graph.tensors,
      operators: [{ name: "a", op: "Conv", inputs: [0], output: 1 }, { name: "b", op: "Add", inputs: [1, 1, 2], output: 3 }],
      inputs: [{ name: "x", tensor: 0 }, { name: "y", tensor: 2 }],
      outputs: [{ name: "half", tensor: 1 }, { name: "all", tensor: 3 }],
    } });
    const { nodes, edges } = networkOf(run);
    expect(nodes.map(({ kind, name }) => `${kind} ${name}`)).toEqual(["input x", "operator a", "output half", "input y", "operator b", "output all"]);
    expect(edges.map(({ from, to, tensor }) => `${from}>${to}:${tensor}`).sort()).toEqual(["0>1:0", "1>2:1", "1>4:1", "3>4:2", "4>5:3"]);
  });
});

function checked(n: Network, downwards: boolean, width: number, height: number): Layout {
  const size = downwards ? SIZE : { main: SIZE.cross, cross: SIZE.main };
  const ribbon = finished(layRibbon(n, size));
  const layout = folded(ribbon, downwards, width, height);
  const { nodeWidth: w, nodeHeight: h } = layout;
  const boxes = [...layout.nodes, ...layout.copies];
  boxes.forEach((a, i) => {
    expect(a.x - w / 2 >= -0.01 && a.y - h / 2 >= -0.01 && a.x + w / 2 <= layout.width + 0.01 && a.y + h / 2 <= layout.height + 0.01).toBe(true);
    for (const b of boxes.slice(i + 1)) expect(Math.abs(a.x - b.x) >= w - 0.01 || Math.abs(a.y - b.y) >= h - 0.01).toBe(true);
  });
  n.edges.forEach(({ from, to }, e) => {
    const route = layout.routes[e] as number[];
    const near = (at: { x: number; y: number }, k: number) => Math.abs((route[k] as number) - at.x) <= w / 2 + 0.01 && Math.abs((route[k + 1] as number) - at.y) <= h / 2 + 0.01;
    expect([layout.nodes[from], ...layout.copies.filter(({ node }) => node === from)].some((at) => at && near(at, 0))).toBe(true);
    expect(near(layout.nodes[to] as { x: number; y: number }, route.length - 2)).toBe(true);
  });
  return layout;
}

const residual = (blocks: number) => {
  const edges: string[] = [];
  for (let b = 0; b < blocks; b++) edges.push(`${4 * b}>${4 * b + 1} ${4 * b + 1}>${4 * b + 2} ${4 * b + 2}>${4 * b + 3} ${4 * b}>${4 * b + 3} ${4 * b + 3}>${4 * b + 4}`);
  return network(4 * blocks + 1, edges.join(" "));
};

describe("the layout", () => {
  it.each([["chain", network(3, "0>1 1>2")], ["blocks", residual(12)], ["tangle", tangled(60, 9)], ["one node", network(1, "")], ["no edges", network(3, "")], ["nothing", network(0, "")], ["a circle", network(3, "0>1 1>2 2>0")], ["dead ends", network(5, "0>1 0>2 0>3 2>4")]] as const)(
    "overlaps nothing and joins edges to nodes: %s",
    (_, n) => {
      for (const downwards of [true, false]) for (const [width, height] of [[1290, 480], [400, 900]] as const) checked(n, downwards, width, height);
    },
  );

  it("follows the data within a piece", () => {
    const layout = checked(residual(2), true, 100, 10000);
    expect(layout.copies).toEqual([]);
    expect(layout.nodes.every(({ y }, k) => k === 0 || y > (layout.nodes[k - 1]?.y ?? 0))).toBe(true);
  });

  it("folds what is long and thin, at cuts only", () => {
    const layout = checked(residual(30), true, 1290, 480);
    expect(layout.copies.length).toBeGreaterThan(3);
    for (const { node } of layout.copies) expect(node % 4 === 0 || node % 4 === 3).toBe(true);
    expect(layout.width / layout.height).toBeGreaterThan(1);
  });

  it("takes no second for 1000 operators that nothing cuts", () => {
    const n = tangled(1000, 997);
    const begin = performance.now();
    const layout = folded(finished(layRibbon(n, SIZE)), true, 1290, 480);
    expect(performance.now() - begin).toBeLessThan(1000);
    expect(layout.nodes.length).toBe(1000);
  });

  it("is found again under the pointer", () => {
    const n = residual(5);
    const layout = checked(n, true, 600, 480);
    layout.nodes.forEach(({ x, y }, node) => expect(hitNode(layout, x + 3, y - 3)).toBe(node));
    expect(hitNode(layout, -50, -50)).toBe(-1);
    layout.routes.forEach((route, e) => {
      const [x0, y0, x1, y1] = route as [number, number, number, number];
      const hit = hitEdge(layout, (x0 + x1) / 2, (y0 + y1) / 2, 1);
      expect(n.edges[hit]?.from).toBe(n.edges[e]?.from);
    });
    expect(hitEdge(layout, -50, -50, 5)).toBe(-1);
  });
});

describe("the camera", () => {
  it("keeps the point under the pointer", () => {
    const before = { scale: 0.5, x: 30, y: -20 };
    const after = zoomed(before, 2, 100, 70, 0.1);
    expect(after.scale).toBe(1);
    expect((100 - after.x) / after.scale).toBeCloseTo((100 - before.x) / before.scale);
    expect((70 - after.y) / after.scale).toBeCloseTo((70 - before.y) / before.scale);
    expect(zoomed(before, 0.001, 0, 0, 0.2).scale).toBe(0.2);
  });

  it("does not lose the picture", () => {
    for (const x of [-1e6, 0, 1e6]) {
      const { scale, ...at } = held({ scale: 1, x, y: -x }, 500, 300, 800, 600);
      expect(at.x < 800 && at.x + 500 * scale > 0 && at.y < 600 && at.y + 300 * scale > 0).toBe(true);
    }
  });
});

describe("the words of a node", () => {
  // Every character is as wide as the text is high by half.
  beforeAll(() => {
    const context = { font: "", measureText: (text: string) => ({ width: (text.length * Number(/([\d.]+)px/.exec(context.font)?.[1])) / 2 }) };
    vi.stubGlobal("document", { createElement: () => ({ getContext: () => context }) });
  });
  const size = { size: 10 };

  it("are the first that fit, and none rather than a part", () => {
    expect(firstThatFits(["10.7 % · GlobalAveragePool", "10.7 % · avg pool", "10.7 %"], 90, size)).toBe("10.7 % · avg pool");
    expect(firstThatFits(["10.7 % · Conv"], 20, size)).toBe("");
  });

  it("keep both ends of a name", () => {
    expect(fitName("/features/features.5/conv", 60, size)).toBe("/feat…5/conv");
    expect(fitName("short", 60, size)).toBe("short");
  });

  it("say the figure last of all alone, and pools by their short names", () => {
    const run = runOf([{ slices: [{ start: 0, end: 100, leaf: 0 }] }], [0]);
    const layer = { ...(run.layers[0] as (typeof run.layers)[number]), op: "GlobalAveragePool" };
    expect(figuresOf(run, layer, "time", "9 %")).toEqual(["9 % · GlobalAveragePool", "9 % · GlobalAvgPool", "9 % · avg pool", "9 %"]);
    expect(figuresOf(run, layer, "bound", "compute").slice(-2)).toEqual(["compute · 100.0 %", "compute"]);
  });

  it("are legible where most names fit", () => {
    const network = { nodes: ["a", "b", "c", "d", "a_long_name"].map((name, index) => ({ kind: "operator" as const, index, name, tensor: index })), edges: [] };
    expect(isLegible(network, 100, 38, 0.4)).toBe(true);
    expect(isLegible(network, 100, 38, 0.2)).toBe(false);
    expect(isLegible({ ...network, nodes: network.nodes.map((node) => ({ ...node, name: "a_long_name" })) }, 100, 38, 0.4)).toBe(false);
    expect(isLegible({ ...network, nodes: network.nodes.map((node) => ({ ...node, name: "x".repeat(300) })) }, 100, 38, 0.7)).toBe(true);
  });

  it("spread the graph over more than the pane where they could not be read", () => {
    const chain = network(60, Array.from({ length: 59 }, (_, k) => `${k}>${k + 1}`).join(" "));
    chain.nodes.forEach((node, k) => (node.name = `block_${k}_convolution`));
    const ribbons: [Ribbon, boolean][] = [[finished(layRibbon(chain, SIZE)), true]];
    const low = spread(ribbons, 700, 150, false);
    expect(low.isWhole).toBe(false);
    expect(low.layout.height * (700 / low.layout.width)).toBeGreaterThan(150);
    expect(spread(ribbons, 700, 150, true).isWhole).toBe(true);
    expect(spread(ribbons, 3000, 2000, false).isWhole).toBe(true);
  });

  it("have a legend with every bound, on as many lines as it takes", () => {
    const run = runOf([{ slices: [{ start: 0, end: 100, leaf: 0 }] }], [0, 1, 2]);
    run.layers.forEach((layer, k) => (layer.boundBy = RESOURCES[k] ?? null));
    for (const width of [1200, 500, 60]) {
      const { entries, height } = legendOf(run, "bound", width, width === 500);
      expect(entries.length).toBe(width === 500 ? 4 : 5);
      entries.forEach((entry, k) => {
        const before = entries[k - 1];
        if (before?.line === entry.line) expect(entry.x).toBeGreaterThan(before.x + before.width);
        if (width > 60) expect(entry.x + entry.width).toBeLessThanOrEqual(width);
        expect(height).toBeGreaterThan((entry.line + 1) * 26);
      });
    }
  });
});
