// Where one stands over a picture that is larger than the pane: screen = picture * scale + offset.
export interface Camera {
  scale: number;
  x: number;
  y: number;
}

export const MOST_SCALE = 3;

export const centred = (width: number, height: number, scale: number, x: number, y: number): Camera => ({ scale, x: width / 2 - x * scale, y: height / 2 - y * scale });

/** Zooms so that what is under the pointer stays there. */
export function zoomed(camera: Camera, factor: number, x: number, y: number, least: number): Camera {
  const scale = Math.max(Math.min(least, camera.scale), Math.min(MOST_SCALE, camera.scale * factor));
  const share = scale / camera.scale;
  return { scale, x: x - (x - camera.x) * share, y: y - (y - camera.y) * share };
}

/** Keeps a part of the picture in sight, whatever one drags. */
export function held(camera: Camera, pictureWidth: number, pictureHeight: number, width: number, height: number): Camera {
  const hold = (offset: number, picture: number, pane: number) => {
    const size = picture * camera.scale;
    const room = Math.min(pane, size) * 0.7;
    return Math.max(pane - size - (pane - room), Math.min(pane - room, offset));
  };
  return { scale: camera.scale, x: hold(camera.x, pictureWidth, width), y: hold(camera.y, pictureHeight, height) };
}
