export type { ByOperator, KeyDeps } from "./audit.ts";
export {
  type Branding,
  type BrandingChange,
  type FirmBranding,
  findLogo,
  firmLogo,
  logoPath,
  readBranding,
  readMailFirm,
  readShownFirm,
  type ShownFirm,
  setBranding,
  setLogo,
  shownBranding,
} from "./branding.ts";
export {
  alteredFirm,
  firmNameOf,
  firmState,
  fromFirms,
  joinFirm,
  leftJoinFirm,
  type MarkedFirm,
  markedFirm,
  markedFirmOf,
  protectedTables,
  verifiedFirm,
  withFirmNames,
} from "./firm-mac.ts";
export {
  addTrialPartner,
  createDemoPartner,
  createPartner,
  enableLive,
  listPartners,
  type Partner,
  requirePartner,
  servicePauseOf,
  setPartner,
  setPasskeyForLive,
  setServicePause,
} from "./firms.ts";

export { addKey, type IssuedKey, keyExpiry, keyName, keyOverlap, keyScopes, overlapHours } from "./keys/issue.ts";
export { issueKey, type KeyOptions, listKeys, lockFirmOfKey, revokeKey, rotateKey } from "./keys/keys.ts";
export { type LastUse, trackLastUse } from "./keys/last-use.ts";
export { keyForMeResolver, keyResolver, type OpenRooms } from "./keys/resolve.ts";
export { type RotatedKey, rotateUnderLock } from "./keys/rotate.ts";
export {
  countActiveKeys,
  countCreatedKeys,
  fromKeys,
  isKeyActive,
  type KeyMetadata,
  type KeyRow,
  keysInForce,
  lockFirm,
  revokedKeys,
  selectKey,
} from "./keys/store.ts";
export {
  type FirstTimes,
  firstIn,
  firstOfBoth,
  ofFirmIn,
  openLaunchpad,
  type ReadLaunchpad,
} from "./launchpad/launchpad.ts";
export { launchpadRoutes } from "./launchpad/routes.ts";
export { partnerRoutes } from "./routes.ts";
export {
  createStorageQuota,
  type RequireStorage,
  type StorageUse,
  type StoredBlobs,
  storageUse,
} from "./storage-quota.ts";
export { partnerExists } from "./store.ts";
export {
  hostLimitsOf,
  type KeyLimits,
  keyLimitsOf,
  readTierLimits,
  readTrialsPerDomain,
  storedBytesOf,
  type TierLimits,
  unlimitedHosts,
  waitingUploadsOf,
} from "./tier-limits.ts";
export { openRoomQuota, type Tier, tierOf, tiers } from "./tiers.ts";
