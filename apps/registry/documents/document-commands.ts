import type { Applied } from "@ostiary/lib/contracts/registry-api";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { type Author, WritePermission } from "../operators/write-permission.ts";
import { refuseConflicts } from "../publishing/conflicts.ts";
import { type ExpectedDryRun, requireDryRun } from "../publishing/if-match.ts";
import { type Publishing, publish, type Writer } from "../publishing/publish.ts";
import { appendRevisions, type Configs } from "../publishing/publishing-sql.ts";
import { nextRevision, type ServiceState } from "../services/service.ts";
import { readStates } from "../services/service-sql.ts";

/**
 * Creates or replaces all services of a document in one transaction. Throws a 412 if their current revisions differ
 * from `expected`.
 */
export function applyDocument(
  publishing: Publishing,
  configs: Configs,
  { expected, author }: { expected: ExpectedDryRun; author: Author },
): Promise<Applied> {
  const change = async (tx: Orm, { fence, refuseBrokenTests }: Writer) => {
    const permission = await WritePermission.of(tx, author, configs);
    const names = [...configs.keys()];
    const [states] = await Promise.all([readStates(tx, names), refuseConflicts(tx, configs)]);
    requireDryRun(expected, new Map(names.map((name) => [name, currentRevision(states.get(name))])));
    await refuseBrokenTests(configs);
    return appendAll(tx, configs, states, { fence, permission });
  };
  return publish(publishing, { operation: "apply", writes: () => configs, change });
}

function currentRevision(state: ServiceState | undefined): number | null {
  return state === undefined || state.deleted ? null : state.revision;
}

/** Applies only the services of a document that have no history. A deleted service has a history. */
export function seedDocument(publishing: Publishing, configs: Configs, request_id: string): Promise<Applied> {
  const readFresh = async (orm: Orm) => {
    const states = await readStates(orm, [...configs.keys()]);
    return { states, fresh: new Map([...configs].filter(([name]) => !states.has(name))) };
  };
  const change = async (tx: Orm, { fence, refuseBrokenTests }: Writer) => {
    const { states, fresh } = await readFresh(tx);
    if (fresh.size === 0) return { results: [] };
    const permission = await WritePermission.of(
      tx,
      { operator: null, request_id, reason: null, link: null },
      fresh,
    );
    await refuseConflicts(tx, fresh);
    await refuseBrokenTests(fresh);
    return appendAll(tx, fresh, states, { fence, permission });
  };
  const writes = async () => (await publishing.database.run("select_seeded", readFresh)).fresh;
  return publish(publishing, { operation: "seed", writes, change });
}

async function appendAll(
  tx: Orm,
  configs: Configs,
  states: ReadonlyMap<string, ServiceState>,
  write: { fence: number; permission: WritePermission },
): Promise<Applied> {
  const written = [...configs].map(([service, config]) => {
    const revision = nextRevision(states.get(service));
    return { service, revision, action: "apply", restored_from: null, config } as const;
  });
  await appendRevisions(tx, written, write);
  return { results: written.map(({ service, revision }) => ({ service, status: "upserted", revision })) };
}
