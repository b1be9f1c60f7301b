import { execFileSync, spawnSync } from "node:child_process";
import { chownSync, existsSync, lchownSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { StartupError } from "../errors.ts";

/** The user under which the database server runs. PostgreSQL refuses to run as root, so root needs another user. */
export type ServerIdentity = {
  /** Changes a command so that it runs as this user. */
  wrap: (command: string, args: string[]) => { command: string; args: string[]; uid?: number; gid?: number };
  /** Makes this user the owner of a folder. */
  own: (folder: string) => void;
};

const asCaller: ServerIdentity = { wrap: (command, args) => ({ command, args }), own: () => {} };

// Runs the server in a user namespace, in which root is mapped to `nobody`. The server's files still belong to root.
// The server has no capabilities, but can access every folder of root.
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

/** The system's `postgres` user, cached; null when there is none. */
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

/** True if this process may create user namespaces. The test runs once. */
function hasUserNamespaces(): boolean {
  namespaces ??= succeeds("unshare", ["--user", "--map-user=65534", "--map-group=65534", "true"]);
  return namespaces;
}

/**
 * Chooses the user that runs the server. If the service runs as a normal user, the server runs as the same user. Root
 * uses the system's `postgres` user if that user can reach the program and the folder. Otherwise root uses a user
 * namespace without privileges. If a cluster exists, its owner decides: a cluster of root needs the namespace, a
 * cluster of another user needs `postgres`.
 * @throws StartupError when root can't use the one that the cluster needs or, without a cluster, can use neither
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
