// Matches email addresses in external texts, such as a mail server's refusal or an error of a driver.
const addresses = /[^\s<>"'(),:;@]+@(?=[\p{L}\d-]+(?:\.[\p{L}\d-]+)+)/gu;

/** The text with the local part of every email address masked, if its domain has a dot. */
export const maskEmails = (text: string): string => text.replace(addresses, (found) => `${[...found][0]}***@`);

/** `d***@example.com`: the first character and the domain. Pages show no more of an address. */
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
