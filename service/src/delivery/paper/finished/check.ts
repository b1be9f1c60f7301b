import { sha256Hex } from "@signsealship/evidence/digest";
import { EvidenceError } from "@signsealship/evidence/errors";
import { changesSince, openUnlocked } from "@signsealship/evidence/pdf";
import { type EarlierSignature, verifySignatures } from "@signsealship/evidence/seal";
import { parseCertificatesPem } from "@signsealship/evidence/x509";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";
import { trySeal } from "../../../evidence/seals/trial.ts";
import { countPages } from "../../../kernel/pdf/page-tree.ts";
import { PdfRefusal } from "../../../kernel/pdf/refusal.ts";
import { UnseenContent } from "../../../kernel/pdf/unseen/notice.ts";
import { unseenIn } from "../../../kernel/pdf/unseen/unseen.ts";
import { lookUpPdf } from "../../../kernel/pdf/xref/lookup.ts";
import { noticeMessage } from "../../../orders/order/order.ts";

type FinishedCheckName =
  | "can_be_sealed"
  | "our_document"
  | "pages"
  | "signatures"
  | "changes"
  | "signed_here"
  | "online_bought"
  | "unseen";

/**
 * The result of one check of a handed-in document. `warns`: staff may still accept the document. `fails`: nobody may
 * accept the document in the console. `order move` at the command line doesn't run these checks.
 */
export type FinishedCheck = {
  readonly name: FinishedCheckName;
  readonly state: "holds" | "warns" | "fails";
  readonly why: string;
};

export type FinishedRules = {
  /** The latest recorded version of the order's document. */
  readonly latest: { readonly bytes: number; readonly sha256: string; readonly pages: number | null };
  /** The root certificates of the trusted time-stamping authorities, in PEM. */
  readonly tsaRoots: string;
  readonly at: Date;
};

export type FinishedReport = {
  readonly sha256: string;
  /**
   * True if the file has no digital signature of its own, such as a scan of paper. The signatures of the order's
   * document don't count. Also true for a file that can't be sealed or read.
   */
  readonly isPaper: boolean;
  readonly checks: readonly FinishedCheck[];
};

const check = (name: FinishedCheckName, state: FinishedCheck["state"], why: string): FinishedCheck => ({
  name,
  state,
  why,
});

/** Checks a document that was signed or notarized outside the service. Stores nothing. */
export async function checkFinished(bytes: Buffer, rules: FinishedRules): Promise<FinishedReport> {
  const sha256 = await sha256Hex(bytes);
  const sealable = sealCheck(bytes, sha256);
  if (sealable.state === "fails") return { sha256, isPaper: true, checks: [sealable] };
  const { latest } = rules;
  const begins = bytes.length > latest.bytes && (await sha256Hex(bytes.subarray(0, latest.bytes))) === latest.sha256;
  try {
    const anchors = rules.tsaRoots === "" ? [] : parseCertificatesPem(rules.tsaRoots);
    const signatures = await verifySignatures(bytes, anchors, rules.at.getTime(), createNodeCrypto());
    const isAdded = ({ revisionEnd }: EarlierSignature) => !begins || (revisionEnd ?? 0) > latest.bytes;
    return {
      sha256,
      isPaper: !signatures.some(isAdded),
      checks: [
        sealable,
        ourDocument(begins, sha256 === latest.sha256),
        pagesCheck(bytes, latest.pages),
        signaturesCheck(signatures),
        ...unseenCheck(bytes),
        ...(begins ? [changesCheck(changesSince(await openUnlocked(bytes), latest.bytes))] : []),
      ],
    };
  } catch (error) {
    if (!(error instanceof EvidenceError)) throw error;
    const unreadable = check("signatures", "fails", `The file can’t be read: ${error.message}.`);
    return { sha256, isPaper: true, checks: [sealable, unreadable] };
  }
}

function sealCheck(bytes: Buffer, sha256: string): FinishedCheck {
  try {
    trySeal(bytes, sha256);
    return check("can_be_sealed", "holds", "It can be sealed.");
  } catch (error) {
    if (!(error instanceof PdfRefusal)) throw error;
    return check("can_be_sealed", "fails", `It can’t be sealed: ${error.message}.`);
  }
}

function ourDocument(begins: boolean, isSame: boolean): FinishedCheck {
  if (isSame) return check("our_document", "fails", "It is the order’s document as it was: nothing was added.");
  return begins
    ? check("our_document", "holds", "It begins with the order’s document, and earlier signatures are carried.")
    : check(
        "our_document",
        "warns",
        "It is another file than the order’s document, such as a scan. Earlier signatures are not carried.",
      );
}

function pagesCheck(bytes: Buffer, originalPages: number | null): FinishedCheck {
  const pages = pagesOf(bytes);
  if (typeof pages !== "number") return check("pages", "warns", `Its pages can’t be counted: ${pages.why}.`);
  const counted = `It has ${pages} ${pages === 1 ? "page" : "pages"}`;
  if (originalPages === null || pages >= originalPages) return check("pages", "holds", `${counted}.`);
  return check("pages", "warns", `${counted}, and the order’s document ${originalPages}.`);
}

function pagesOf(bytes: Buffer): number | { why: string } {
  const { file, root } = lookUpPdf(bytes);
  try {
    return countPages(file, root.dict);
  } catch (error) {
    if (!(error instanceof PdfRefusal)) throw error;
    return { why: error.message };
  }
}

function signaturesCheck(signatures: readonly EarlierSignature[]): FinishedCheck {
  if (signatures.length === 0)
    return check("signatures", "warns", "It has no digital signature. Look whether it was signed in ink.");
  const failed = signatures.map(faultOf).find((why) => why !== undefined);
  if (failed !== undefined) return check("signatures", "fails", failed);
  const count = signatures.length === 1 ? "The signature in it is" : `All ${signatures.length} signatures in it are`;
  return check("signatures", "holds", `${count} valid. Whose they are was not checked.`);
}

/**
 * Warns of content that PDF readers don't show. The same rules apply to a document before it is signed in the service.
 * Returns no check when the document has no such content.
 */
function unseenCheck(bytes: Buffer): FinishedCheck[] {
  try {
    const notices = unseenIn(bytes);
    return notices.length === 0 ? [] : [check("unseen", "warns", notices.map(noticeMessage).join(" "))];
  } catch (error) {
    if (error instanceof UnseenContent)
      return [check("unseen", "warns", `Look at it as it is printed: ${error.message}.`)];
    if (!(error instanceof PdfRefusal)) throw error;
    return [check("unseen", "warns", `The parts that people may not see can’t be determined: ${error.message}.`)];
  }
}

const faultOf = ({ claims }: EarlierSignature): string | undefined =>
  claims.find(({ state }) => state === "fails")?.why;

function changesCheck(level: ReturnType<typeof changesSince>): FinishedCheck {
  if (level === "none") return check("changes", "fails", "Nothing was added to the order’s document.");
  return level !== null && level !== "other"
    ? check("changes", "holds", `What was added are fields and annotations alone (${level}).`)
    : check("changes", "warns", "What was added changes more than fields and annotations. Look at the pages.");
}
