import { notFound } from "@ostiary/lib/domain/errors";
import type { Roles, StoredServiceConfig } from "@ostiary/lib/domain/routes";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { type Author, WritePermission } from "../operators/write-permission.ts";
import { refuseConflicts } from "../publishing/conflicts.ts";
import { type IfMatch, requireRevision } from "../publishing/if-match.ts";
import { type Publishing, publish } from "../publishing/publish.ts";
import { refuseBrokenTests } from "../publishing/route-tests.ts";
import { appendRevisions, type NewRevision } from "../publishing/sql.ts";
import { type CurrentService, nextRevision } from "./service.ts";
import { readState } from "./sql.ts";

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
  return publish(publishing, "put", async (tx, fence) => {
    const permission = await WritePermission.of(tx, author, new Map([[name, config]]));
    const state = await readState(tx, name);
    requireRevision(ifMatch, state);
    const revision = nextRevision(state);
    const written = { service: name, revision, action: "put", restored_from: null, config } as const;
    return appendConfig(tx, written, { fence, permission, roles: publishing.roles });
  });
}

/** Appends a revision of one service, unless its config conflicts with other services or breaks a test. */
export async function appendConfig(
  tx: Orm,
  written: NewRevision & { config: StoredServiceConfig },
  { fence, permission, roles }: { fence: number; permission: WritePermission; roles: Roles },
): Promise<CurrentService> {
  const { service: name, revision, config } = written;
  const rewritten = new Map([[name, config]]);
  await refuseConflicts(tx, rewritten, () => "");
  await refuseBrokenTests(tx, { rewritten, roles }, () => "");
  await appendRevisions(tx, [written], { fence, permission });
  return { name, revision, config };
}

/** Appends a revision without a config, which deletes the service. Throws a 404 for a service that is not current. */
export function deleteService(
  publishing: Publishing,
  name: string,
  { ifMatch, author }: ServiceWrite,
): Promise<void> {
  return publish(publishing, "delete", async (tx, fence) => {
    const permission = await WritePermission.of(tx, author, new Map([[name, null]]));
    const state = await readState(tx, name);
    if (state === undefined || state.deleted) throw notFound("service", name);
    requireRevision(ifMatch, state);
    await refuseBrokenTests(tx, { rewritten: new Map([[name, null]]), roles: publishing.roles });
    const revision = nextRevision(state);
    const deleted = { service: name, revision, action: "delete", restored_from: null, config: null } as const;
    await appendRevisions(tx, [deleted], { fence, permission });
  });
}
