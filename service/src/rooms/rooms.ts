export { roomRoutes } from "./routes.ts";
export type { OrderCard, RoomView, Signer } from "./view.ts";
export type { ActivityItem, PassportPointer } from "./view-store.ts";
export { roomView } from "./views.ts";
