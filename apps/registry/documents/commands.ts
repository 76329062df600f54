import type { Applied, Preview } from "@ostiary/lib/contracts/registry-api";
import { listChanges } from "@ostiary/lib/domain/routes";
import type { Operator } from "@ostiary/lib/runtime/config/operators-file";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { type Author, refuseMissing, WritePermission } from "../operators/write-permission.ts";
import { refuseConflicts } from "../publishing/conflicts.ts";
import { type ExpectedPreview, requirePreview } from "../publishing/if-match.ts";
import { type Publishing, publish } from "../publishing/publish.ts";
import { refuseBrokenTests } from "../publishing/route-tests.ts";
import { appendRevisions, type Configs } from "../publishing/sql.ts";
import { nextRevision, type ServiceState } from "../services/service.ts";
import { readServices, readStates } from "../services/sql.ts";

/**
 * Creates or replaces all services of a document in one transaction. Throws a 412 if their current revisions differ
 * from `expected`.
 */
export function applyDocument(
  publishing: Publishing,
  configs: Configs,
  { expected, author }: { expected: ExpectedPreview; author: Author },
): Promise<Applied> {
  return publish(publishing, "apply", async (tx, fence) => {
    const permission = await WritePermission.of(tx, author, configs);
    const names = [...configs.keys()];
    const [states] = await Promise.all([readStates(tx, names), refuseConflicts(tx, configs)]);
    requirePreview(expected, new Map(names.map((name) => [name, currentRevision(states.get(name))])));
    await refuseBrokenTests(tx, { rewritten: configs, roles: publishing.roles });
    return appendAll(tx, configs, states, { fence, permission });
  });
}

function currentRevision(state: ServiceState | undefined): number | null {
  return state === undefined || state.deleted ? null : state.revision;
}

/** Applies only the services of a document that have no history. A deleted service has a history. */
export function seedDocument(publishing: Publishing, configs: Configs, request_id: string): Promise<Applied> {
  return publish(publishing, "seed", async (tx, fence) => {
    const states = await readStates(tx, [...configs.keys()]);
    const fresh = new Map([...configs].filter(([name]) => !states.has(name)));
    if (fresh.size === 0) return { results: [] };
    const permission = await WritePermission.of(
      tx,
      { operator: null, request_id, reason: null, link: null },
      fresh,
    );
    await refuseConflicts(tx, fresh);
    await refuseBrokenTests(tx, { rewritten: fresh, roles: publishing.roles });
    return appendAll(tx, fresh, states, { fence, permission });
  });
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

/** Runs the checks of {@link applyDocument} against one snapshot, and returns what apply would change. */
export function previewDocument(
  { database, roles }: Pick<Publishing, "database" | "roles">,
  configs: Configs,
  operator: Operator | null,
): Promise<Preview> {
  const work = async (tx: Orm) => {
    await refuseMissing(tx, operator, configs);
    await refuseConflicts(tx, configs);
    await refuseBrokenTests(tx, { rewritten: configs, roles });
    const current = await readServices(tx, [...configs.keys()]);
    const results = [...configs].map(([service, config]) => {
      const before = current.get(service);
      const changes = listChanges(before?.config ?? null, config);
      const status = !before ? "created" : changes.length > 0 ? "changed" : "unchanged";
      return { service, status, revision: before?.revision ?? null, changes } as const;
    });
    return { results };
  };
  return database.transaction("plan_apply", work, { isolation: "repeatable read", readOnly: true });
}
