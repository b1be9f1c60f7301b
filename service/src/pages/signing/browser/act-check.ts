import { isWhatWasAsked } from "./check-act.ts";

// This script verifies a prepared signature in the document's PDF. It is separate and loads while the signer reads,
// because it is larger than the page's other scripts.
Object.assign(window, { isWhatWasAsked });
