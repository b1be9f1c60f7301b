import {
  type AuthenticationResponseJSON,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from "@simplewebauthn/server";
import { decodeAttestationObject, isoBase64URL } from "@simplewebauthn/server/helpers";
import type { Run } from "../../../kernel/platform/workers/task.ts";

/** The values that an authenticator's response must contain. */
export type Expected = { challenge: string; origin: string; rpId: string };

export type NewCredential = {
  credentialId: string;
  publicKey: Uint8Array;
  counter: number;
  backupEligible: boolean;
};

export type CurrentCredential = NewCredential;

export type VerifyInput = Expected & { response: unknown; current: CurrentCredential | null };

/** A new credential, or the stored one with its new counter. */
export type Verified = NewCredential;

/**
 * Verifies an authenticator's response (WebAuthn level 3, sections 7.1 and 7.2).
 * @throws Error when the response is not accepted
 */
export const run: Run<VerifyInput, Verified> = async (_bytes, { response, current, ...expected }) =>
  current ? verifyShown(response, current, expected) : verifyAdded(response, expected);

const expectedOf = ({ challenge, origin, rpId }: Expected) => ({
  expectedChallenge: challenge,
  expectedOrigin: origin,
  expectedRPID: rpId,
  requireUserVerification: true,
});

async function verifyAdded(sent: unknown, expected: Expected): Promise<Verified> {
  const response = sent as RegistrationResponseJSON;
  refuseCertificates(response);
  const { registrationInfo } = await verifyRegistrationResponse({ response, ...expectedOf(expected) });
  if (!registrationInfo) throw new Error("the new passkey is not accepted");
  const { credential, credentialDeviceType } = registrationInfo;
  const { id: credentialId, publicKey, counter } = credential;
  return { credentialId, publicKey, counter, backupEligible: credentialDeviceType === "multiDevice" };
}

/**
 * The service requests no attestation. A response with attestation certificates is refused, because the library would
 * fetch revocation lists from any URL that the certificates name.
 */
function refuseCertificates({ response }: RegistrationResponseJSON): void {
  const attestation = decodeAttestationObject(isoBase64URL.toBuffer(response.attestationObject));
  const format = attestation.get("fmt");
  const isPlain = format === "none" || (format === "packed" && attestation.get("attStmt").get("x5c") === undefined);
  if (!isPlain) throw new Error(`an attestation of the format ${format} was not asked for`);
}

async function verifyShown(sent: unknown, stored: CurrentCredential, expected: Expected): Promise<Verified> {
  const { credentialId: id, publicKey, counter } = stored;
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: sent as AuthenticationResponseJSON,
    credential: { id, publicKey: new Uint8Array(publicKey), counter },
    ...expectedOf(expected),
  });
  const backupEligible = authenticationInfo.credentialDeviceType === "multiDevice";
  // WebAuthn level 3, section 7.2, step 19: backup eligibility never changes.
  if (!verified || backupEligible !== stored.backupEligible) throw new Error("the passkey is not accepted");
  return { ...stored, counter: authenticationInfo.newCounter };
}
