import type { DryRun } from "@ostiary/lib/contracts/registry-api";
import { listChanges } from "@ostiary/lib/domain/routes";
import type { Operator } from "@ostiary/lib/runtime/config/operators-file";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { refuseMissing } from "../operators/write-permission.ts";
import { refuseConflicts } from "../publishing/conflicts.ts";
import type { Publishing } from "../publishing/publish.ts";
import type { Configs } from "../publishing/publishing-sql.ts";
import { RouteTestCheck, type TestedRoutes } from "../publishing/route-tests.ts";
import { readServices } from "../services/service-sql.ts";

/** Runs the checks of an apply against one snapshot, and returns what the apply would change. */
export async function dryRunDocument(
  publishing: Pick<Publishing, "database" | keyof TestedRoutes>,
  configs: Configs,
  operator: Operator | null,
): Promise<DryRun> {
  const check = await RouteTestCheck.of(publishing, configs);
  const work = async (tx: Orm) => {
    await refuseMissing(tx, operator, configs);
    await refuseConflicts(tx, configs);
    await check.refuseBroken(tx, configs, { isLast: true });
    const current = await readServices(tx, [...configs.keys()]);
    const results = [...configs].map(([service, config]) => {
      const before = current.get(service);
      const changes = listChanges(before?.config ?? null, config);
      const status = !before ? "created" : changes.length > 0 ? "changed" : "unchanged";
      return { service, status, revision: before?.revision ?? null, changes } as const;
    });
    return { results };
  };
  const { database } = publishing;
  return database.transaction("plan_apply", work, { isolation: "repeatable read", readOnly: true });
}
