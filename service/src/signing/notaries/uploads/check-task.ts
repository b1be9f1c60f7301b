export { checkUpload as run } from "./check.ts";
