export { roomNotFound } from "./change.ts";
export { roomEnvironment } from "./environment.ts";
export { isCode } from "./fields.ts";
export { roomRoutes } from "./routes.ts";
export { type Branding, brandingOf, type OrderCard, type RoomView, type Signer } from "./view.ts";
export type { ActivityItem, PassportPointer } from "./view-store.ts";
export { roomView } from "./views.ts";
