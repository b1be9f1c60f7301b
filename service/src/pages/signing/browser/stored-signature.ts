import { storage } from "../../ui/browser/parts.ts";
import { readDrawn } from "../drawn.ts";
import { readPicture } from "../picture.ts";
import type { SignatureInputs } from "./sheet.ts";

type Marks = Pick<SignatureInputs, "drawn" | "picture">;

/**
 * The name of the stored signature in the tab's storage. A tab stores one signature; opening another link deletes it.
 */
const item = "signature";

type StoredSignature = { link: string; drawn: string; picture: string };

/** The path `/sign/{token}`, which all pages of a link share. */
const link = (): string => location.pathname.split("/", 3).join("/");

/**
 * True in the sender's preview, which stores no signature. The preview is an `about:` document, and shares the tab's
 * storage with the page around it.
 */
const isPreview = (): boolean => location.protocol === "about:";

/**
 * Stores a drawing or picture for the tab, so that it survives a reload. A typed name is not stored, because it is easy
 * to type again.
 */
export function keepSignature({ drawn, picture }: Marks): void {
  if (isPreview()) return;
  const stored: StoredSignature = { link: link(), drawn: drawn.value, picture: picture.value };
  if (stored.drawn === "" && stored.picture === "") forgetSignature();
  else storage((tab) => tab.setItem(item, JSON.stringify(stored)));
}

/** Restores the stored signature of this link into an empty form. */
export function restoreSignature({ drawn, picture }: Marks): void {
  if (isPreview() || drawn.value !== "" || picture.value !== "") return;
  const stored = storedHere();
  if (stored === undefined) return;
  if (readDrawn(stored.drawn)) drawn.value = stored.drawn;
  else if (readPicture(stored.picture)) picture.value = stored.picture;
}

/** The stored signature of this link. Deletes another link's signature. */
function storedHere(): StoredSignature | undefined {
  const stored = storage((tab): StoredSignature | null => JSON.parse(tab.getItem(item) ?? "null"));
  if (stored?.link === link()) return stored;
  forgetSignature();
  return undefined;
}

/**
 * Deletes another link's signature, because another signer may have used this tab. Runs before the page shows anything.
 */
export const forgetOthersSignature = (): void => void storedHere();

/** Deletes the tab's stored signature. */
export const forgetSignature = (): void => storage((tab) => tab.removeItem(item));
