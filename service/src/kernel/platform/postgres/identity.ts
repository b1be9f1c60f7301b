import { execFileSync, spawnSync } from "node:child_process";
import { chownSync, existsSync, lchownSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { StartupError } from "../errors.ts";

/** How the database server is started: PostgreSQL refuses to run as root. */
export type ServerIdentity = {
  /** Prepends what a command needs to run under this identity. */
  wrap: (command: string, args: string[]) => { command: string; args: string[]; uid?: number; gid?: number };
  /** Gives a folder to the identity. */
  own: (folder: string) => void;
};

const asCaller: ServerIdentity = { wrap: (command, args) => ({ command, args }), own: () => {} };

// Root mapped to `nobody` in a user namespace: files stay root's, no capability is left, any folder of root's is reachable.
const namespaced: ServerIdentity = {
  wrap: (command, args) => ({
    command: "unshare",
    args: ["--user", "--map-user=65534", "--map-group=65534", "--", command, ...args],
  }),
  own: () => {},
};

function asUser(uid: number, gid: number): ServerIdentity {
  return {
    wrap: (command, args) => ({ command, args, uid, gid }),
    own: (folder) => giveTo(folder, uid, gid),
  };
}

function giveTo(path: string, uid: number, gid: number): void {
  chownSync(path, uid, gid);
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const child = join(path, entry.name);
    if (entry.isDirectory()) giveTo(child, uid, gid);
    else lchownSync(child, uid, gid);
  }
}

const succeeds = (command: string, args: string[], as: { uid?: number; gid?: number } = {}): boolean =>
  spawnSync(command, args, { stdio: "ignore", ...as }).status === 0;

let postgres: { uid: number; gid: number } | null | undefined;

/** Asked of the system once. */
function postgresUser(): { uid: number; gid: number } | null {
  if (postgres === undefined) postgres = findPostgresUser();
  return postgres;
}

function findPostgresUser(): { uid: number; gid: number } | null {
  try {
    const id = (flag: string) =>
      Number(execFileSync("id", [flag, "postgres"], { stdio: ["ignore", "pipe", "ignore"] }));
    return { uid: id("-u"), gid: id("-g") };
  } catch {
    return null;
  }
}

let namespaces: boolean | undefined;

/** Asked of the system once. */
function hasUserNamespaces(): boolean {
  namespaces ??= succeeds("unshare", ["--user", "--map-user=65534", "--map-group=65534", "true"]);
  return namespaces;
}

/**
 * Chooses the identity: the caller's own, or for root the system's `postgres` user where it can reach program and
 * folder, else a user namespace without privileges. A cluster that exists keeps the identity that made it.
 * @throws StartupError when root has neither.
 */
export function serverIdentity(program: string, folder: string, cluster: string): ServerIdentity {
  if (process.getuid?.() !== 0) return asCaller;
  const user = postgresUser();
  const owner = existsSync(cluster) ? statSync(cluster).uid : null;
  if (user && owner !== 0) {
    const reaches = succeeds(program, ["--version"], user) && succeeds("test", ["-x", folder], user);
    if (reaches) return asUser(user.uid, user.gid);
  }
  if ((owner === null || owner === 0) && hasUserNamespaces()) return namespaced;
  throw new StartupError(
    `PostgreSQL does not run as root, and the user 'postgres' cannot reach ${folder} or ${program}: start as another user, move the checkout and DATA_DIR out of private folders, or set DATABASE_URL`,
  );
}
