/**
 * The error for a document with tags that can't be used. The message continues the words "document can't be signed:".
 */
export class UnmatchedTag extends Error {
  constructor(why: string, options: ErrorOptions = {}) {
    super(why, options);
    this.name = "UnmatchedTag";
  }
}

/** The text is too long to search for tags, or the search exceeded its time limit. The document may have no tags. */
export class TooLongForTags extends UnmatchedTag {}
