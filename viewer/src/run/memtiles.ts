// Which memtiles a device has and where they sit: the one place that knows that there is one under each column of cores.
import type { DeviceJson } from "./format";

export const memtilesOf = ({ columns }: DeviceJson): number => columns;

/** Column of cores that memtile `memtile` sits at. */
export const columnOfMemtile = (_device: DeviceJson, memtile: number): number => memtile;
