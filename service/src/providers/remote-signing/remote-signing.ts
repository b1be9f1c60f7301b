/**
 * Signatures with a key that a trust service stores for a person, through the API of the Cloud Signature Consortium,
 * version 2.
 */
import { type Fetch, requestBounded } from "../../kernel/platform/bounds/bounded-request.ts";
import { invalid, ServiceError } from "../../kernel/platform/errors.ts";
import { type Members, membersIn } from "../../kernel/platform/json.ts";

/** A secret that the trust service requires from the person before each signature, such as a PIN or a one-time code. */
export type AuthorizationObject = { id: string; label: string };

/** A key that can sign at present. */
type RemoteCredential = {
  id: string;
  /** The chain in DER; the key's own certificate comes first. */
  certificates: Uint8Array[];
  /**
   * `explicit`: the request contains the person's answers. `implicit`: the trust service asks the person itself,
   * through its app. `oauth2code`: the token already authorizes this one signature.
   */
  authorization: "explicit" | "implicit" | "oauth2code";
  asks: AuthorizationObject[];
  algorithm: { signAlgo: string; hashAlgorithmOID: string };
};

export type RemoteSigning = {
  /**
   * The ids of the valid keys that belong to the person of this access token, at most `maxCredentials`.
   * @throws ServiceError
   */
  list: (token: string) => Promise<string[]>;
  /** Describes a key. @throws ServiceError `validation` for an unusable key or a refused request; `unavailable` */
  credential: (token: string, id: string) => Promise<RemoteCredential>;
  /**
   * Signs one hash. The authorization that this call obtains is valid for no other hash.
   * @throws ServiceError
   */
  sign: (token: string, credential: RemoteCredential, order: SignOrder) => Promise<Uint8Array>;
};

type SignOrder = {
  /** The SHA-256 to sign. An authorization that this service requests is bound to it. */
  hash: Uint8Array;
  /** The person's answers, by the ids of `asks`. */
  answers: ReadonlyMap<string, string>;
  /** The description that the trust service's own app shows. */
  description: string;
};

const sha256Oid = "2.16.840.1.101.3.4.2.1";
/** OIDs of RSA and ECDSA signatures with SHA-256, and of the key types RSA and EC, which name no hash algorithm. */
const algorithms: readonly string[] = [
  "1.2.840.113549.1.1.11",
  "1.2.840.10045.4.3.2",
  "1.2.840.113549.1.1.1",
  "1.2.840.10045.2.1",
];
const bounds = { timeoutMs: 15_000, maxBytes: 256 * 1024 };
/** A long time-out, because the person may have to fetch a phone first. */
const askingMs = 90_000;
const maxCredentials = 20;

const nothingSigned = "Nothing was signed; try again.";
/** The end of error messages for a failure after the request to sign was sent. */
const maybeSigned =
  "It may have signed, and your account there may show it. The document here is not signed: open your key again, and sign.";

const away = (why: string, end = nothingSigned) =>
  new ServiceError("unavailable", `The trust service can’t be used now: ${why}. ${end}`);
const other = (what: string, end = nothingSigned) => away(`its answer has no usable ${what}`, end);

/**
 * Creates the client of a trust service.
 * @param url includes the version, such as `https://sign.example/csc/v2`
 */
export function createRemoteSigning(fetch: Fetch, url: string): RemoteSigning {
  async function ask(
    token: string,
    method: string,
    body: object,
    { timeoutMs = bounds.timeoutMs, end = nothingSigned } = {},
  ): Promise<Members> {
    if (!/^[\x21-\x7e]{1,4096}$/.test(token))
      throw invalid("token must be the access token of your trust service: printable characters without spaces.");
    const headers = {
      Authorization: `Bearer ${token}`,
      "Content-Type": "application/json",
      Accept: "application/json",
    };
    const init = { method: "POST", headers, body: JSON.stringify(body) };
    const answer = await requestBounded(fetch, `${url}/${method}`, init, { ...bounds, timeoutMs });
    if (!answer.ok) throw away(answer.why, answer.isUnsent ? nothingSigned : end);
    const members = parsed(answer.body);
    if (answer.status === 200 && members) return members;
    throw refusalOf(answer.status, members, end);
  }

  return {
    async list(token) {
      const { credentialIDs } = await ask(token, "credentials/list", { onlyValid: true, maxResults: maxCredentials });
      if (!Array.isArray(credentialIDs)) throw other("list of keys");
      return credentialIDs.filter(isId).slice(0, maxCredentials);
    },
    async credential(token, id) {
      if (!isId(id)) throw invalid("credential must be the id of one of your keys at the trust service.");
      const wanted = { credentialID: id, certificates: "chain", certInfo: true, authInfo: true };
      return readCredential(id, await ask(token, "credentials/info", wanted));
    },
    async sign(token, { id, authorization, asks, algorithm }, { hash, answers, description }) {
      const hashes = [Buffer.from(hash).toString("base64")];
      const about = { credentialID: id, hashes, hashAlgorithmOID: sha256Oid };
      const credentials = asks.map(({ id: object, label }) => {
        const value = answers.get(object) ?? "";
        if (value === "") throw invalid(`${label} is required by your trust service.`);
        return { id: object, value };
      });
      let SAD: unknown;
      if (authorization !== "oauth2code") {
        const authData = credentials.length > 0 && { authData: credentials };
        ({ SAD } = await ask(
          token,
          "credentials/authorize",
          { ...about, numSignatures: 1, description, ...authData },
          { timeoutMs: askingMs },
        ));
        if (typeof SAD !== "string" || SAD === "") throw other("authorization");
      }
      const order = { ...about, ...algorithm, operationMode: "S", ...(SAD !== undefined && { SAD }) };
      const { signatures } = await ask(token, "signatures/signHash", order, { end: maybeSigned });
      const signature = Array.isArray(signatures) && signatures.length === 1 ? base64In(signatures[0]) : null;
      if (!signature) throw other("signature", maybeSigned);
      return signature;
    },
  };
}

function parsed(body: Uint8Array): Members | null {
  try {
    return membersIn(JSON.parse(Buffer.from(body).toString()));
  } catch {
    return null;
  }
}

/**
 * The error for a failed request. It may quote the trust service's message, because only the notary sees the error.
 * Control characters and symbols are removed from the message.
 */
function refusalOf(status: number, members: Members | null, end: string): ServiceError {
  const reasons = [members?.["error"], members?.["error_description"]]
    .filter((each) => typeof each === "string")
    .join(": ");
  const words = reasons.replaceAll(/[^\p{L}\p{N}\p{P}\p{Zs}]/gu, "").slice(0, 200);
  if (status === 401 || status === 403)
    return invalid(
      `The trust service does not accept this access token. Get a new one.${words && ` It says: ${words}`}`,
    );
  if (status >= 400 && status < 500)
    return invalid(`The trust service refused: ${words || `status ${status}`}. Nothing was signed.`);
  return away(`it answered ${status}`, end);
}

const isId = (value: unknown): value is string => typeof value === "string" && /^[\x21-\x7e]{1,200}$/.test(value);

function base64In(value: unknown): Uint8Array | null {
  if (typeof value !== "string" || value === "" || !/^[A-Za-z0-9+/]+={0,2}$/.test(value)) return null;
  return new Uint8Array(Buffer.from(value, "base64"));
}

function readCredential(id: string, info: Members): RemoteCredential {
  const [key, cert, auth] = [membersIn(info["key"]), membersIn(info["cert"]), membersIn(info["auth"])];
  if (key["status"] !== "enabled") throw invalid(`The key ${id} is not enabled at the trust service.`);
  if (cert["status"] !== undefined && cert["status"] !== "valid")
    throw invalid(
      `The certificate of the key ${id} is not valid at the trust service: ${String(cert["status"]).slice(0, 40)}.`,
    );
  const listed = Array.isArray(cert["certificates"]) ? cert["certificates"].map(base64In) : [];
  const certificates = listed.filter((each) => each !== null);
  if (certificates.length === 0 || certificates.length !== listed.length) throw other("certificate");
  const algos = Array.isArray(key["algo"]) ? key["algo"] : [];
  const signAlgo = algorithms.find((each) => algos.includes(each));
  if (signAlgo === undefined) throw invalid(`The key ${id} signs neither with RSA nor with ECDSA over SHA-256.`);
  const mode = auth["mode"];
  if (mode !== "explicit" && mode !== "implicit" && mode !== "oauth2code")
    throw invalid(`The key ${id} is authorized in a way that is not known here.`);
  const asks = mode === "explicit" ? asksIn(auth["objects"]) : [];
  return { id, certificates, authorization: mode, asks, algorithm: { signAlgo, hashAlgorithmOID: sha256Oid } };
}

function asksIn(objects: unknown): AuthorizationObject[] {
  const listed = Array.isArray(objects) ? objects.map(membersIn) : [];
  return listed.map(({ id, label }) => {
    if (!isId(id)) throw other("list of what it asks");
    return { id, label: typeof label === "string" && label !== "" ? label.slice(0, 100) : id };
  });
}
