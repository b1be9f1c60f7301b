// Checks that every shipped package has an allowed license, from the lock file alone: npm run check
import { readFileSync } from "node:fs";
import { refusedLicenses } from "./licenses.ts";

const { packages } = JSON.parse(readFileSync(new URL("../../package-lock.json", import.meta.url), "utf8"));
const refused = refusedLicenses(packages);
for (const line of refused) console.error(`its license does not allow shipping: ${line}`);
if (refused.length > 0) process.exitCode = 1;
