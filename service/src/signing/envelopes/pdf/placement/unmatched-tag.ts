/** A document with tags that can't be used. The message follows "document can't be signed:". */
export class UnmatchedTag extends Error {
  constructor(why: string, options: ErrorOptions = {}) {
    super(why, options);
    this.name = "UnmatchedTag";
  }
}
