// Masks addresses in a text that somebody else wrote: a mail server's refusal, a driver's complaint.
const addresses = /[^\s<>"'(),:;@]+@(?=[\p{L}\d-]+(?:\.[\p{L}\d-]+)+)/gu;

/** The text with the mailbox of every mail address in it masked. */
export const maskEmails = (text: string): string => text.replace(addresses, (found) => `${[...found][0]}***@`);

/** `d***@example.com`: the first character and the domain, all that a reader of a page learns of an address. */
export function maskEmail(email: string): string {
  const at = email.lastIndexOf("@");
  return at < 1 ? "***" : `${[...email][0]}***${email.slice(at)}`;
}

/** `J*** D***`: the first character of each word of a name. */
export const maskName = (name: string): string =>
  name
    .trim()
    .split(/\s+/u)
    .map((word) => `${[...word][0] ?? ""}***`)
    .join(" ");
