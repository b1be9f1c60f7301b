/**
 * Domains of free and of disposable mailboxes, as the package `free-email-domains-list` keeps them. It is 2 MB of script, so it is
 * read when a request is first screened; from then on it is at hand.
 */
export async function listedDomains(): Promise<ReadonlySet<string>> {
  const { DOMAINS } = await import("free-email-domains-list/build/src/constants.js");
  return DOMAINS;
}
