// The views of a run's page.
import type { App } from "./app";
import { CanvasViewOf, type TableOf, ViewOf } from "./base_view";
import type { Change, Selection, ViewId } from "./state";

export type { KeyBinding, Picture } from "./base_view";
export type Table = TableOf<Selection>;
export abstract class View extends ViewOf<App, ViewId, Change, Selection> {}
export abstract class CanvasView extends CanvasViewOf<App, ViewId, Change, Selection> {}
