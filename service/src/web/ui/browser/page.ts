import { startLocalTimes } from "./local-times.ts";
import { startPrinting } from "./printing.ts";
import { startSideNav } from "./side-nav.ts";

// On every page, and before it is shown.
startLocalTimes();
startPrinting();
startSideNav();
