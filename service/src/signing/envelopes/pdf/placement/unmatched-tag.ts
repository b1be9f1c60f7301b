/** A document whose tags can't be followed. The message follows "document can't be signed:". */
export class UnmatchedTag extends Error {
  constructor(why: string, options: ErrorOptions = {}) {
    super(why, options);
    this.name = "UnmatchedTag";
  }
}
