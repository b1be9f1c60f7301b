import { isIP, type LookupFunction } from "node:net";
import { createSecureContext, getCACertificates } from "node:tls";
import { buildConnector } from "undici";
import type { ResolveName } from "./resolve-name.ts";

class AddressRefused extends Error {
  readonly code = "ADDRESS_REFUSED";
}

export type ConnectorSettings = {
  mayReach: (address: string) => boolean;
  resolveName: ResolveName;
  /** PEM of the certificate authorities that are trusted in addition to the public ones; null for none. */
  extraCa: string | null;
  timeoutMs: number;
};

/**
 * Resolves a host name and checks its IP addresses in one step, for each connection. So the service connects only to an
 * address that it has just checked, which prevents DNS rebinding.
 */
function checkedLookup({ mayReach, resolveName }: ConnectorSettings): LookupFunction {
  return (name, options, done) => {
    resolveName(name).then(
      (found) => {
        const addresses = found.filter(mayReach).map((address) => ({ address, family: isIP(address) }));
        const [first] = addresses;
        if (!first) done(new AddressRefused("no address of this name may be reached"), "", 0);
        else if (options.all) done(null, addresses);
        else done(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => done(error, "", 0),
    );
  };
}

/**
 * The IP addresses of a URL's host.
 * @throws the errors of `resolveName`
 */
export async function addressesOf({ resolveName }: ConnectorSettings, hostname: string): Promise<string[]> {
  const literal = unbracketed(hostname);
  return isIP(literal) === 0 ? resolveName(hostname) : [literal];
}

const unbracketed = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, "$1");

/** Makes connections for deliveries: TLS and HTTP/1.1, and only to allowed IP addresses. */
export function createConnector(settings: ConnectorSettings): buildConnector.connector {
  const { extraCa, mayReach, timeoutMs } = settings;
  const connect = buildConnector({
    allowH2: false,
    timeout: timeoutMs,
    lookup: checkedLookup(settings),
    // The TLS context is created once, because parsing all root certificates for each connection costs more than the
    // connection.
    ...(extraCa === null
      ? {}
      : { secureContext: createSecureContext({ ca: [...getCACertificates("default"), extraCa] }) }),
  });
  return (options, done) => {
    // A URL with an IP address needs no name resolution, so the address is checked here.
    const literal = unbracketed(options.hostname);
    if (isIP(literal) !== 0 && !mayReach(literal)) done(new AddressRefused("this address may not be reached"), null);
    else connect(options, done);
  };
}
