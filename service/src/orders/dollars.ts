/** The smallest payment that the processor accepts. */
export const minPaymentCents = 50;

/** True for a price that can be paid. The processor's checkout completes an order of $0.00 without a payment. */
export const canBePaid = (cents: number): boolean => cents === 0 || cents >= minPaymentCents;

/** Formats cents like `$5.93`. */
export const dollars = (cents: number): string => `$${(cents / 100).toFixed(2)}`;
