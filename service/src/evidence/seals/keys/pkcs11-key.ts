import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { ecdsaSigValue } from "./ecdsa-sig-value.ts";
import { findPrivateKey, readPublicKey } from "./pkcs11-objects.ts";
import { asSealKeyError, type Handle, openToken, returnCode, type Token } from "./pkcs11-token.ts";
import { type Pkcs11Uri, parsePkcs11Uri } from "./pkcs11-uri.ts";
import { type SealKey, SealKeyError, sealAlgorithmOf } from "./seal-key.ts";

/**
 * The most sessions of a module, and so the most signatures at once: a session performs one operation at a time.
 * Modules limit the number of sessions.
 */
const MAX_SESSIONS = 4;

/** The DigestInfo for SHA-256 without the digest itself (RFC 8017 section 9.2, note 1). */
const digestInfoSha256 = Buffer.from("3031300d060960864801650304020105000420", "hex");

type Session = { readonly handle: Handle; readonly key: Handle };

/**
 * A key behind PKCS#11. The digest is computed in this process. The module signs it raw (CKM_ECDSA, or CKM_RSA_PKCS
 * over DigestInfo), because modules differ in which other mechanisms they support. Sessions that a module drops are
 * replaced silently.
 * @param uri RFC 7512; see `parsePkcs11Uri`
 * @throws {SealKeyError}
 */
export async function openPkcs11Key(uri: string): Promise<SealKey> {
  const wanted = parsePkcs11Uri(uri);
  const pin = await pinOf(wanted);
  const token = await openToken(wanted);
  const { library, module } = token;

  const openSession = (): Session => {
    const handle = module.C_OpenSession(token.slot, library.CKF_SERIAL_SESSION);
    try {
      logIn(token, handle, pin);
      return { handle, key: findPrivateKey(token, handle, wanted) };
    } catch (cause) {
      module.C_CloseSession(handle);
      throw cause;
    }
  };

  try {
    const first = openSession();
    const publicKey = readPublicKey(token, first.handle, first.key);
    const algorithm = sealAlgorithmOf(publicKey, `pkcs11: ${token.name}`);
    const isRsa = algorithm === "rsa-pkcs1-sha256";
    const mechanism = { mechanism: isRsa ? library.CKM_RSA_PKCS : library.CKM_ECDSA };
    const signatureLength = isRsa ? Math.ceil((publicKey.asymmetricKeyDetails?.modulusLength ?? 0) / 8) : 64;
    const sessions = sessionPool(openSession, first);

    const signRaw = async (input: Buffer): Promise<Buffer> => {
      for (let attempt = 1; ; attempt++) {
        const session = await sessions.take();
        try {
          module.C_SignInit(session.handle, mechanism, session.key);
          const signature = await module.C_SignAsync(session.handle, input, Buffer.alloc(signatureLength));
          sessions.giveBack(session);
          return signature;
        } catch (cause) {
          sessions.drop();
          closeQuietly(token, session.handle);
          if (attempt > MAX_SESSIONS || !isLostSession(token, cause)) throw cause;
        }
      }
    };

    return {
      algorithm,
      publicKey: new Uint8Array(publicKey.export({ type: "spki", format: "der" })),
      sign: async (data) => {
        const digest = hash("sha256", data, "buffer");
        try {
          return isRsa
            ? await signRaw(Buffer.concat([digestInfoSha256, digest]))
            : ecdsaSigValue(await signRaw(digest));
        } catch (cause) {
          throw asSealKeyError(cause);
        }
      },
      close: async () => {
        for (const session of sessions.idle()) closeQuietly(token, session.handle);
        token.close();
      },
    };
  } catch (cause) {
    token.close();
    throw asSealKeyError(cause);
  }
}

async function pinOf(uri: Pkcs11Uri): Promise<string | undefined> {
  if (uri.pinSource === undefined) return uri.pinValue;
  try {
    const path = uri.pinSource.startsWith("file:") ? fileURLToPath(uri.pinSource) : uri.pinSource;
    return (await readFile(path, "utf8")).replace(/\r?\n$/, "");
  } catch (cause) {
    throw new SealKeyError("locked", "pkcs11: the file of pin-source can't be read", cause);
  }
}

function logIn(token: Token, session: Handle, pin: string | undefined): void {
  if (pin === undefined) return;
  try {
    token.module.C_Login(session, token.library.CKU_USER, pin);
  } catch (cause) {
    if (returnCode(cause) !== token.library.CKR_USER_ALREADY_LOGGED_IN) throw cause;
  }
}

const isLostSession = ({ library }: Token, cause: unknown): boolean =>
  [
    library.CKR_SESSION_HANDLE_INVALID,
    library.CKR_SESSION_CLOSED,
    library.CKR_USER_NOT_LOGGED_IN,
    library.CKR_OBJECT_HANDLE_INVALID,
    library.CKR_KEY_HANDLE_INVALID,
    library.CKR_DEVICE_REMOVED,
  ].includes(returnCode(cause) ?? -1);

function closeQuietly(token: Token, session: Handle): void {
  try {
    token.module.C_CloseSession(session);
  } catch {
    // Ignores the error: the module has already closed the session.
  }
}

/** Sessions for signing, opened on demand. A caller waits while all of them are in use. */
function sessionPool(open: () => Session, first: Session) {
  const free = [first];
  const waiting: (() => void)[] = [];
  let count = 1;
  return {
    take: async (): Promise<Session> => {
      for (;;) {
        const session = free.pop();
        if (session !== undefined) return session;
        if (count < MAX_SESSIONS) {
          count++;
          try {
            return open();
          } catch (cause) {
            count--;
            waiting.shift()?.();
            throw cause;
          }
        }
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
    giveBack: (session: Session): void => {
      free.push(session);
      waiting.shift()?.();
    },
    drop: (): void => {
      count--;
      waiting.shift()?.();
    },
    idle: (): readonly Session[] => free,
  };
}
