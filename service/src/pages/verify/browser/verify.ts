import { startPage } from "./page.ts";
import { startWorker } from "./worker.ts";

// One script has both roles: the page also loads this script in a worker, where `document` doesn't exist.
if (typeof document === "undefined") startWorker();
else startPage();
