export { checkFinished as run } from "./check.ts";
