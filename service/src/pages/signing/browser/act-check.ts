import { isWhatWasAsked } from "./check-act.ts";

// A separate script that is loaded while the signer reads. It checks PDFs, and is larger than all other scripts of the
// page.
Object.assign(window, { isWhatWasAsked });
