export { type ProbeDeps, probeAuthority } from "./authority-probe.ts";
export {
  type Authority,
  issue,
  makeRoot,
  ownName,
  signingUses,
  validFor,
  validSince,
} from "./certificate/authority.ts";
export { sealChainPem } from "./certificate/certificate.ts";
export { type CertificateProblem, checkAuthorityCertificate } from "./certificate/check.ts";
export { type RevokedCertificate, writeCrl } from "./certificate/crl.ts";
export { openChain } from "./certificate/file.ts";
export {
  commonNameOf,
  distributionPoint,
  extension,
  keyUsage,
  noMailAddresses,
  serialNumberOf,
} from "./certificate/write.ts";
export {
  type ChainPems,
  type ChainRow,
  chainColumns,
  chainMembers,
  fingerprintOf,
  knownChains,
  leafOf,
  type SealChain,
  sealChainOf,
  sealChainRow,
} from "./chains.ts";
export { type CmsSigner, createCmsSigner } from "./cms/cms.ts";
export type { SealPlace, SignerChain } from "./cms/signed-data.ts";
export {
  assembleCms,
  maxCmsLength,
  type SignedAttributes,
  signedAttributesOf,
  verifySignedAttributes,
} from "./cms/two-step.ts";
export {
  configuredChain,
  configuredChains,
  describeIdentity,
  openSealIdentity,
  replaceChain,
  replacedChains,
  type SealIdentity,
  type SealIdentitySettings,
} from "./identity.ts";
export { type Issuer, issuerOf } from "./issuer.ts";
export { fileKeyPath, keyInMemory } from "./keys/file-key.ts";
export { openSealKey } from "./keys/open-seal-key.ts";
export { asStartupError, probeSealKey, type SealKey } from "./keys/seal-key.ts";
export { ownCertificateFiles } from "./own-certificates.ts";
export { sealOwnDocument } from "./own-document.ts";
export { holdsDecoy } from "./pdf/decoys.ts";
export type { SealLock } from "./pdf/objects.ts";
export { completeSeal, hashTail, type PreparedSeal } from "./pdf/seal-pdf.ts";
export { expectedFile } from "./refusals.ts";
export { retireCertificate, type SealCertificate, sealCertificates } from "./retirement.ts";
export { describeRoot, openRoot, ownPath, type RootSettings, rootKeyPath, type SerialNumbers } from "./root.ts";
export { type RotatedSeal, rotateFileKey } from "./rotate.ts";
export type { SealDocument, Sealed, SealInput, Stamp, TimeStamp } from "./sealer.ts";
export { openSealing, type Sealing } from "./sealing.ts";
export { authorityName } from "./time-stamping.ts";
export type { SignerAnchor } from "./trust-list.ts";
export { type AnchorsOf, openTsaTrust, tsaRootCertificates, tsaRootsPem } from "./tsa-trust.ts";
