import { type Database, openDatabase } from "../service/src/platform/database.ts";
import { openEmbeddedPostgres } from "../service/src/platform/postgres/embedded.ts";

/** The database of a data folder, beside the service that runs on it. `name` tells its connections from the service's. */
export async function databaseOf(dataDir: string, { poolSize = 4, name = "test" } = {}): Promise<Database> {
  const server = await openEmbeddedPostgres(dataDir);
  const db = openDatabase({ ...server.connection, application_name: name }, () => {}, { poolSize });
  return {
    ...db,
    close: async () => {
      await db.close();
      await server.release();
    },
  };
}
