export { type ProbeDeps, probeAuthority } from "./authority-probe.ts";
export { type ChainRow, chainMembers, type SealChain, sealCertificates, sealChainOf, sealChainRow } from "./chains.ts";
export { describeIdentity, openSealIdentity, type SealIdentity } from "./identity.ts";
export { expectedFile } from "./refusals.ts";
export type { SealDocument, Sealed, SealInput, TimeStamp } from "./sealer.ts";
export { openSealing, type Sealing } from "./sealing.ts";
export { type AnchorsOf, openTsaTrust } from "./tsa-trust.ts";
