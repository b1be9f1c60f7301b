import type { Session } from "../../../kernel/identity/identity.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { invalid } from "../../../kernel/platform/errors.ts";
import {
  answerOf,
  handleOf,
  newChallenge,
  type PasskeyDeps,
  refusedPasskey,
  relyingParty,
  verifyAnswer,
} from "./ceremony.ts";
import { mailFactorChange } from "./mail.ts";
import { useRecoveryCode } from "./recovery-codes.ts";
import { findCredential, noteUse, selectDescriptors } from "./store.ts";

/** The fields of a session that passkeys need. The session may still lack its second factor. */
export type Holder = Pick<Session, "id" | "userId">;

/** The request options for a browser (WebAuthn level 3, section 5.5). */
export async function requestOptions(deps: PasskeyDeps, { id, userId }: Holder) {
  const { id: rpId } = relyingParty(deps);
  const descriptors = await selectDescriptors(deps.db, userId);
  return {
    challenge: await newChallenge(deps, id, "show"),
    rpId,
    timeout: 300_000,
    userVerification: "required",
    allowCredentials: descriptors.map((each) => ({ type: "public-key", ...each })),
  };
}

/**
 * Verifies a passkey. Then records its use and runs the caller's work, both in one transaction.
 * @param text the browser's response
 * @throws ServiceError for a passkey of another person, or a response that is not accepted; then the work does not run
 */
export async function withPasskey<T>(
  deps: PasskeyDeps,
  { id: sessionId, userId }: Holder,
  text: string,
  work: (tx: Tx, at: Date) => Promise<T>,
): Promise<T> {
  const answer = answerOf(text);
  const credential = await findCredential(deps.db, deps.rowMac, { userId, credentialId: answer.id, now: deps.clock() });
  // WebAuthn level 3, section 7.2, step 6: a returned user handle must be the person's.
  const handle = answer.response.userHandle ?? handleOf(userId);
  if (!credential || handle !== handleOf(userId)) throw refusedPasskey();
  const { counter } = await verifyAnswer(deps, { sessionId, userId, purpose: "show", answer, current: credential });
  return deps.db.transaction(async (tx) => {
    const at = deps.clock();
    if (!(await noteUse(tx, credential.id, counter, at))) throw refusedPasskey();
    return work(tx, at);
  });
}

/**
 * Consumes a recovery code and runs the caller's work in the same transaction.
 * @throws ServiceError for an unknown code
 */
export async function withRecoveryCode<T>(
  { db, clock, rowMac }: Pick<PasskeyDeps, "db" | "clock" | "rowMac">,
  { userId }: Holder,
  typed: string,
  work: (tx: Tx, at: Date) => Promise<T>,
): Promise<T> {
  return db.transaction(async (tx) => {
    const at = clock();
    if (!(await useRecoveryCode(tx, rowMac, { userId, typed, at })))
      throw invalid("This recovery code is not right, or it was used before.");
    await mailFactorChange(tx, userId, "recovery-code", at);
    return work(tx, at);
  });
}
