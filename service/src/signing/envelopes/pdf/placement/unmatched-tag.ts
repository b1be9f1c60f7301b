/**
 * The error for a document with tags that can't be used. The message continues the words "document can't be signed:".
 */
export class UnmatchedTag extends Error {
  constructor(why: string, options: ErrorOptions = {}) {
    super(why, options);
    this.name = "UnmatchedTag";
  }
}

/** The text is too long to look for tags in, or looking takes too long on this machine now. It may have no tag. */
export class TooLongForTags extends UnmatchedTag {}
