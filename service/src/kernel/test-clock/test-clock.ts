export {
  advanceTestClock,
  type BringNearer,
  resetTestClock,
  showTestClock,
  type TestClock,
  type TestClockDeps,
} from "./advance.ts";
export { testClockRoutes } from "./routes.ts";
export { type Sweep, testClockJobs } from "./settle.ts";
