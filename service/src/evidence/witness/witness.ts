export { openWitness, type WitnessStatus, witnessStatus } from "./identity.ts";
export { witnessRoutes } from "./routes.ts";
export { endWitnessing, protectedTables } from "./store.ts";
