import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../../node_modules/.cache/python", import.meta.url));

/** The virtual environment of the tests' Python libraries; tools/install-tools.ts makes it. */
export const pythonEnvironment = folder;

/** The Python program that finds the libraries listed in tools.ts. */
export const python = `${folder}/bin/python`;

/** A file that lists the installed requirements, one on each line. */
export const requirementsFile = `${folder}/installed.txt`;

/** The wheels of all installed requirements, for environments that tests create offline. */
export const wheelsFolder = `${folder}/wheels`;
