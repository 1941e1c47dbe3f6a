// What stands in the left margin: tracks grouped column > tile > lane. Tiles open on a click.

const LANE = 17, HEAD = 20;

function laneLabel(model, track) {
  switch (track.engine) {
    case "sequencer": return "sequencer";
    case "ddrIn": return `DDR in ${track.channel}`;
    case "ddrOut": return `DDR out ${track.channel}`;
    case "wire": return `wire ${model.device.wires[track.column]?.name ?? track.column}`;
    case "core": return `core ${track.row},${track.column}`;
    case "coreIn": return `receive ${track.channel}`;
    default: return `send ${track.channel}`;
  }
}

// The same, where no heading above says which tile it is.
function trackName(model, track) {
  const label = laneLabel(model, track);
  if (track.engine === "ddrIn" || track.engine === "ddrOut") return `memtile ${track.column} ${label}`;
  if (track.engine === "coreIn" || track.engine === "coreOut") return `core ${track.row},${track.column} ${label}`;
  return label;
}

// Column that a wire belongs to, or -1 for one that crosses columns.
function columnOfWire(model, track) {
  const reach = model.device.wires[track.column]?.reach;
  return reach && reach.columns === 1 && (reach.rows > 1 || model.device.rows === 1) ? reach.column : -1;
}

// closed: keys of groups that are shut; opened: keys of tiles that show their channels.
function layOut(model, closed, opened) {
  const rows = [];
  const lane = (index, depth, key, opens) => rows.push({ kind: "lane", track: index, depth, key, opens, height: LANE, label: laneLabel(model, model.tracks[index]) });
  const group = (key, label, fill) => {
    rows.push({ kind: "group", key, label, height: HEAD, open: !closed.has(key) });
    if (!closed.has(key)) fill();
  };
  const find = (test) => model.tracks.map((t, i) => i).filter((i) => test(model.tracks[i]));
  const shared = find((t) => t.engine === "sequencer" || (t.engine === "wire" && columnOfWire(model, t) < 0));
  if (shared.length) group("shared", "Shared", () => shared.forEach((i) => lane(i, 1)));
  for (let column = 0; column < model.device.columns; column++) {
    const memtile = find((t) => (t.column === column && (t.engine === "ddrIn" || t.engine === "ddrOut")) || (t.engine === "wire" && columnOfWire(model, t) === column));
    const tiles = new Map();
    for (const i of find((t) => t.column === column && t.engine.startsWith("core"))) {
      const row = model.tracks[i].row;
      tiles.set(row, [...(tiles.get(row) ?? []), i]);
    }
    if (!memtile.length && !tiles.size) continue;
    group(`column${column}`, `Column ${column}`, () => {
      memtile.forEach((i) => lane(i, 1));
      for (const [row, lanes] of [...tiles].sort((a, b) => a[0] - b[0])) {
        const key = `tile${row},${column}`;
        const core = lanes.find((i) => model.tracks[i].engine === "core") ?? lanes[0];
        lane(core, 1, key, lanes.length > 1);
        if (opened.has(key)) lanes.filter((i) => i !== core).forEach((i) => lane(i, 2));
      }
    });
  }
  let top = 0;
  for (const row of rows) { row.top = top; top += row.height; }
  rows.height = top;
  return rows;
}
