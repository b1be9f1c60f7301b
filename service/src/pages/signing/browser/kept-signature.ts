import { readDrawn } from "../drawn.ts";
import { readPicture } from "../picture.ts";
import type { SignatureInputs } from "./signature-body.ts";

type Marks = Pick<SignatureInputs, "drawn" | "picture">;

/** One for the tab: the page of another link forgets it. */
const item = "signature";

type Kept = { link: string; drawn: string; picture: string };

/** `/sign/{token}`, whichever form of it the page answers. */
const link = (): string => location.pathname.split("/", 3).join("/");

/** Keeps what was drawn or chosen while the tab is open: a reload does not lose it. What was typed is no work to type again. */
export function keepSignature({ drawn, picture }: Marks): void {
  const kept: Kept = { link: link(), drawn: drawn.value, picture: picture.value };
  if (kept.drawn === "" && kept.picture === "") forgetSignature();
  else storage((tab) => tab.setItem(item, JSON.stringify(kept)));
}

/** Puts what was kept of this link back into a form that has neither. */
export function restoreSignature({ drawn, picture }: Marks): void {
  if (drawn.value !== "" || picture.value !== "") return;
  const kept = keptHere();
  if (kept === undefined) return;
  if (readDrawn(kept.drawn)) drawn.value = kept.drawn;
  else if (readPicture(kept.picture)) picture.value = kept.picture;
}

/** What was kept of this link; what was kept of another is forgotten. */
function keptHere(): Kept | undefined {
  const kept = storage((tab): Kept | null => JSON.parse(tab.getItem(item) ?? "null"));
  if (kept?.link === link()) return kept;
  forgetSignature();
  return undefined;
}

/** Before anything of a page is shown: the tab may have been another signer's. */
export const forgetOthersSignature = (): void => void keptHere();

/** Nothing stays once the link shows that it has ended, or asks anew who is there. */
export const forgetSignature = (): void => storage((tab) => tab.removeItem(item));

/** A browser that keeps nothing, or a full one, is none to complain of. */
function storage<T>(work: (tab: Storage) => T): T | undefined {
  try {
    return work(sessionStorage);
  } catch {
    return undefined;
  }
}
