export { type ProbeDeps, probeAuthority } from "./authority-probe.ts";
export { describeIdentity, openSealIdentity, type SealIdentity } from "./identity.ts";
export { expectedFile } from "./refusals.ts";
export type { SealDocument, Sealed, SealInput } from "./sealer.ts";
export { openSealing, type Sealing } from "./sealing.ts";
