import { startLocalTimes } from "./local-times.ts";
import { startPrinting } from "./printing.ts";

// On every page, and before it is shown.
startLocalTimes();
startPrinting();
