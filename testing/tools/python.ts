import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../../node_modules/.cache/python", import.meta.url));

/** The virtual environment of the tests' Python libraries; tools/install-tools.ts makes it. */
export const pythonEnvironment = folder;

/** The Python that finds the libraries of tools.ts. */
export const python = `${folder}/bin/python`;

/** A line for each requirement that is installed there. */
export const requirementsFile = `${folder}/installed.txt`;

/** The wheels of all that was installed there, for environments that tests make without a network. */
export const wheelsFolder = `${folder}/wheels`;
