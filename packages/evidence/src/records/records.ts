export { evidenceNames, otherPdfs } from "./evidence-files.ts";
