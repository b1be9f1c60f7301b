import type { Permission } from "../../../../../../packages/evidence/test/pdf/changes/attacks/attack.ts";
import { attacks } from "../../../../../../packages/evidence/test/pdf/changes/attacks/attacks.ts";
import {
  type FormSignature,
  formDocument,
  OBJECT,
  signForm,
} from "../../../../../../packages/evidence/test/pdf/changes/document.ts";
import { honest } from "../../../../../../packages/evidence/test/pdf/changes/honest/honest.ts";
import { appendRevision, type NewObject } from "../../../../../../packages/evidence/test/seal/signed-pdf.ts";
import { stamp, stranger } from "../signers.ts";
import { basicRules } from "./change-rules.ts";
import { formRules } from "./form-rules.ts";
import { lostRules } from "./lost-rules.ts";
import type { Part } from "./part.ts";
import { reachRules } from "./reach-rules.ts";
import { sectionRules } from "./section-rules.ts";
import { signatureRules } from "./signature-rules.ts";
import { tagRules } from "./tag-rules.ts";

/** A change of a signed form. */
export type FormChange = {
  readonly name: string;
  /** New bodies for objects of the form, by name. A revision before the signature writes them. */
  readonly prepared?: Partial<Record<keyof typeof OBJECT, string>>;
  readonly preparedRevision?: (pdf: string) => string;
  readonly signature?: Partial<FormSignature>;
  readonly make: (signed: string, original: string) => string;
};

const base = formDocument();
/** DER that is not a signature, because these parts test only the verdict on the changes. */
const NOTHING = Uint8Array.of(0x30, 0x03, 0x02, 0x01, 0x00);

function bodies(prepared: FormChange["prepared"]): NewObject[] {
  return Object.entries(OBJECT).flatMap(([name, number]) => {
    const body = prepared?.[name as keyof typeof OBJECT];
    return body === undefined ? [] : [[number, body] as const];
  });
}

/**
 * A part of the kind `changes`. Its text is everything that follows `form.pdf`: any prepared revision, a signature that
 * states the permission, and the change.
 */
function changed(change: FormChange, permission: Permission, expect: Part["expect"], teaches: string): Part {
  const objects = bodies(change.prepared);
  const prepared = objects.length === 0 ? base : appendRevision(base, objects, " /Info 13 0 R");
  const original = change.preparedRevision?.(prepared) ?? prepared;
  const certify = permission === "approval" ? {} : { certify: permission };
  const options = { signer: stranger, reserve: NOTHING.length, contents: () => NOTHING, ...certify };
  const signed = signForm(original, { ...options, ...change.signature });
  const later = change.make(signed, original);
  if (!later.startsWith(base)) throw new Error(`${change.name}: not a change of the form`);
  const state = permission === "approval" ? "after an approval" : `under P ${permission}`;
  return {
    name: `${state}: ${change.name}`,
    kind: "changes",
    // Appends a comment, so that no signature covers the whole file.
    text: `${later.slice(base.length)}% end\n`,
    expect,
    teaches,
  };
}

/** The name of a change that the vectors leave out, because it is signed with a new key in each run. */
const RANDOM = "an invisible signature under a signed lock of all";

/** Permissions, the laxest first. */
const PERMISSIONS: readonly Permission[] = [3, "approval", 2, 1];

/**
 * Changes of forms. Each attack is verified under the laxest permission that forbids it, each honest change under the
 * strictest that permits it.
 */
export function changeParts(): Part[] {
  const parts: Part[] = [];
  for (const attack of attacks) {
    if (attack.name === RANDOM) continue;
    const permission = PERMISSIONS.find((one) => attack.forbidden.includes(one)) ?? 1;
    parts.push(changed(attack, permission, "refused", `${attack.kind}: section 7.1 does not allow it.`));
  }
  for (const update of honest) {
    const change = { ...update, make: (signed: string) => update.make(signed, stranger, stamp) };
    const most = PERMISSIONS.find((one) => !update.permitted.includes(one));
    const least = PERMISSIONS.findLast((one) => update.permitted.includes(one));
    if (least !== undefined) parts.push(changed(change, least, "accepted", `${update.kind}: it is permitted.`));
    if (most !== undefined) parts.push(changed(change, most, "refused", `${update.kind}: it is more than permitted.`));
  }
  for (const one of [
    ...basicRules,
    ...formRules,
    ...signatureRules,
    ...tagRules,
    ...sectionRules,
    ...reachRules,
    ...lostRules,
  ]) {
    parts.push(changed(one, one.permission, one.expect, "Section 7.1: this one thing decides."));
  }
  return parts;
}
