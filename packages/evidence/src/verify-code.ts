/** A verify code: 26 characters of lowercase base32. */
export const isVerifyCode = (value: unknown): value is string =>
  typeof value === "string" && /^[a-z2-7]{26}$/.test(value);
