import type { RevisionAction } from "@ostiary/lib/contracts/registry-api";
import {
  ApiError,
  FIELD_ERRORS_MAX,
  type FieldError,
  notFound,
  validationError,
} from "@ostiary/lib/domain/errors";
import {
  findPolicyConflicts,
  findRouteConflicts,
  type RouteConflict,
  type StoredServiceConfig,
  validateService,
} from "@ostiary/lib/domain/routes";
import type { Database, Orm } from "@ostiary/lib/runtime/stores/database";
import { readRevision } from "../revisions/queries.ts";
import { type Precondition, requireRevision } from "./precondition.ts";
import {
  appendRevisions,
  becomeWriter,
  type NewRevision,
  otherOwners,
  otherPolicies,
  type Standing,
  standingsOf,
  WRITERS_LANE,
} from "./queries.ts";

/** Who writes: the request, for the history. */
export interface WriteContext {
  request_id: string;
}

/** What a write made current. */
export interface Written {
  service: string;
  revision: number;
  config: StoredServiceConfig;
}

type Configs = ReadonlyMap<string, StoredServiceConfig>;

/**
 * Every write of desired state. Each is one transaction that has waited for all writers before it, so what it
 * finds of other services still holds when it commits: two services never own one route, nor disagree on a
 * shared policy (Gateway specification, rules 10 and 11). `onCommit` is told after each; it must not wait.
 */
export class Publisher {
  readonly #database: Database;
  readonly #onCommit: () => void;

  constructor(deps: { database: Database; onCommit: () => void }) {
    this.#database = deps.database;
    this.#onCommit = deps.onCommit;
  }

  /** Creates or replaces the services of a valid document, all or none. */
  apply(configs: Configs, context: WriteContext): Promise<Written[]> {
    return this.#write("apply", async (tx, fence) => {
      const standings = await standingsOf(tx, [...configs.keys()]);
      await this.refuseConflicts(tx, configs);
      return this.#append(tx, configs, standings, { action: "apply", restored_from: null }, fence, context);
    });
  }

  /** As {@link apply}, for those services that have no history at all, deleted ones included. */
  seed(configs: Configs, context: WriteContext): Promise<Written[]> {
    return this.#write("seed", async (tx, fence) => {
      const known = await standingsOf(tx, [...configs.keys()]);
      const fresh = new Map([...configs].filter(([name]) => !known.has(name)));
      if (fresh.size === 0) return [];
      await this.refuseConflicts(tx, fresh);
      return this.#append(tx, fresh, known, { action: "apply", restored_from: null }, fence, context);
    });
  }

  /** Creates or replaces one service. */
  put(
    name: string,
    config: StoredServiceConfig,
    precondition: Precondition,
    context: WriteContext,
  ): Promise<Written> {
    return this.#write("put", async (tx, fence) => {
      const standings = await standingsOf(tx, [name]);
      requireRevision(precondition, standings.get(name));
      const configs = new Map([[name, config]]);
      await this.refuseConflicts(tx, configs, () => "");
      return only(
        await this.#append(tx, configs, standings, { action: "put", restored_from: null }, fence, context),
      );
    });
  }

  /** Appends a tombstone; 404 for a service that is not current. */
  delete(name: string, precondition: Precondition, context: WriteContext): Promise<void> {
    return this.#write("delete", async (tx, fence) => {
      const standing = (await standingsOf(tx, [name])).get(name);
      if (standing === undefined || standing.deleted) throw notFound("service", name);
      requireRevision(precondition, standing);
      const revision = standing.revision + 1;
      const tombstone = {
        service: name,
        revision,
        action: "delete",
        restored_from: null,
        config: null,
      } as const;
      await appendRevisions(tx, [tombstone], { fence, ...context });
    });
  }

  /** Makes the config of an earlier revision current again, if today's rules allow it. */
  restore(name: string, target: number, precondition: Precondition, context: WriteContext): Promise<Written> {
    return this.#write("restore", async (tx, fence) => {
      const standings = await standingsOf(tx, [name]);
      const revision = await readRevision(tx, name, target);
      requireRevision(precondition, standings.get(name));
      if (revision.config === null) throw restoresNothing(target);
      const result = validateService(name, revision.config);
      if (!result.ok) throw validationError(result.fields);
      const configs = new Map([[name, result.service]]);
      await this.refuseConflicts(tx, configs, () => "");
      return only(
        await this.#append(
          tx,
          configs,
          standings,
          { action: "restore", restored_from: target },
          fence,
          context,
        ),
      );
    });
  }

  /** Refuses what collides with services that are not in `configs`: 422 for policies, 409 for routes. */
  async refuseConflicts(orm: Orm, configs: Configs, pathPrefix?: (service: string) => string): Promise<void> {
    const declared = await otherPolicies(orm, configs);
    const others = declared.map(
      ({ service, name, requests, window_seconds, shared }) =>
        [service, { url: "", rate_limits: { [name]: { requests, window_seconds, shared } } }] as const,
    );
    const disagreements: FieldError[] = findPolicyConflicts(configs, others, pathPrefix);
    if (disagreements.length > 0) throw validationError(disagreements);
    const owned = await otherOwners(orm, configs);
    const conflicts = findRouteConflicts(configs, owned);
    if (conflicts.length > 0) throw routeConflict(conflicts);
  }

  async #write<T>(operation: string, work: (tx: Orm, fence: number) => Promise<T>): Promise<T> {
    const result = await this.#database.transaction(
      operation,
      async (tx) => work(tx, await becomeWriter(tx)),
      { lane: WRITERS_LANE },
    );
    this.#onCommit();
    return result;
  }

  async #append(
    tx: Orm,
    configs: Configs,
    standings: ReadonlyMap<string, Standing>,
    origin: { action: Exclude<RevisionAction, "delete">; restored_from: number | null },
    fence: number,
    { request_id }: WriteContext,
  ): Promise<Written[]> {
    const written = [...configs].map(([service, config]) => ({
      service,
      revision: (standings.get(service)?.revision ?? 0) + 1,
      config,
    }));
    const revisions: NewRevision[] = written.map((entry) => ({ ...entry, ...origin }));
    await appendRevisions(tx, revisions, { fence, request_id });
    return written;
  }
}

function only(written: readonly Written[]): Written {
  const [first] = written;
  if (first === undefined) throw new Error("A write of one service wrote none.");
  return first;
}

function restoresNothing(target: number): ApiError {
  return validationError([
    {
      path: "rev",
      message: `Revision ${target} deleted the service, so there is no config to restore: choose another revision.`,
    },
  ]);
}

function routeConflict(conflicts: readonly RouteConflict[]): ApiError {
  const shown = conflicts.slice(0, FIELD_ERRORS_MAX);
  const sentences = shown.map(({ method, path, owner, owner_path }) => {
    const as = owner_path === path ? "" : ` as ${owner_path}`;
    return `${method} ${path} belongs to service ${owner}${as}`;
  });
  const more = conflicts.length - shown.length;
  return new ApiError("ROUTE_CONFLICT", {
    message: `${sentences.join("; ")}${more > 0 ? `; and ${more} more` : ""}. Nothing was written.`,
    details: { conflicts: shown },
  });
}
