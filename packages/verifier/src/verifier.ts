export { instantOf, type VerifyValues, verifyOptions } from "./cli/options.ts";
export { verifyAnswer } from "./cli/run.ts";
export { UsageError } from "./errors.ts";
export { type MonitorOptions, monitorAnswer } from "./monitor/monitor.ts";
