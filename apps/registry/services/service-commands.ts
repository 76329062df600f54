import { notFound } from "@ostiary/lib/domain/errors";
import type { StoredServiceConfig } from "@ostiary/lib/domain/routes";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { type Author, WritePermission } from "../operators/write-permission.ts";
import { refuseConflicts } from "../publishing/conflicts.ts";
import { type IfMatch, requireRevision } from "../publishing/if-match.ts";
import { type Publishing, publish, type Writer } from "../publishing/publish.ts";
import { appendRevisions, type NewRevision } from "../publishing/publishing-sql.ts";
import { type CurrentService, nextRevision } from "./service.ts";
import { readState } from "./service-sql.ts";

/** A write's precondition and its author. */
export interface ServiceWrite {
  ifMatch: IfMatch;
  author: Author;
}

/** Creates or replaces a service with a valid config. */
export function putService(
  publishing: Publishing,
  name: string,
  config: StoredServiceConfig,
  { ifMatch, author }: ServiceWrite,
): Promise<CurrentService> {
  const writes = new Map([[name, config]]);
  const change = async (tx: Orm, writer: Writer) => {
    const permission = await WritePermission.of(tx, author, writes);
    const state = await readState(tx, name);
    requireRevision(ifMatch, state);
    const revision = nextRevision(state);
    const written = { service: name, revision, action: "put", restored_from: null, config } as const;
    return appendConfig(tx, written, { writer, permission });
  };
  return publish(publishing, { operation: "put", writes: () => writes, change });
}

/** Appends a revision of one service, unless its config conflicts with other services or breaks a test. */
export async function appendConfig(
  tx: Orm,
  written: NewRevision & { config: StoredServiceConfig },
  { writer, permission }: { writer: Writer; permission: WritePermission },
): Promise<CurrentService> {
  const { service: name, revision, config } = written;
  const rewritten = new Map([[name, config]]);
  await refuseConflicts(tx, rewritten, () => "");
  await writer.refuseBrokenTests(rewritten, () => "");
  await appendRevisions(tx, [written], { fence: writer.fence, permission });
  return { name, revision, config };
}

/** Appends a revision without a config, which deletes the service. Throws a 404 for a service that is not current. */
export function deleteService(
  publishing: Publishing,
  name: string,
  { ifMatch, author }: ServiceWrite,
): Promise<void> {
  const writes = new Map([[name, null]]);
  const change = async (tx: Orm, { fence, refuseBrokenTests }: Writer) => {
    const permission = await WritePermission.of(tx, author, writes);
    const state = await readState(tx, name);
    if (state === undefined || state.deleted) throw notFound("service", name);
    requireRevision(ifMatch, state);
    await refuseBrokenTests(writes);
    const revision = nextRevision(state);
    const deleted = { service: name, revision, action: "delete", restored_from: null, config: null } as const;
    await appendRevisions(tx, [deleted], { fence, permission });
  };
  return publish(publishing, { operation: "delete", writes: () => writes, change });
}
