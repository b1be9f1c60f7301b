export { type ProbeDeps, probeAuthority } from "./authority-probe.ts";
export { type ChainRow, chainColumns, chainMembers, type SealChain, sealChainOf, sealChainRow } from "./chains.ts";
export { configuredChain, describeIdentity, openSealIdentity, type SealIdentity } from "./identity.ts";
export { expectedFile } from "./refusals.ts";
export { retireCertificate, type SealCertificate, sealCertificates } from "./retirement.ts";
export { type RotatedSeal, rotateFileKey } from "./rotate.ts";
export type { SealDocument, Sealed, SealInput, TimeStamp } from "./sealer.ts";
export { openSealing, type Sealing } from "./sealing.ts";
export { type AnchorsOf, openTsaTrust } from "./tsa-trust.ts";
