import { ServiceError } from "../../../../kernel/platform/errors.ts";

/**
 * The error for a document whose tags, or form fields that are named for a signer, can't be used. The message continues
 * the words "document can't be signed:".
 */
export class UnmatchedTag extends Error {
  constructor(why: string, options: ErrorOptions = {}) {
    super(why, options);
    this.name = "UnmatchedTag";
  }
}

/**
 * Turns the refusal of an element of an order's `fields` into an UnmatchedTag. Other errors stay as they are.
 * @param names for each element, what requested it
 */
export function unmatchedTagOf(error: unknown, names: readonly (string | undefined)[]): unknown {
  if (!(error instanceof ServiceError)) return error;
  const [start, index = "0"] = /^fields\[(\d+)\]\.?/.exec(error.at ?? "") ?? [""];
  const why = error.message.slice(start.length).replace(/\.$/, "");
  const name = names[Number(index)];
  return new UnmatchedTag(name === undefined ? why : `${name}: ${why}`, { cause: error });
}

/** The text is too long to search for tags, or the search exceeded its time limit. The document may have no tags. */
export class TooLongForTags extends UnmatchedTag {}
