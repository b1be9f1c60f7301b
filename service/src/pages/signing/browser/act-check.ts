import { isWhatWasAsked } from "./check-act.ts";

// A separate script, loaded while the signer reads. It verifies PDFs, and is larger than all other scripts of the page.
Object.assign(window, { isWhatWasAsked });
