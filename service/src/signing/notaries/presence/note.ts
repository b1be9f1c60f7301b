import { type Act, principalField, typedPrincipal } from "../acts/act.ts";
import type { Claimed, DeskDeps } from "../claims/claims.ts";
import { signedAgainOnPaper } from "../claims/documents.ts";
import { saveAct } from "../claims/orders.ts";
import { headOf, principalOf, requireOwn } from "../sheets/room.ts";
import { type Mark, signedBeforeOf } from "../sheets/steps.ts";
import { openSheetOf, type Sheet } from "../sheets/store.ts";

/** The facts about the session and the recording of an act by audio and video. */
export type OnRecord = Pick<Act, "session" | "recording"> & {
  /** The third persons who took part, as lines for the act's list of witnesses. */
  present: readonly string[];
};

/**
 * Stores the act that the notary noted. If there is a run sheet, the stored act names the sheet's last mark. So the
 * notary's signature of the act covers all marks.
 * @param facts.onRecord the facts about the live session and its recording; null without a session
 * @param facts.isSignedAgain true if the notary confirms that everybody signed again, on paper
 * @throws ServiceError `conflict` while another notary's act is open, and for an act whose signatures the notary has not
 * seen
 */
export async function noteAct(
  desk: DeskDeps,
  claimed: Claimed,
  act: Act,
  { at, onRecord, isSignedAgain }: { at: Date; onRecord: OnRecord | null; isSignedAgain: boolean },
): Promise<void> {
  const { order, notary } = claimed;
  const sheet = await openSheetOf(desk, order.taskId);
  requireOwn(sheet, notary.id);
  const signedBefore = sheet ? signedBeforeOf(sheet) : await signedAgainOnPaper(desk.db, claimed, act, isSignedAgain);
  const { present = [], ...recorded } = onRecord ?? {};
  const witnesses = [...new Set([...present, ...act.witnesses])];
  const noted = {
    ...act,
    ...(sheet && { ...recorded, witnesses, sheet: headOf(sheet) }),
    ...(signedBefore && { signedBefore }),
  };
  await saveAct(desk.db, order.taskId, notary.id, noted, at);
}

const minute = (at: string): string => at.slice(0, 16);

/** The form of the act, filled in from the run sheet. The notary reviews and completes the form. */
export function typedOfSheet({ sheet }: { sheet: Sheet }): Record<string, string> {
  const steps = sheet.marks.filter(({ kind, run }) => kind === "step" && run === sheet.run);
  const [first, last] = [steps[0], steps.at(-1)];
  return {
    act: sheet.script.act,
    mode: sheet.script.mode,
    ...(first && { started_at: minute(first.at) }),
    ...(last && { ended_at: minute(last.at) }),
    notes: notesOf(sheet, steps),
    ...Object.assign(
      {},
      ...sheet.people.map(({ n, name }) => {
        const principal = principalOf(sheet, n);
        return principal ? typedPrincipal(principal, n) : { [principalField(n, "name")]: name };
      }),
    ),
  };
}

/**
 * The facts for which the form of an act has no field: which signers swore or affirmed, and that a document was signed
 * again.
 */
function notesOf(sheet: Sheet, steps: readonly Mark[]): string {
  const oaths = steps
    .filter(({ name }) => name === "oath" || name === "oath_alone")
    .map(({ choice, signer }) => `${sheet.people.find(({ n }) => n === signer)?.name ?? ""}: ${choice ?? ""}`);
  const before = signedBeforeOf(sheet);
  return [...oaths, ...(before ? [againNote] : [])].join("\n");
}

const againNote = "Signed again before me. Signatures that were made before this act are not part of it.";
