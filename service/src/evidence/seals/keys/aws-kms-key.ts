import { createPublicKey, hash, type KeyObject } from "node:crypto";
import type { KMSClient, SigningAlgorithmSpec } from "@aws-sdk/client-kms";
import { type SealAlgorithm, type SealKey, SealKeyError, type SealKeyErrorCode, sealAlgorithmOf } from "./seal-key.ts";

export type AwsCredentials = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
};

const signingAlgorithms: Record<SealAlgorithm, SigningAlgorithmSpec> = {
  "rsa-pkcs1-sha256": "RSASSA_PKCS1_V1_5_SHA_256",
  "ecdsa-p256-sha256": "ECDSA_SHA_256",
};

/**
 * A key in AWS KMS. Only a digest is sent: `Sign` with `MessageType: DIGEST`.
 * @param uri `awskms:///KEY?region=..&endpoint=..`; KEY is a key id, an ARN or `alias/NAME`
 * @throws {SealKeyError}
 */
export async function openAwsKmsKey(uri: string, credentials?: AwsCredentials): Promise<SealKey> {
  const { keyId, region, endpoint } = partsOf(uri);
  const { KMSClient, GetPublicKeyCommand, SignCommand } = await import("@aws-sdk/client-kms");
  const client: KMSClient = new KMSClient({
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(credentials === undefined ? {} : { credentials }),
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 2_000, requestTimeout: 5_000 },
  });
  try {
    const found = await client.send(new GetPublicKeyCommand({ KeyId: keyId })).catch(asSealKeyError);
    const publicKey = publicKeyOf(found.PublicKey);
    const algorithm = sealAlgorithmOf(publicKey, `KMS key ${keyId}`);
    const SigningAlgorithm = signingAlgorithms[algorithm];
    if (found.KeyUsage !== "SIGN_VERIFY" || found.SigningAlgorithms?.includes(SigningAlgorithm) !== true) {
      throw new SealKeyError("not-supported", `KMS key ${keyId} is not for signing with ${SigningAlgorithm}`);
    }
    // Signs by the key's id, because somebody may point an alias to another key at any time. The signing key must be
    // the one whose public key was read.
    const KeyId = found.KeyId ?? keyId;
    return {
      algorithm,
      publicKey: new Uint8Array(publicKey.export({ type: "spki", format: "der" })),
      sign: async (data) => {
        const Message = hash("sha256", data, "buffer");
        const command = new SignCommand({ KeyId, Message, MessageType: "DIGEST", SigningAlgorithm });
        const answer = await client.send(command).catch(asSealKeyError);
        if (answer.Signature === undefined) throw new SealKeyError("refused", "KMS answered without a signature");
        return answer.Signature;
      },
      close: async () => client.destroy(),
    };
  } catch (error) {
    client.destroy();
    throw error;
  }
}

function partsOf(uri: string) {
  const match = /^awskms:\/\/\/([^?#]+)(?:\?([^#]*))?$/.exec(uri);
  if (match === null) throw badUri("it is awskms:///KEY_ID?region=..&endpoint=..");
  const query = new URLSearchParams(match[2] ?? "");
  for (const name of query.keys()) {
    if (name !== "region" && name !== "endpoint") throw badUri(`awskms: knows region and endpoint, not ${name}`);
  }
  const endpoint = query.get("endpoint") ?? undefined;
  if (endpoint !== undefined && !/^https?:$/.test(URL.parse(endpoint)?.protocol ?? "")) {
    throw badUri("awskms: endpoint is an http or https URL");
  }
  return { keyId: decodeKeyId(match[1] ?? ""), region: query.get("region") ?? undefined, endpoint };
}

function decodeKeyId(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw badUri("awskms: the key id is not percent-encoded properly");
  }
}

const badUri = (message: string): SealKeyError => new SealKeyError("bad-uri", message);

function publicKeyOf(der: Uint8Array | undefined): KeyObject {
  try {
    return createPublicKey({ key: Buffer.from(der ?? []), format: "der", type: "spki" });
  } catch (cause) {
    throw new SealKeyError("unreadable", "KMS answered with a public key that can't be read", cause);
  }
}

const codes: Record<string, SealKeyErrorCode> = {
  NotFoundException: "not-found",
  AccessDeniedException: "locked",
  UnrecognizedClientException: "locked",
  InvalidSignatureException: "locked",
  ExpiredTokenException: "locked",
  CredentialsProviderError: "locked",
  DisabledException: "refused",
  KMSInvalidStateException: "refused",
  InvalidKeyUsageException: "refused",
  UnsupportedOperationException: "refused",
  ValidationException: "refused",
};

function asSealKeyError(cause: unknown): never {
  const name = cause instanceof Error ? cause.name : "Error";
  const message = cause instanceof Error ? cause.message : String(cause);
  throw new SealKeyError(codes[name] ?? "unreachable", `KMS: ${name}: ${message}`, cause);
}
