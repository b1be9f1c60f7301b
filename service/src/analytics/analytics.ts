export { analyticsRoutes } from "./routes.ts";
export { type AnalyticsReader, analyticsReader } from "./snapshot.ts";
