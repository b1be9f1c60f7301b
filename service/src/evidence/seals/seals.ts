export {
  type Authority,
  issue,
  ownName,
  signingUses,
  validFor,
  validSince,
} from "./certificate/authority.ts";
export { sealChainPem } from "./certificate/certificate.ts";
export { type CertificateProblem, checkAuthorityCertificate } from "./certificate/check.ts";
export { writeCrl } from "./certificate/crl.ts";
export { type ChainFile, openChain } from "./certificate/file.ts";
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
  fingerprintOf,
  type Issuer,
  issuerOf,
  joinChain,
  leafOf,
  leftJoinRetiredChain,
  protectedTables,
  recordChain,
  recordedChains,
  type SealChain,
  sealChainOf,
  sealChainRow,
  selectChainPem,
  unretiredChains,
} from "./chains.ts";
export {
  assembleCms,
  maxCmsLength,
  signedAttributesOf,
  verifySignedAttributes,
} from "./cms/cms.ts";
export type { SignerChain } from "./cms/signed-data.ts";
export {
  configuredChain,
  configuredChains,
  describeIdentity,
  openSealIdentity,
  ownCertificateFiles,
  replaceChain,
  replacedChains,
  type SealIdentitySettings,
} from "./identity.ts";
export { fileKeyPath, keyFileText, keyInMemory } from "./keys/file-key.ts";
export { openSealKey } from "./keys/open-seal-key.ts";
export { asStartupError, probeSealKey, type SealKey } from "./keys/seal-key.ts";
export { type Draw, drawLengths, holdsDecoy } from "./pdf/decoys.ts";
export type { SealLock } from "./pdf/objects.ts";
export { completeSeal, hashTail } from "./pdf/seal-pdf.ts";
export { expectedFile } from "./refusals.ts";
export {
  retireCertificate,
  rotateFileKey,
  type SealCertificate,
  sealCertificates,
} from "./retirement.ts";
export { describeRoot, openRoot, ownPath, rootKeyPath, type SerialNumbers } from "./root.ts";
export type { SealDocument, Sealed, SealInput, Stamp, TimeStamp } from "./sealer.ts";
export { sealOwnDocument, usualTokenBytes } from "./sealer.ts";
export { openSealing, type Sealing } from "./sealing.ts";
export { authorityName, probeAuthority } from "./time-stamping.ts";
export type { SignerAnchor } from "./trust-list.ts";
export { type AnchorsOf, openTsaTrust, tsaRootCertificates, tsaRootsPem } from "./tsa-trust.ts";
