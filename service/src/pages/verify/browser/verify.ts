import { startPage } from "./page.ts";
import { startWorker } from "./worker.ts";

// One script for both roles: the page starts its worker from its own text.
if (typeof document === "undefined") startWorker();
else startPage();
