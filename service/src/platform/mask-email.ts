/** `d***@example.com`: the first character and the domain, all that a reader of a page learns of an address. */
export function maskEmail(email: string): string {
  const at = email.lastIndexOf("@");
  return at < 1 ? "***" : `${[...email][0]}***${email.slice(at)}`;
}
