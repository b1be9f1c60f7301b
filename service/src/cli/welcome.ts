import { join } from "node:path";
import type { Config } from "../kernel/config/config.ts";
import type { Mail } from "../kernel/platform/mail/mail.ts";
import { toPlainText } from "../kernel/platform/text.ts";
import { root } from "../upkeep/resources.ts";

export type Welcome = {
  config: Pick<Config, "baseUrl" | "dataDir" | "smtpUrl">;
  /** The path of the page that shows stored mails; null when there is none. */
  outboxPath: string | null;
  /** The key of the demo partner, if this start created it. */
  demoKey: string | null;
  /** The environment variables of the service. */
  env: NodeJS.ProcessEnv;
};

const quoted = (text: string): string => (/^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** The absolute path of a file of the service, as typed in a shell. */
const ownFile = (path: string): string => quoted(join(root, path));

/** Variables that a command needs to find and decrypt the service's database, but whose values must not be printed. */
const unprinted = ["DATABASE_URL", "SECRETS_KEY", "SECRETS_KEYS_OLD", "LOG_KEY"];

const unprintedIn = (env: NodeJS.ProcessEnv): string[] => unprinted.filter((name) => env[name]);

/** The beginning of a `signsealship` command that uses this service's data and URL, whatever folder it is run in. */
const ownCommand = (dataDir: string, env: NodeJS.ProcessEnv): string =>
  [
    // `${NAME:?}` makes the shell refuse the command if the variable is unset. Without the variable, the command would
    // open, or create, another database.
    ...unprintedIn(env).map((name) => `${name}="\${${name}:?}"`),
    `DATA_DIR=${quoted(dataDir)}`,
    ...["PORT", "BASE_URL"].flatMap((name) => (env[name] ? [`${name}=${quoted(env[name])}`] : [])),
    ownFile("bin/signsealship"),
  ].join(" ");

/** The text printed at startup: the service's URLs and, at the first start, how to place an order. */
export function welcome({ config: { baseUrl, dataDir, smtpUrl }, outboxPath, demoKey, env }: Welcome): string {
  const mails = outboxPath === null ? mailsElsewhere(smtpUrl, dataDir) : `${baseUrl}${outboxPath}`;
  const needed = unprintedIn(env);
  const places = [
    ["Dashboard", `${baseUrl}/sign-in`],
    ["API", `${baseUrl}/docs`],
    ["Console", `${ownCommand(dataDir, env)} operator link`],
    ...(needed.length > 0 ? [["", `first set ${needed.join(", ")} in that shell, as for the service`]] : []),
    ["Mails", mails],
    ["Data", dataDir],
  ];
  const lines = places.map(([name = "", where]) => `  ${name.padEnd(11)}${where}`);
  return `SignSealShip listens on ${baseUrl}\n\n${lines.join("\n")}\n${demoKey === null ? "" : firstOrder(baseUrl, demoKey, ownFile("examples/lien-release.pdf"))}`;
}

const mailsElsewhere = (smtpUrl: string | null, dataDir: string): string =>
  smtpUrl === null ? `files in ${dataDir}/outbox` : `sent by ${new URL(smtpUrl).host}`;

const firstOrder = (baseUrl: string, key: string, document: string): string => `
First run: a demo partner was made. Its test key is shown this once:

  ${key}

Place a first order:

  curl -sS ${baseUrl}/api/partner/orders \\
    -H 'Authorization: Bearer ${key}' \\
    -F document=@${document} -F email=signer@example.com \\
    -F byod_confirmed=true -F svc_sign=true -F svc_notary=true

Or in the browser: sign in at ${baseUrl}/sign-in, and paste the key there once.
`;

const link = /https?:\/\/[^\s<>"]+/g;

/**
 * The recipient, the subject and the links of a stored mail, to print at the terminal. The mail's file wraps long
 * lines, which breaks links.
 */
export const outboxMail = ({ to, subject, text }: Mail): string =>
  `Mail to ${toPlainText(to)}: ${toPlainText(subject)}\n${[...new Set(text.match(link))].map((url) => `  ${url}\n`).join("")}`;
