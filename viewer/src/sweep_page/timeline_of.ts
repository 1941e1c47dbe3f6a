// The way from a point to its timeline: a link where there is one, else the command that makes it.
import type { Sweep } from "../sweep/sweep";
import { element } from "../ui/dom";

/** The folder of the page as a shell takes it, where the page lies on a disk; else DIR. */
export function folderOf(address: string): string {
  if (!address.startsWith("file:")) return "DIR";
  const path = decodeURIComponent(new URL(address).pathname);
  const folder = path.slice(0, path.lastIndexOf("/")) || "/";
  return /^[\w./+@%:,-]+$/.test(folder) ? folder : `'${folder.replaceAll("'", "'\\''")}'`;
}

export const timelineCommand = (point: string, address: string): string => `heddle sweep --timeline ${point} -o ${folderOf(address)}`;

/** A path as an address: what stands in the names of folders is no part of it. */
export const addressOf = (path: string): string => path.split("/").map(encodeURIComponent).join("/");

export function timelineOf(sweep: Sweep, point: number): Node[] {
  const name = sweep.text("point", point);
  const page = sweep.timelines.get(name);
  if (page) return [element("p", {}, element("a", { href: addressOf(page), target: "_blank", textContent: "Its timeline", title: page }))];
  if (Number.isNaN(sweep.number("ms", point))) return [];
  return [
    element("p", { className: "faint", textContent: "Its timeline is made by this command, and then linked here by heddle view:" }),
    element("pre", { className: "code", textContent: timelineCommand(name, location.href) }),
  ];
}
