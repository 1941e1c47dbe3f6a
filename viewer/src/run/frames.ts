// Inferences that run one right behind the other. Their instructions are the same, so that a queue's slices tell the frame by their place.
import { bandOfLeaf } from "./groups";
import type { Run, SliceRef } from "./run";
import type { Track } from "./track";

/** How often the run goes through the program. */
export const framesIn = ({ report }: Run): number => report.time.frames ?? 1;
/** Inferences of a frame: every tensor holds so many images, one below the other. */
export const batchOf = ({ report }: Run): number => report.time.batch ?? 1;
export const inferencesOf = (run: Run): number => framesIn(run) * batchOf(run);

/** "frame 2 of 8", counted from 1. */
export const frameName = (run: Run, frame: number): string => `frame ${frame + 1} of ${run.frames.length}`;

/** 0 in a run of one frame, and for the sequencer: that has some for the last frame only, the run's end. */
export const slicesOfFrame = (run: Run, track: Track): number => (run.frames.length && track.engine !== "sequencer" ? Math.max(1, Math.floor(track.size / run.frames.length)) : 0);

/** Of a slice; -1 where the run has one frame only, and for the sequencer, whose slices are not the same in each. */
export function frameOf(run: Run, { track, index }: SliceRef): number {
  const of = run.tracks[track];
  const each = of ? slicesOfFrame(run, of) : 0;
  return each ? Math.min(run.frames.length - 1, Math.floor(index / each)) : -1;
}

/** For the slices of a track, by their place: their band in Run.bands, or -1. */
export function bandOfSlices(run: Run, track: Track): (index: number) => number {
  const ofLeaf = bandOfLeaf(run);
  const each = slicesOfFrame(run, track);
  const steps = each ? run.bands.length / run.frames.length : 0;
  return (index) => {
    const first = ofLeaf[track.leaf(index)] ?? -1;
    return first < 0 || !each ? first : first + steps * Math.min(run.frames.length - 1, Math.floor(index / each));
  };
}
