import { execFileSync } from "node:child_process";
import { createHash, randomUUID, X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startHttpDouble } from "./http-double.ts";

type Key = {
  pem: string;
  /** The private key as PKCS#8. */
  keyDer: Buffer;
  mode?: "explicit" | "implicit" | "oauth2code";
  status?: "enabled" | "disabled";
};

type Said = { method: string; body: Record<string, unknown> };

export type CscDouble = {
  /** The value of REMOTE_SIGNING_URL. */
  url: string;
  token: string;
  pin: string;
  keys: Map<string, Key>;
  /** The authenticated requests, oldest first. */
  said: Said[];
  /** The double's answer to the next signature request. */
  next: "sign" | "another hash" | "two signatures" | "fail";
  close: () => Promise<void>;
};

const sha256Oid = "2.16.840.1.101.3.4.2.1";
const [rsaOid, ecdsaOid] = ["1.2.840.113549.1.1.11", "1.2.840.10045.4.3.2"];

/** A double of a trust service that signs hashes, by version 2 of the API of the Cloud Signature Consortium. */
export async function startCsc(): Promise<CscDouble> {
  /** Authorizations that were not used yet. Each authorizes one key to sign certain hashes. */
  const granted = new Map<string, { credentialID: unknown; hashes: unknown }>();
  const server = await startHttpDouble((request, bytes, response) => {
    const reply = (status: number, body: object) =>
      void response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
    const refuse = (error: string, error_description: string, status = 400) =>
      reply(status, { error, error_description });
    const [, method = ""] = /^\/csc\/v2\/(.+)$/.exec(request.url ?? "") ?? [];
    if (request.method !== "POST" || method === "") return refuse("invalid_request", "no such method", 404);
    if (request.headers.authorization !== `Bearer ${double.token}`)
      return refuse("invalid_token", "the access token is not valid", 401);
    const body = JSON.parse(bytes.toString()) as Record<string, unknown>;
    double.said.push({ method, body });
    if (method === "credentials/list") return reply(200, { credentialIDs: [...double.keys.keys()] });
    const key = double.keys.get(String(body["credentialID"]));
    if (!key) return refuse("invalid_request", "Invalid parameter credentialID");
    const { mode = "explicit", status = "enabled" } = key;
    const certificate = new X509Certificate(key.pem);
    const isRsa = certificate.publicKey.asymmetricKeyType === "rsa";
    if (method === "credentials/info")
      return reply(200, {
        key: { status, algo: [isRsa ? rsaOid : ecdsaOid], len: isRsa ? 2048 : 256 },
        cert: { status: "valid", certificates: [certificate.raw.toString("base64")] },
        auth: {
          mode,
          ...(mode === "explicit" && {
            expression: "PIN",
            objects: [{ type: "Password", id: "PIN", format: "N", label: "Your PIN" }],
          }),
        },
        SCAL: "2",
        multisign: 1,
      });
    const { credentialID, hashes, hashAlgorithmOID } = body;
    if (hashAlgorithmOID !== sha256Oid || !isOneHash(hashes))
      return refuse("invalid_request", "Missing or invalid hashes");
    if (method === "credentials/authorize") {
      const answers = (body["authData"] ?? []) as { id: string; value: string }[];
      const pin = answers.find(({ id }) => id === "PIN")?.value;
      if (body["numSignatures"] !== 1) return refuse("invalid_request", "Invalid parameter numSignatures");
      if (mode === "explicit" && pin !== double.pin) return refuse("invalid_pin", "The PIN is invalid");
      const SAD = randomUUID();
      granted.set(SAD, { credentialID, hashes });
      return reply(200, { SAD, expiresIn: 300 });
    }
    if (method !== "signatures/signHash") return refuse("invalid_request", "no such method", 404);
    const grant = granted.get(String(body["SAD"]));
    granted.delete(String(body["SAD"]));
    const isGranted = grant?.credentialID === credentialID && JSON.stringify(grant?.hashes) === JSON.stringify(hashes);
    if (mode !== "oauth2code" && !isGranted) return refuse("invalid_request", "Invalid parameter SAD");
    const order = double.next;
    double.next = "sign";
    if (order === "fail") return refuse("server_error", "ordered", 503);
    const hash = order === "another hash" ? createHash("sha256").update("another").digest() : decoded(hashes);
    const signature = signHash(key.keyDer, hash, isRsa);
    const signatures = [signature.toString("base64")];
    reply(200, { signatures: order === "two signatures" ? [...signatures, ...signatures] : signatures });
  });
  const double: CscDouble = {
    url: `${server.url}/csc/v2`,
    token: "token-of-the-act",
    pin: "2468",
    keys: new Map(),
    said: [],
    next: "sign",
    close: server.close,
  };
  return double;
}

const decoded = (hashes: unknown): Buffer => Buffer.from(String((hashes as string[])[0]), "base64");
const isOneHash = (hashes: unknown): boolean =>
  Array.isArray(hashes) && hashes.length === 1 && decoded(hashes).length === 32;

/** Node can't sign a hash that is already computed, so openssl does it. */
function signHash(keyDer: Buffer, hash: Buffer, isRsa: boolean): Buffer {
  const folder = mkdtempSync(join(tmpdir(), "csc-"));
  try {
    writeFileSync(join(folder, "key"), keyDer);
    writeFileSync(join(folder, "hash"), hash);
    const digest = isRsa ? ["-pkeyopt", "digest:sha256"] : [];
    const args = ["pkeyutl", "-sign", "-keyform", "DER", "-inkey", "key", "-in", "hash", ...digest];
    return execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
