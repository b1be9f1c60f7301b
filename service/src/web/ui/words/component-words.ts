/** What shared parts of pages say by themselves. */
export type ComponentWords = {
  readonly steps: Readonly<Record<"done" | "current" | "attention" | "stopped" | "upcoming", string>>;
  readonly money: Readonly<Record<"item" | "amount" | "subtotal" | "discount" | "total", string>>;
  readonly copy: { readonly go: string; readonly done: string; readonly what: (what: string) => string };
  /** What a printed page says of itself. */
  readonly paper: Readonly<Record<"page" | "qr" | "printed", string>>;
};
