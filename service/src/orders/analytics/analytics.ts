export { windowDays } from "./days.ts";
export { analyticsRoutes } from "./routes.ts";
export type { Snapshot } from "./schemas.ts";
export { type AnalyticsReader, analyticsReader } from "./snapshot.ts";
