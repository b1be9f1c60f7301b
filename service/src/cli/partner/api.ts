import { type Client, ConnectionError, createClient, ServiceRefusal } from "@signsealship/sdk";
import { storedAddress } from "../../kernel/platform/data-folder.ts";
import { StartupError } from "../../kernel/platform/errors.ts";
import { isThisMachine } from "../../kernel/platform/network.ts";
import { type Options, UsageError, type ValuesOf } from "../verb.ts";

/** The options of all verbs for partners. These verbs call a service over HTTP with a partner key. */
export const partnerOptions = {
  key: { type: "string", help: "Your partner key, svc_pk_...; default: SIGNSEALSHIP_KEY of the environment." },
  "base-url": {
    type: "string",
    value: "URL",
    help: "The service's address; default: BASE_URL, else http://localhost with PORT, the port on which the service of this folder last ran, or 8080.",
  },
} as const satisfies Options;

/** `isTyped`: whether the person typed the option. An error blames the value of an option only if it was typed. */
export type Partner = {
  client: Client;
  baseUrl: string;
  key: string;
  isTyped: Readonly<Record<keyof typeof partnerOptions, boolean>>;
};

/**
 * The address at which the service with this `DATA_DIR` last ran, read from a file there. An address on another machine
 * is ignored, because the caller's key is sent to the address.
 */
function addressHere(): string | undefined {
  const address = readableAddress();
  const host = URL.parse(address ?? "")?.hostname;
  return host !== undefined && isThisMachine(host) ? address : undefined;
}

/**
 * The stored address; undefined if no service ran in this folder.
 * @throws UsageError if the address can't be read. With the default port instead, the key could be sent to a stranger's
 * process
 */
function readableAddress(): string | undefined {
  try {
    return storedAddress(process.env["DATA_DIR"] ?? "var");
  } catch (error) {
    throw new UsageError(`--base-url is required: ${(error as Error).message}`);
  }
}

/**
 * Reads the key from the flag or the environment; the address also from the data folder. @throws UsageError naming the
 * flag or the environment variable
 */
export function partnerOf(values: ValuesOf<typeof partnerOptions>): Partner {
  const key = values.key ?? process.env["SIGNSEALSHIP_KEY"];
  if (!key) throw new UsageError("--key is required: your partner key, svc_pk_... (or SIGNSEALSHIP_KEY)");
  const { BASE_URL: named, PORT: port } = process.env;
  const chosenUrl = values["base-url"] ?? named ?? (port === undefined ? addressHere() : undefined);
  const baseUrl = (chosenUrl ?? `http://localhost:${port ?? 8080}`).replace(/\/+$/, "");
  const isTyped = { key: values.key !== undefined, "base-url": values["base-url"] !== undefined };
  if (!URL.canParse(baseUrl) || !/^https?:/.test(baseUrl))
    throw new UsageError(`${isTyped["base-url"] ? "--base-url" : "BASE_URL"} must be an http(s) URL`);
  return { client: createClient({ baseUrl, key }), baseUrl, key, isTyped };
}

/**
 * Calls the service.
 * @param flagOf maps a field of the request to its flag; null for none. When the service refuses a field with a flag,
 * the error begins with that flag.
 * @throws StartupError with the service's refusal, or when the service doesn't respond
 */
export async function ask<T>(
  { client, isTyped }: Partner,
  work: (client: Client) => Promise<T>,
  flagOf: (field: string) => string | null = () => null,
): Promise<T> {
  try {
    return await work(client);
  } catch (error) {
    if (error instanceof ServiceRefusal) {
      const flag = flagOf(/^\w+/.exec(error.message)?.[0] ?? "");
      if (error.status === 401)
        throw new StartupError(`${isTyped.key ? "--key" : "SIGNSEALSHIP_KEY"}: ${error.message}`);
      throw new StartupError(flag === null ? error.message : `${flag}: ${error.message}`);
    }
    if (error instanceof ConnectionError) {
      const asked = `${error.message} Does the service run there?`;
      throw new StartupError(
        isTyped["base-url"] ? `--base-url: ${asked}` : `${asked} If not, name its address with --base-url.`,
      );
    }
    throw error;
  }
}
