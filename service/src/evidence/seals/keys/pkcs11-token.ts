import type * as Pkcs11 from "pkcs11js";
import type { Pkcs11Uri } from "./pkcs11-uri.ts";
import { SealKeyError, type SealKeyErrorCode } from "./seal-key.ts";

type Library = typeof Pkcs11;
type Module = Pkcs11.PKCS11;
export type Handle = Pkcs11.Handle;

const CKF_TOKEN_INITIALIZED = 0x400;

/** A loaded module, and the slot with the token that the URI describes. */
export type Token = {
  readonly library: Library;
  readonly module: Module;
  readonly slot: Handle;
  readonly name: string;
  /** Unloads the module. */
  readonly close: () => void;
};

/**
 * Loads the module and finds the one token that the URI describes.
 * @throws {SealKeyError} `not-supported` without the optional package, `unreachable` when the module can't be loaded,
 * `not-found` when no token matches, `bad-uri` when several do
 */
export async function openToken(uri: Pkcs11Uri): Promise<Token> {
  const library = await loadLibrary();
  const module = new library.PKCS11();
  let started = false;
  const close = () => {
    if (started) module.C_Finalize();
    module.close();
  };
  try {
    module.load(uri.modulePath);
    started = initialize(library, module);
    const slots = module.C_GetSlotList(true).filter((slot) => matches(module, slot, uri));
    const [slot, another] = slots;
    if (slot === undefined) throw new SealKeyError("not-found", `pkcs11: no token is ${described(uri)}`);
    if (another !== undefined) {
      throw new SealKeyError("bad-uri", `pkcs11: ${slots.length} tokens match; name one by token or serial`);
    }
    return { library, module, slot, name: module.C_GetTokenInfo(slot).label.trim(), close };
  } catch (cause) {
    close();
    throw asSealKeyError(cause);
  }
}

async function loadLibrary(): Promise<Library> {
  try {
    // The package is CommonJS, and most of its names are only on the default export.
    return (await import("pkcs11js")).default;
  } catch (cause) {
    throw new SealKeyError("not-supported", "pkcs11: needs the optional package pkcs11js", cause);
  }
}

/**
 * Initializes the module.
 * @returns true if this call initialized it; false if other code in this process had initialized it before
 */
function initialize(library: Library, module: Module): boolean {
  try {
    module.C_Initialize({ flags: library.CKF_OS_LOCKING_OK });
    return true;
  } catch (cause) {
    if (returnCode(cause) === library.CKR_CRYPTOKI_ALREADY_INITIALIZED) return false;
    throw cause;
  }
}

function matches(module: Module, slot: Handle, uri: Pkcs11Uri): boolean {
  const info = module.C_GetTokenInfo(slot);
  // Skips a token that is not initialized, because some modules always list an extra slot with one.
  if ((info.flags & CKF_TOKEN_INITIALIZED) === 0) return false;
  const same = (wanted: string | undefined, found: string) => wanted === undefined || wanted === found.trim();
  return (
    same(uri.token, info.label) &&
    same(uri.serial, info.serialNumber) &&
    same(uri.manufacturer, info.manufacturerID) &&
    same(uri.model, info.model) &&
    (uri.slotId === undefined || uri.slotId === slotNumber(slot))
  );
}

/** The handle is a CK_SLOT_ID in the machine's word size. */
const slotNumber = (slot: Handle): number => (slot.length >= 8 ? Number(slot.readBigUInt64LE()) : slot.readUInt32LE());

const described = (uri: Pkcs11Uri): string =>
  [uri.token, uri.serial, uri.manufacturer, uri.model, uri.slotId].filter((part) => part !== undefined).join(", ") ||
  "present";

/** The CKR_ code of a failed call; undefined for other errors. */
export const returnCode = (cause: unknown): number | undefined =>
  cause instanceof Error && "code" in cause && typeof cause.code === "number" ? cause.code : undefined;

const codes: Record<string, SealKeyErrorCode> = {
  CKR_PIN_INCORRECT: "locked",
  CKR_PIN_INVALID: "locked",
  CKR_PIN_LEN_RANGE: "locked",
  CKR_PIN_LOCKED: "locked",
  CKR_PIN_EXPIRED: "locked",
  CKR_USER_NOT_LOGGED_IN: "locked",
  CKR_USER_PIN_NOT_INITIALIZED: "locked",
  CKR_KEY_FUNCTION_NOT_PERMITTED: "refused",
  CKR_KEY_TYPE_INCONSISTENT: "refused",
  CKR_MECHANISM_INVALID: "refused",
};

/** Converts a failure of the module to a SealKeyError. */
export function asSealKeyError(cause: unknown): SealKeyError {
  if (cause instanceof SealKeyError) return cause;
  const message = cause instanceof Error ? cause.message : String(cause);
  return new SealKeyError(codes[message] ?? "unreachable", `pkcs11: ${message}`, cause);
}
