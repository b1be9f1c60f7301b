/**
 * Signatures with a key of the notary at a trust service. The steps are those for a key from a file: the revision is
 * prepared, reviewed in the browser, and completed.
 */
import { hash } from "node:crypto";
import type { Operator } from "../../../firms/operators/operators.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { shortCode } from "../../../kernel/platform/text.ts";
import type { AuthorizationObject, RemoteSigning } from "../../../providers/providers.ts";
import { claimedOrder } from "../claims/claims.ts";
import { chainOf } from "./own-certificate.ts";
import {
  completeSignature,
  type NotarySigningDeps,
  type PreparedSignature,
  prepareSignature,
  waitingSignature,
} from "./sign.ts";

export type RemoteSigningDeps = NotarySigningDeps & { remote: RemoteSigning | null };

function remoteOf({ remote }: RemoteSigningDeps): RemoteSigning {
  if (!remote) throw new ServiceError("conflict", "No trust service is set up for signatures here.");
  return remote;
}

/**
 * Lists the keys that the owner of the token has at the trust service. The token is passed on and not stored.
 * @throws ServiceError `conflict` when no trust service is set up, `validation` for a refused token and without a key,
 * `unavailable` when the trust service does not answer usably
 */
export async function listRemoteKeys(
  deps: RemoteSigningDeps,
  operator: Operator,
  code: string,
  token: string,
): Promise<{ keys: string[] }> {
  await claimedOrder(deps.desk, operator, code);
  const keys = await remoteOf(deps).list(token);
  if (keys.length === 0) throw invalid("The trust service has no key of yours that can sign now.");
  return { keys };
}

/**
 * Prepares the revision for a key at the trust service. The key's certificate must be the registered one.
 * @throws ServiceError `conflict` when no trust service is set up, `validation` for a key that can't be used here;
 * otherwise as `prepareSignature`
 */
export async function prepareRemote(
  deps: RemoteSigningDeps,
  operator: Operator,
  code: string,
  { token, key }: { token: string; key: string },
): Promise<PreparedSignature & { certificate: Uint8Array; asks: AuthorizationObject[] }> {
  const { certificates, asks } = await remoteOf(deps).credential(token, key);
  const [certificate = new Uint8Array(0)] = certificates;
  return { ...(await prepareSignature(deps, operator, code, certificate)), certificate, asks };
}

/**
 * Requests a signature of the prepared revision from the trust service, and completes the revision with it.
 * @param order.hash SHA-256 of the signed attributes in hex, computed by the notary's browser. The trust service is
 * asked to sign only this hash
 * @throws ServiceError `conflict` for another hash, and when the act or the document has changed since the preparation
 */
export async function signRemote(
  deps: RemoteSigningDeps,
  operator: Operator,
  code: string,
  order: { token: string; key: string; hash: string; answers: ReadonlyMap<string, string> },
): Promise<void> {
  const remote = remoteOf(deps);
  const claimed = await claimedOrder(deps.desk, operator, code);
  const prepared = await waitingSignature(deps.desk, claimed);
  if (prepared.isSigned || hash("sha256", prepared.signedAttrs) !== order.hash)
    throw new ServiceError("conflict", "This is not what waits for your signature. Open your key again.");
  // Runs all checks before the request, because each signature of the trust service may cost the notary money.
  chainOf(claimed.notary, prepared.certificate, deps.desk.clock());
  const credential = await remote.credential(order.token, order.key);
  if (!prepared.certificate.equals(credential.certificates[0] ?? new Uint8Array(0)))
    throw invalid("The trust service names another certificate for this key than before. Open your key again.");
  const description = `Notarization, order ${shortCode(code)}`;
  const digest = Buffer.from(order.hash, "hex");
  const signature = await remote.sign(order.token, credential, { hash: digest, answers: order.answers, description });
  await completeSignature(deps, operator, code, signature);
}
