export { windowDays } from "./days.ts";
export { analyticsRoutes } from "./routes.ts";
export { type AnalyticsReader, analyticsReader, type Snapshot } from "./snapshot.ts";
