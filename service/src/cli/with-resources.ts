import { existsSync } from "node:fs";
import { type Config, readConfig } from "../kernel/config/config.ts";
import { storedAddress } from "../kernel/platform/data-folder.ts";
import { isServiceError, ServiceError, StartupError } from "../kernel/platform/errors.ts";
import { openLog } from "../kernel/platform/logs.ts";
import type { Resources } from "../kernel/resources.ts";
import { openResources, root } from "../upkeep/resources.ts";

/**
 * The settings of the environment. Without BASE_URL and PORT, the default URL is replaced by the URL of the service
 * that last ran on the same data folder.
 */
function configOfService(): Config {
  const { env } = process;
  const config = readConfig(env, process.cwd(), root);
  const address = env["BASE_URL"] || env["PORT"] ? undefined : storedAddress(config.dataDir);
  return address === undefined ? config : readConfig({ ...env, BASE_URL: address }, process.cwd(), root);
}

/**
 * Runs a verb on the data of an installation, whether or not the service is running. When an item is not found, the
 * error names the searched data folder or database, because the item may be in another one.
 */
export async function withResources<T>(work: (resources: Resources) => Promise<T>): Promise<T> {
  const config = configOfService();
  // Without a named data folder, a command that runs in another folder would create a second installation there.
  const isNamed = process.env["DATA_DIR"] !== undefined || config.databaseUrl !== null;
  if (!isNamed && !existsSync(config.dataDir))
    throw new StartupError(
      `no installation in ${config.dataDir}: name its data folder as DATA_DIR, or start the service first`,
    );
  const resources = await openResources(config, openLog(process.env["LOG_LEVEL"] ? config.logLevel : "error"));
  try {
    return await work(resources);
  } catch (error) {
    if (!isServiceError(error, "not_found")) throw error;
    const where = config.databaseUrl === null ? config.dataDir : "the database of DATABASE_URL";
    throw new ServiceError("not_found", `${error.message.replace(/\.$/, "")} in ${where}.`);
  } finally {
    await resources.close();
  }
}
