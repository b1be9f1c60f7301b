import type { CopyKind, NoticeCode, PictureFault, ShownField } from "../../../envelopes/envelopes.ts";
import type { ViewerWords } from "../browser/config.ts";

type Part = { readonly title: string; readonly text: string };
type Choice = { readonly label: string; readonly text: string; readonly go: string };

/** Everything that the pages of a language say. The text of the consent is a file of its own, since its words are on record. */
export type Words = {
  readonly language: string;
  /** The name of the other one, in itself. */
  readonly otherLanguage: string;
  readonly title: string;
  readonly from: string;
  readonly to: (name: string, email: string) => string;
  readonly until: string;
  readonly contact: string;
  readonly reference: string;
  readonly test: Part;
  readonly signers: {
    readonly title: string;
    readonly signed: string;
    readonly waiting: string;
    readonly you: string;
  };
  readonly document: {
    readonly title: string;
    readonly open: string;
    /** `hasMore`: a signature page of ours comes after them. */
    readonly size: (pages: number, hasMore: boolean, size: string) => string;
    readonly save: string;
    readonly note: string;
  };
  /** What the document has that people may not see as it is sealed. */
  readonly notices: {
    readonly title: string;
    readonly lead: string;
    readonly page: (page: number) => string;
    readonly of: Readonly<Record<NoticeCode, string>>;
  };
  /** The document as text. */
  readonly text: Readonly<Record<"open" | "title" | "note" | "back" | "nothing" | "more", string>> & {
    readonly page: (page: number) => string;
  };
  readonly identify: {
    readonly title: string;
    readonly mail: (email: string) => string;
    readonly text: (ending: string) => string;
    readonly sendText: string;
    readonly access: (firm: string) => string;
    readonly send: string;
    readonly code: string;
    readonly go: string;
  };
  readonly consent: {
    readonly title: string;
    readonly version: (version: string) => string;
    readonly canRead: string;
    readonly agree: string;
    readonly given: string;
  };
  readonly sign: {
    readonly title: string;
    readonly lead: string;
    readonly name: string;
    readonly nameHint: string;
    readonly page: (page: number) => string;
    readonly kinds: Readonly<Record<ShownField["kind"], string>>;
    /** A signature that no page shows. */
    readonly invisible: string;
    readonly dates: string;
    readonly intent: string;
    /** Where the browser makes none. */
    readonly serviceKey: string;
    readonly go: string;
    /** A file instead of a typed name. */
    readonly picture: Readonly<Record<"label" | "file" | "hint" | "go" | "alt" | "used" | "remove", string>>;
  };
  readonly other: {
    readonly title: string;
    readonly paper: Choice;
    readonly withdraw: Choice;
    readonly decline: Choice & { readonly reason: string; readonly hint: string };
    readonly notMe: Choice;
    readonly propose: Choice & { readonly name: string; readonly email: string };
  };
  readonly states: Readonly<
    Record<"locked" | "waiting" | "signed" | "completed" | "declined" | "expired" | "voided" | "broken", Part>
  >;
  /** What a signer may keep. */
  readonly copies: Readonly<Record<CopyKind, string>>;
  readonly signedAt: string;
  readonly verify: string;
  /** After a form was accepted, by the name in the address. */
  readonly done: Readonly<
    Record<"code" | "text" | "consent" | "signed" | "declined" | "proposed" | "language", string>
  >;
  readonly refused: {
    readonly title: string;
    readonly code: string;
    /** No text message was sent: for now, or not to this number. */
    readonly away: string;
    readonly number: (ending: string) => string;
    readonly noCode: string;
    readonly canRead: string;
    readonly name: string;
    readonly drawn: string;
    readonly picture: Readonly<Record<PictureFault, string>>;
    readonly missing: (label: string) => string;
    readonly tooLong: (label: string) => string;
    readonly other: string;
    readonly again: string;
    readonly changed: string;
    readonly often: string;
    readonly later: string;
    readonly input: string;
  };
  /** What the page's script says. */
  readonly viewer: ViewerWords;
};
