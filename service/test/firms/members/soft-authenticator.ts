import { createHash, createSign, generateKeyPairSync, randomBytes } from "node:crypto";

/** Values that a browser and an authenticator state about themselves. A test may falsify them. */
type Lie = {
  origin?: string;
  rpId?: string;
  type?: string;
  isUserVerified?: boolean;
  counter?: number;
  userHandle?: string;
  isBackupEligible?: boolean;
  format?: string;
  statement?: Buffer;
};

const sha256 = (bytes: string | Buffer) => createHash("sha256").update(bytes).digest();

// The parts of CBOR (RFC 8949) that passkeys need.
const head = (major: number, n: number): Buffer =>
  n < 24
    ? Buffer.from([(major << 5) | n])
    : n < 256
      ? Buffer.from([(major << 5) | 24, n])
      : Buffer.from([(major << 5) | 25, n >> 8, n & 255]);
const int = (n: number): Buffer => (n < 0 ? head(1, -1 - n) : head(0, n));
const bytes = (value: Buffer): Buffer => Buffer.concat([head(2, value.length), value]);
const text = (value: string): Buffer => Buffer.concat([head(3, value.length), Buffer.from(value)]);
const map = (entries: readonly (readonly [Buffer, Buffer])[]): Buffer =>
  Buffer.concat([head(5, entries.length), ...entries.flat()]);
/** The attestation statement `{x5c: [certificate]}` in CBOR. */
export const certificates = (certificate: Buffer): Buffer =>
  map([[text("x5c"), Buffer.concat([head(4, 1), bytes(certificate)])]]);

/** A browser with a software authenticator that has one passkey (ES256) and counts its signatures. */
export function newAuthenticator(origin: string) {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { x = "", y = "" } = publicKey.export({ format: "jwk" });
  const credentialId = randomBytes(32);
  const id = credentialId.toString("base64url");
  const cose = map([
    [int(1), int(2)],
    [int(3), int(-7)],
    [int(-1), int(1)],
    [int(-2), bytes(Buffer.from(x, "base64url"))],
    [int(-3), bytes(Buffer.from(y, "base64url"))],
  ]);
  let counter = 0;

  const clientData = (type: string, challenge: string, lie: Lie) =>
    Buffer.from(
      JSON.stringify({ type: lie.type ?? type, challenge, origin: lie.origin ?? origin, crossOrigin: false }),
    );
  function authenticatorData(lie: Lie, attested?: Buffer): Buffer {
    const flags =
      0x01 | (lie.isUserVerified === false ? 0 : 0x04) | (lie.isBackupEligible ? 0x08 : 0) | (attested ? 0x40 : 0);
    const count = Buffer.alloc(4);
    count.writeUInt32BE(lie.counter ?? ++counter);
    const rpIdHash = sha256(lie.rpId ?? new URL(origin).hostname);
    return Buffer.concat([rpIdHash, Buffer.from([flags]), count, ...(attested ? [attested] : [])]);
  }
  const answer = (response: object) =>
    JSON.stringify({ id, rawId: id, type: "public-key", clientExtensionResults: {}, response });

  return {
    /** The response to the options for creating a passkey, as the browser's script sends it. */
    add({ challenge }: { challenge: string }, lie: Lie = {}): string {
      const length = Buffer.from([0, credentialId.length]);
      const data = authenticatorData(lie, Buffer.concat([Buffer.alloc(16), length, credentialId, cose]));
      const attestation = map([
        [text("fmt"), text(lie.format ?? "none")],
        [text("attStmt"), lie.statement ?? map([])],
        [text("authData"), bytes(data)],
      ]);
      return answer({
        clientDataJSON: clientData("webauthn.create", challenge, lie).toString("base64url"),
        attestationObject: attestation.toString("base64url"),
        transports: ["internal", "odd"],
      });
    },
    /** The response to the options for using the passkey. */
    show({ challenge }: { challenge: string }, lie: Lie = {}): string {
      const client = clientData("webauthn.get", challenge, lie);
      const data = authenticatorData(lie);
      const signature = createSign("sha256")
        .update(Buffer.concat([data, sha256(client)]))
        .sign(privateKey);
      return answer({
        clientDataJSON: client.toString("base64url"),
        authenticatorData: data.toString("base64url"),
        signature: signature.toString("base64url"),
        ...(lie.userHandle !== undefined && { userHandle: lie.userHandle }),
      });
    },
  };
}

export type SoftAuthenticator = ReturnType<typeof newAuthenticator>;
