// Colours. Resources and stalls are told apart with any kind of colour vision (hues after Okabe and Ito), in the dark and in the light.
export type Rgb = readonly [number, number, number];

export interface Theme {
  dark: boolean;
  ground: string;
  raised: string;
  sunken: string;
  line: string;
  text: string;
  faint: string;
  /** Of what steps back behind the faint, and can still be read: 4.5:1 on what is raised. */
  fainter: string;
  accent: string;
  /** Text on a coloured slice. */
  onColour: string;
  groundRgb: Rgb;
  raisedRgb: Rgb;
  laneRgb: Rgb;
}

export const LIGHT: Theme = {
  dark: false, ground: "#fbfbfa", raised: "#ffffff", sunken: "#f0f0ee", line: "#d9d9d5", text: "#1d1f21", faint: "#5a5f63", fainter: "#70757a", accent: "#0b61a4",
  onColour: "#101214", groundRgb: [251, 251, 250], raisedRgb: [255, 255, 255], laneRgb: [240, 240, 238],
};
export const DARK: Theme = {
  dark: true, ground: "#15171a", raised: "#1d2024", sunken: "#101214", line: "#363b41", text: "#e6e7e8", faint: "#a3a9af", fainter: "#868c93", accent: "#6db6f2",
  onColour: "#101214", groundRgb: [21, 23, 26], raisedRgb: [29, 32, 36], laneRgb: [29, 32, 36],
};

const GREY: Rgb = [138, 143, 148];
/** In the order of instructions.resources: compute, weights wire, input wire, output, DDR read, DDR write, sequencer. */
const RESOURCES: readonly Rgb[] = [[27, 158, 119], [230, 161, 0], [74, 168, 224], [196, 108, 160], [213, 94, 0], [98, 128, 214], GREY];
/** In the order of STALLS: input, weights, output, DDR, compute, order, nothing to do; the hue is that of the resource waited for. */
const STALL_COLOURS: readonly Rgb[] = [[74, 168, 224], [230, 161, 0], [196, 108, 160], [213, 94, 0], [27, 158, 119], GREY];

export const resourceColour = (resource: number): Rgb => RESOURCES[resource] ?? GREY;
/** Of what is better than it was or has to be, and of what is worse. */
export const better = (alpha = 1): string => css(resourceColour(0), alpha);
export const worse = (alpha = 1): string => css(resourceColour(4), alpha);
export const stallColour = (stall: number): Rgb => STALL_COLOURS[stall] ?? GREY;

export const css = (c: Rgb, alpha = 1): string => `rgba(${c[0]},${c[1]},${c[2]},${alpha})`;
/** A pixel of ImageData, seen as one number. */
export const packed = (c: Rgb): number => ((255 << 24) | (c[2] << 16) | (c[1] << 8) | c[0]) >>> 0;
export const mix = (a: Rgb, b: Rgb, share: number): Rgb => [0, 1, 2].map((k) => Math.round((a[k] as number) + ((b[k] as number) - (a[k] as number)) * share)) as unknown as Rgb;

/** One hue from pale to strong, for heat: legible on both grounds. share 0..1. */
export function heat(theme: Theme, share: number, hue: Rgb = [213, 94, 0]): Rgb {
  return mix(theme.laneRgb, hue, 0.06 + 0.94 * Math.max(0, Math.min(1, share)));
}

const light = (c: Rgb): number => {
  const [r, g, b] = c.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4)) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};

/** Text on a colour: dark or light, whichever stands out more. */
export const inkOn = (colour: Rgb): string => ((light(colour) + 0.05) / 0.055 > 1.05 / (light(colour) + 0.05) ? "#101214" : "#ffffff");

/** For things without a hue of their own, such as networks: told apart from each other, and 3:1 and more from both grounds. */
const SERIES: readonly Rgb[] = [[56, 118, 181], [207, 83, 68], [60, 140, 76], [170, 90, 185], [158, 116, 30], [30, 140, 150], [206, 84, 140], [124, 124, 124]];
export const seriesColour = (k: number): Rgb => SERIES[k % SERIES.length] as Rgb;
