export {
  advanceTestClock,
  type BringNearer,
  resetTestClock,
  type Sweep,
  showTestClock,
  type TestClock,
  type TestClockDeps,
  testClockJobs,
} from "./advance.ts";
export { testClockRoutes } from "./routes.ts";
export { bookNow, bookTime, leapt, movedSince } from "./store.ts";
