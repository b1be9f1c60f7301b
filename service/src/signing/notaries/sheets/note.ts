import { type Act, principalField, typedPrincipal } from "../acts/act.ts";
import type { Claimed, DeskDeps } from "../desk/desk.ts";
import { saveAct } from "../desk/orders.ts";
import { headOf, principalOf } from "./room.ts";
import type { Mark } from "./steps.ts";
import { openSheetOf, type Sheet } from "./store.ts";

/** Where an act by audio and video is on record. */
export type OnRecord = Pick<Act, "session" | "recording">;

/**
 * Notes an act; one with a run sheet names where its record ends, so that the notary's signature is over what was marked.
 * @param onRecord of the live session; null without one
 */
export async function noteAct(
  desk: DeskDeps,
  { order, notary }: Claimed,
  act: Act,
  at: Date,
  onRecord: OnRecord | null,
): Promise<void> {
  const sheet = await openSheetOf(desk, order.taskId);
  const noted = sheet ? { ...act, ...onRecord, sheet: headOf(sheet) } : act;
  await saveAct(desk.db, order.taskId, notary.id, noted, at);
}

const minute = (at: string): string => at.slice(0, 16);

/** The form of the act, as far as the sheet knows it: the notary looks at it and completes it. */
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

/** Who swore and who affirmed: the form of an act has no field for it. */
const notesOf = ({ people }: Sheet, steps: readonly Mark[]): string =>
  steps
    .filter(({ name }) => name === "oath" || name === "oath_alone")
    .map(({ choice, signer }) => `${people.find(({ n }) => n === signer)?.name ?? ""}: ${choice ?? ""}`)
    .join("\n");
