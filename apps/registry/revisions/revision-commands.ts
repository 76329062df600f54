import { validationError } from "@ostiary/lib/domain/errors";
import { validateService } from "@ostiary/lib/domain/routes";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { WritePermission } from "../operators/write-permission.ts";
import { requireRevision } from "../publishing/if-match.ts";
import { type Publishing, publish, type Writer } from "../publishing/publish.ts";
import { type CurrentService, nextRevision } from "../services/service.ts";
import { appendConfig, type ServiceWrite } from "../services/service-commands.ts";
import { readState } from "../services/service-sql.ts";
import { findRevision, readRevision } from "./revision-sql.ts";

/** Makes the config of an earlier revision current again, if it is valid by today's rules. */
export function restoreRevision(
  publishing: Publishing,
  name: string,
  restored_from: number,
  { ifMatch, author }: ServiceWrite,
): Promise<CurrentService> {
  const writes = () =>
    publishing.database.run("select_restored", async (orm) => {
      const found = await findRevision(orm, name, restored_from);
      const result = found === undefined ? undefined : validateService(name, found.config);
      return new Map(result?.ok ? [[name, result.service]] : []);
    });
  const change = async (tx: Orm, writer: Writer) => {
    await WritePermission.of(tx, author, new Map([[name, null]]));
    const state = await readState(tx, name);
    const { config: earlier } = await readRevision(tx, name, restored_from);
    requireRevision(ifMatch, state);
    if (earlier === null) throw nothingToRestore(restored_from);
    const result = validateService(name, earlier);
    if (!result.ok) throw validationError(result.fields);
    const config = result.service;
    const permission = await WritePermission.of(tx, author, new Map([[name, config]]), { isRestore: true });
    const revision = nextRevision(state);
    const written = { service: name, revision, action: "restore", restored_from, config } as const;
    return appendConfig(tx, written, { writer, permission });
  };
  return publish(publishing, { operation: "restore", writes, change });
}

function nothingToRestore(revision: number) {
  return validationError([
    {
      path: "rev",
      message: `Revision ${revision} deleted the service, so there is no config to restore: choose another revision.`,
    },
  ]);
}
