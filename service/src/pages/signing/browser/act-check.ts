import { isWhatWasAsked } from "./check-act.ts";

// A separate script, loaded while the signer reads: it checks PDFs, and is larger than all other code of the page.
Object.assign(window, { isWhatWasAsked });
