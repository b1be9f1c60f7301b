import { isWhatWasAsked } from "./check-act.ts";

// A script of its own, loaded while the document is read: it judges PDFs, and is larger than all the rest.
Object.assign(window, { isWhatWasAsked });
