import { afterAll, beforeAll, expect } from "bun:test";
import { wireAudit } from "@ostiary/audit";
import { auditVariables } from "@ostiary/audit/config";
import { type Clock, unstalledClock } from "@ostiary/lib/async";
import { loadConfig } from "@ostiary/lib/runtime/config";
import { serve } from "@ostiary/lib/runtime/service";
import { type Database, openDatabase, query } from "@ostiary/lib/runtime/stores/database";
import { MIGRATIONS } from "../../../apps/audit/owner-database.ts";
import { exampleIntent } from "../../support/audit/example-intent.ts";
import { closing, duringTests, standInFor } from "../../support/during-tests.ts";
import { migratedDatabases } from "../../support/stores/migrated-databases.ts";

/** Makes databases with the tables of the audit service. */
export const newDatabase = migratedDatabases("audit", MIGRATIONS);

export interface AuditService extends AsyncDisposable {
  readonly url: string;
  readonly internalUrl: string;
  readonly databaseUrl: string;
  /** Sends a request to `/internal/<path>` on the internal port. A string body is sent unchanged. */
  send(method: string, path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  put(request_id: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  patch(request_id: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  postIntents(body: unknown): Promise<Response>;
  postOutcomes(body: unknown): Promise<Response>;
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  /** Returns one page of a log. Throws if the status is not 200. */
  list(path: string): Promise<{ audit_events: AuditEvent[]; has_more: boolean }>;
  /** Returns the event of a request. Reads the log of organization-1 unless `log` names another. */
  event(request_id: string, log?: string): Promise<AuditEvent | undefined>;
  stop(): Promise<void>;
}

/** An event in a response. Tests access its other fields without types. */
export type AuditEvent = Record<string, unknown> & { id: string; request_id: string };

export interface AuditServiceOptions {
  databaseUrl?: string;
  clock?: Clock;
  env?: Record<string, string>;
}

/** Starts the audit service in this process, on free ports and by default on a new database. */
export async function startAudit(options: AuditServiceOptions = {}): Promise<AuditService> {
  const databaseUrl = options.databaseUrl ?? (await newDatabase());
  const config = loadConfig(auditVariables, {
    HOST: "127.0.0.1",
    PORT: "0",
    INTERNAL_PORT: "0",
    LOG_FILE: "/dev/null",
    DATABASE_URL: databaseUrl,
    ...options.env,
  });
  const clock = options.clock ?? unstalledClock;
  const running = await serve(await wireAudit(config, { clock }), config);
  return auditClient(
    databaseUrl,
    `http://127.0.0.1:${running.port}`,
    `http://127.0.0.1:${running.internal_port}`,
    running.shutdown,
  );
}

/** A service that all tests of a file or a `describe` share. */
export interface SharedAudit extends AuditService {
  /** Stops the service, calls `between`, and starts the service again on the same database. */
  restart(between?: () => Promise<unknown>): Promise<void>;
}

/** Starts a service before all tests of the file or `describe`, and stops it after them. */
export function sharedAudit(options: AuditServiceOptions = {}, start = startAudit): SharedAudit {
  let audit: AuditService | undefined;
  beforeAll(async () => {
    audit = await start(options);
  });
  afterAll(() => audit?.stop());
  const restart: SharedAudit["restart"] = async (between) => {
    await audit?.stop();
    await between?.();
    audit = await start({ ...options, databaseUrl: audit?.databaseUrl });
  };
  return standInFor(() => audit && { ...audit, restart });
}

/** Returns a client of an audit service, which may run in this process or in another one. */
export function auditClient(
  databaseUrl: string,
  url: string,
  internalUrl: string,
  stop: () => Promise<void>,
): AuditService {
  const send: AuditService["send"] = (method, path, body, headers) =>
    fetch(`${internalUrl}/internal/${path}`, {
      method,
      headers: { "Content-Type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  const write = (method: string) => (request_id: string, body: unknown, headers?: Record<string, string>) =>
    send(method, `events/${encodeURIComponent(request_id)}`, body, headers);
  const get = (path: string, headers: Record<string, string> = {}) => fetch(`${url}${path}`, { headers });
  const list: AuditService["list"] = async (path) => {
    const response = await get(path);
    const body = await json(response);
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${JSON.stringify(body)}`);
    return body;
  };
  return {
    url,
    internalUrl,
    databaseUrl,
    send,
    put: write("PUT"),
    patch: write("PATCH"),
    postIntents: (body) => send("POST", "intents", body),
    postOutcomes: (body) => send("POST", "outcomes", body),
    get,
    list,
    async event(request_id, log = "/organizations/organization-1") {
      const { audit_events } = await list(`${log}/audit-events?request_id=${request_id}`);
      expect(audit_events.length).toBeLessThanOrEqual(1);
      return audit_events[0];
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Returns the URL path of an organization's events. */
export function logOf(organization_id: string): string {
  return `/organizations/${organization_id}/audit-events`;
}

/** Opens the database of a service that uses PostgreSQL, so that tests can send SQL that no service sends. */
export async function openLog({ databaseUrl }: AuditService): Promise<Database & AsyncDisposable> {
  return closing(await openDatabase(databaseUrl, { namespace: "audit" }));
}

/** Opens the database of a service, as {@link openLog} does, for all tests that share the service. */
export function sharedLog(audit: AuditService): Database {
  return duringTests(() => openLog(audit));
}

/** Opens a database, by default a new one, and creates the audit service's tables. Starts no service. */
export async function newLog(
  databaseUrl?: string,
  migrations = MIGRATIONS,
): Promise<Database & AsyncDisposable> {
  const log = await openDatabase(databaseUrl ?? (await newDatabase()), { namespace: "audit" });
  await log.migrate("audit", migrations);
  return closing(log);
}

/** Returns a template tag that runs one SQL statement on an open log and returns its rows. */
export const sqlOn =
  (log: Database) =>
  <Row = Record<string, unknown>>(strings: TemplateStringsArray, ...values: unknown[]): Promise<Row[]> =>
    query<Row>(log, "test")(strings, ...values);

/** Returns the intent of a request on an organization route, with `changes` applied. */
export function intent(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return { ...exampleIntent, occurred_at: new Date().toISOString(), ...changes };
}

/** Returns the intent of a request on a user route. */
export function userIntent(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return intent({
    organization_id: null,
    user_id: "user-1",
    actor: { member_id: null, auth_type: "jwt", key_prefix: null },
    ...changes,
  });
}

/** Returns the paths of the fields that a 422 response names. */
export async function wrongFields(response: Response): Promise<string[]> {
  const body = await json(response);
  if (response.status !== 422 || body.error?.code !== "VALIDATION_ERROR") {
    throw new Error(`Expected 422, got ${response.status} ${JSON.stringify(body)}`);
  }
  return body.error.details.fields.map(({ path }: { path: string }) => path);
}

/** Returns the parsed JSON body of a response. */
export async function json(response: Response) {
  return JSON.parse(await response.text());
}

let count = 0;

/** Returns a request id that no other test uses. */
export function requestId(): string {
  count += 1;
  return `request-${process.pid}-${count}`;
}
