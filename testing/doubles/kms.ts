import { execFileSync } from "node:child_process";
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startHttpDouble } from "./http-double.ts";

/** Faulty answers of AWS KMS: an error by its name, a wrong signature, or a connection that is cut. */
export type KmsFailure =
  | { readonly error: string; readonly status?: number }
  | { readonly wrongSignature: true }
  | { readonly hangUp: true };

/** A double of AWS KMS: JSON 1.1 over HTTP, `TrentService.GetPublicKey` and `TrentService.Sign`. */
export type KmsDouble = {
  readonly url: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** Creates a key. Requests name it by its id, by its ARN, or by `alias` (`alias/NAME`). */
  readonly addKey: (kind: KmsKeyKind, alias?: string) => KmsDoubleKey;
  /** Makes the next requests fail in these ways, one each. */
  readonly failNext: (...failures: KmsFailure[]) => void;
  /** The header `X-Amz-Target` of each request, in order. */
  readonly requests: readonly string[];
  readonly close: () => Promise<void>;
};

export type KmsDoubleKey = { readonly keyId: string; readonly publicKey: KeyObject };

export type KmsKeyKind = "RSA_3072" | "ECC_NIST_P256" | "ECC_NIST_P384" | "ENCRYPTING_RSA_3072";

type KmsKey = { keyId: string; kind: KmsKeyKind; publicKey: KeyObject; file: string; algorithms: string[] };

const algorithmsOf: Record<KmsKeyKind, string[]> = {
  RSA_3072: ["RSASSA_PKCS1_V1_5_SHA_256", "RSASSA_PKCS1_V1_5_SHA_384", "RSASSA_PSS_SHA_256"],
  ECC_NIST_P256: ["ECDSA_SHA_256"],
  ECC_NIST_P384: ["ECDSA_SHA_384"],
  ENCRYPTING_RSA_3072: [],
};

/**
 * Starts the double. Needs `openssl` in PATH, because Node's own crypto can't sign a digest that was computed
 * elsewhere.
 */
export async function startKms(): Promise<KmsDouble> {
  const folder = mkdtempSync(join(tmpdir(), "kms-"));
  const credentials = { accessKeyId: "AKIADOUBLE", secretAccessKey: "double-secret" };
  const keys = new Map<string, KmsKey>();
  const failures: KmsFailure[] = [];
  const requests: string[] = [];

  const server = await startHttpDouble((request, body, response) => {
    const target = String(request.headers["x-amz-target"]);
    requests.push(target);
    const answer = (status: number, value: object) => {
      response.writeHead(status, { "content-type": "application/x-amz-json-1.1" });
      response.end(JSON.stringify(value));
    };
    const refuse = (name: string, status = 400) => answer(status, { __type: name, message: `${name} to order` });
    const failure = failures.shift();
    if (failure !== undefined && "hangUp" in failure) return void request.socket.destroy();
    if (failure !== undefined && "error" in failure) return refuse(failure.error, failure.status);
    if (!isSigned(request, credentials.accessKeyId)) return refuse("UnrecognizedClientException");
    const input = JSON.parse(body.toString("utf8")) as Record<string, string>;
    const key = keys.get(input.KeyId ?? "");
    if (key === undefined) return refuse("NotFoundException");
    const common = { KeyId: `arn:aws:kms:eu-west-1:111122223333:key/${key.keyId}` };
    if (target === "TrentService.GetPublicKey") {
      return answer(200, {
        ...common,
        KeySpec: key.kind.replace("ENCRYPTING_", ""),
        KeyUsage: key.algorithms.length > 0 ? "SIGN_VERIFY" : "ENCRYPT_DECRYPT",
        PublicKey: key.publicKey.export({ type: "spki", format: "der" }).toString("base64"),
        ...(key.algorithms.length > 0 ? { SigningAlgorithms: key.algorithms } : {}),
      });
    }
    if (target !== "TrentService.Sign") return refuse("UnknownOperationException");
    const algorithm = input.SigningAlgorithm ?? "";
    const digest = Buffer.from(input.Message ?? "", "base64");
    if (!key.algorithms.includes(algorithm)) return refuse("InvalidKeyUsageException");
    if (input.MessageType !== "DIGEST" || digest.length !== 32) return refuse("ValidationException");
    if (failure !== undefined) digest.reverse();
    return answer(200, {
      ...common,
      Signature: signDigest(key, digest).toString("base64"),
      SigningAlgorithm: algorithm,
    });
  });

  return {
    url: server.url,
    credentials,
    requests,
    addKey: (kind, alias) => {
      const { privateKey, publicKey } = kind.includes("RSA")
        ? generateKeyPairSync("rsa", { modulusLength: 3072 })
        : generateKeyPairSync("ec", { namedCurve: kind === "ECC_NIST_P256" ? "P-256" : "P-384" });
      const keyId = `00000000-0000-4000-8000-${String(keys.size).padStart(12, "0")}`;
      const file = join(folder, `${keyId}.pem`);
      writeFileSync(file, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
      const key = { keyId, kind, publicKey, file, algorithms: algorithmsOf[kind] };
      for (const name of [keyId, `arn:aws:kms:eu-west-1:111122223333:key/${keyId}`, alias]) {
        if (name !== undefined) keys.set(name, key);
      }
      return { keyId, publicKey };
    },
    failNext: (...next) => void failures.push(...next),
    close: async () => {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function signDigest(key: KmsKey, digest: Buffer): Buffer {
  const args = ["pkeyutl", "-sign", "-inkey", key.file, "-pkeyopt", "digest:sha256"];
  return execFileSync("openssl", args, { input: digest, stdio: ["pipe", "pipe", "pipe"] });
}

function isSigned(request: IncomingMessage, accessKeyId: string): boolean {
  const authorization = request.headers.authorization ?? "";
  const scope = new RegExp(`^AWS4-HMAC-SHA256 Credential=${accessKeyId}/\\d{8}/[a-z0-9-]+/kms/aws4_request, `);
  return scope.test(authorization) && /Signature=[0-9a-f]{64}$/.test(authorization);
}
