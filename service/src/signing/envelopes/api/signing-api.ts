import type { Static } from "typebox";
import type { Owner } from "../../../kernel/identity/identity.ts";
import { isCode } from "../../../kernel/platform/text.ts";
import { orderNotFound } from "../../../orders/order/order.ts";
import type { OrderDocument } from "../records/documents.ts";
import { findSigning, type SignerState, type Signing, type SigningReadDeps, signerStates } from "../records/signing.ts";
import type { OrderDocument as DocumentSchema, OrderSignerState, OrderSigners } from "./schemas.ts";

/**
 * Returns the state of an order's signing, and its signers.
 * @param owner the firm that requests the state; null for a holder of the order's code
 * @throws ServiceError `not_found`
 */
export async function readSigning(
  deps: SigningReadDeps,
  orderCode: string,
  owner: Owner | null,
): Promise<Signing & { signers: SignerState[] }> {
  const signing = isCode(orderCode) ? await findSigning(deps.db, orderCode, owner) : undefined;
  if (!signing) throw orderNotFound();
  return { ...signing, signers: await signerStates(deps, signing) };
}

const iso = (at: Date | null): string | null => at?.toISOString() ?? null;

export const documentView = ({
  deletedAt,
  createdAt,
  origin,
  isSimulated: _,
  ...facts
}: OrderDocument): Static<typeof DocumentSchema> => ({
  ...facts,
  ...(origin && { origin }),
  createdAt: createdAt.toISOString(),
  ...(deletedAt && { deletedAt: deletedAt.toISOString() }),
});

const signerView = ({
  issuedAt,
  openedAt,
  signedAt,
  proposal,
  takenIn,
  wantsPaper,
  isSimulated,
  ...facts
}: SignerState): Static<typeof OrderSignerState> => ({
  ...facts,
  ...(takenIn && { takenIn }),
  ...(wantsPaper && { wantsPaper }),
  issuedAt: iso(issuedAt),
  openedAt: iso(openedAt),
  // The sandbox discards signatures, so a simulated signing has no time of signature.
  signedAt: isSimulated ? null : iso(signedAt),
  proposal: proposal && { name: proposal.name, email: proposal.email },
});

export const signingView = (
  { envelope, signers }: Signing & { signers: SignerState[] },
  requestId: string,
): Static<typeof OrderSigners> => ({
  signers: signers.map(signerView),
  envelope: envelope && {
    verifyCode: envelope.verifyCode,
    expiresAt: envelope.expiresAt.toISOString(),
    outcome: envelope.outcome,
    endedAt: iso(envelope.endedAt),
  },
  requestId,
});
