/** Checks whether the nodes of a service can forward requests for live sessions to each other. */
import { nodePrefix } from "../../kernel/platform/database/schema-fence.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { isThisMachine } from "../../kernel/platform/network.ts";
import { nodeAt, OwnNode } from "../../kernel/platform/nodes.ts";
import { nodesWithSessions } from "../../signing/notaries/notaries.ts";
import { type Examined, type Found, timeoutMs } from "./finding.ts";

type Nodes = Pick<Examined, "db" | "secrets" | "clock"> & { config: Pick<Examined["config"], "media" | "nodeUrl"> };

/** The number of requests that the check sends to NODE_URL. Behind a load balancer, several nodes would answer them. */
const questions = 4;

const where = "see 'Live audio and video' in docs/running.md";

/** Checks NODE_URL. It must be set if there are several nodes, and must lead to exactly one node of this service. */
export async function nodesFinding({ config, db, secrets, clock }: Nodes): Promise<Found> {
  const { media, nodeUrl: url } = config;
  if (!media) return "MEDIA is off: no requests are passed on to other nodes";
  const [nodes, machines] = await Promise.all([nodesWithSessions(db), machinesAt(db)]);
  if (url === null) {
    if (nodes.length < 2 && machines < 2) return "NODE_URL is not set, and only one node was seen";
    return { warning: `NODE_URL is not set, and there are several nodes: ${where}` };
  }
  const fault = (await faultOf(new OwnNode({ secrets, clock, url }), url, nodes)) ?? reachFault(url, machines);
  return fault === null ? `${url} answers as a node of this service` : { warning: `NODE_URL, ${url}, ${fault}` };
}

type Seen = Awaited<ReturnType<typeof nodesWithSessions>>;

/** Describes the fault of NODE_URL; null if there is none. */
async function faultOf(own: OwnNode, url: string, nodes: Seen): Promise<string | null> {
  const answers = new Set<string | null>();
  try {
    for (let n = 0; n < questions; n++) answers.add(await nodeAt(own, url, AbortSignal.timeout(timeoutMs)));
  } catch (error) {
    const { message, code = "", name } = error as NodeJS.ErrnoException;
    if (code === "EPROTO" || code.startsWith("ERR_SSL_"))
      return "begins with https, and what answers there speaks no TLS: is it an http address?";
    return `can't be reached (${name === "AbortError" ? `no answer within ${timeoutMs} ms` : message || code}): does the service run?`;
  }
  if (answers.has(null))
    return "is answered by another program, or by a service whose SECRETS_KEY, clock or release differs";
  if (answers.size > 1)
    return "is answered by several nodes: it must be the address of one node, not of a load balancer";
  const others = nodes.filter(({ node }) => !answers.has(node));
  if (others.some((other) => other.url === url)) return "is the address of another node, too";
  return others.some((other) => other.url === null)
    ? "is set here, but another node that has a session has no NODE_URL"
    : null;
}

/**
 * Describes the fault if NODE_URL leads only to this machine although nodes run on several machines; null otherwise.
 */
function reachFault(url: string, machines: number): string | null {
  const { hostname } = new URL(url);
  return isThisMachine(hostname) && machines > 1
    ? "leads to this machine only, and processes of this service run on several machines"
    : null;
}

/**
 * The number of machines whose nodes are connected to the database. Behind a pooler, all nodes seem to be on one
 * machine.
 */
async function machinesAt(db: Examined["db"]): Promise<number> {
  const [row] = await db.query<{ machines: number }>(sql`
    SELECT count(DISTINCT client_addr)::integer AS machines FROM pg_stat_activity
    WHERE datname = current_database() AND starts_with(application_name, ${nodePrefix})`);
  return row?.machines ?? 0;
}
