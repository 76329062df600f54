import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { decodeDetails } from "@ostiary/lib/contracts/audit";
import { loadConfig, telemetryVariables } from "@ostiary/lib/runtime/config";
import { parseRolesFile } from "@ostiary/lib/runtime/config/roles-file";
import { type Database, openWithReads, query } from "@ostiary/lib/runtime/stores/database";
import { createTelemetry, type Telemetry } from "@ostiary/lib/runtime/telemetry";
import { Type } from "@sinclair/typebox";
import { createApp } from "../../../apps/identity/app.ts";
import { createDependencies, type Dependencies } from "../../../apps/identity/dependencies.ts";
import type { Peppers } from "../../../apps/identity/secret-hashes.ts";
import { validationLimits } from "../../../apps/identity/validations/validation-sql.ts";
import { duringTests } from "../../support/during-tests.ts";
import { waitFor } from "../../support/index.ts";
import { NO_PEPPERS } from "../../support/no-peppers.ts";
import { ROOT } from "../../support/root.ts";
import { migratedDatabases } from "../../support/stores/migrated-databases.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { type ManualClock, manualClock } from "../../support/time/manual-clock.ts";

const MIGRATIONS = join(ROOT, "drizzle/identity");
const newDatabase = migratedDatabases("identity", MIGRATIONS);
export const ISSUER = "https://login.example.com";
export const BRAND = "acme";

/** The default roles file of tests. */
export const ROLES = `
roles:
  owner: ["*"]
  admin: [org:write, org:members:write]
  member: [things:write]
  viewer: []
creator_role: owner
default_role: member
service_account_default_role: viewer
`;

export type Method = "GET" | "POST" | "PATCH" | "PUT" | "DELETE";

type Call = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<HttpResponse>;

/** An identity service whose handlers are called directly, without ports. It has its own database. */
export interface IdentityBed extends AsyncDisposable {
  readonly deps: Dependencies;
  readonly database: Database;
  readonly databaseUrl: string;
  readonly clock: ManualClock;
  /** Calls the handler of the public port. */
  call: Call;
  /** Calls the handler of the internal port. */
  internal: Call;
  /**
   * Starts another service on the same database, with this roles file (null for roles off) and these peppers.
   */
  restarted(roles: string | null, peppers?: Partial<Peppers>): Promise<IdentityBed>;
  /** Creates a person by validating a subject, new by default. Returns the person's id. */
  person(subject?: string): Promise<string>;
  /** Creates an organization with a new person as its owner. */
  organization(name?: string): Promise<{ id: string; owner: string; ownerMember: string }>;
  /** Adds a new person to an organization as a member. */
  member(organization_id: string, role?: string): Promise<{ id: string; user_id: string }>;
  validate(credential: string): Promise<unknown>;
  /** Runs one SQL statement on the service's database, and returns its rows. */
  sql(strings: TemplateStringsArray, ...values: unknown[]): Promise<Record<string, unknown>[]>;
  /** Returns all lifecycle events. */
  events(): Promise<LifecycleEvent[]>;
  /** Returns the service's log so far. */
  log(): Promise<string>;
  close(): Promise<void>;
}

export interface LifecycleEvent {
  id: string;
  type: string;
  organization_id: string;
  occurred_at: string;
  data: Record<string, unknown>;
}

interface IdentityOptions
  extends Partial<Pick<Dependencies, "apiKeyMaxAgeSeconds" | "organizationsPerPersonMax" | "defaultPlan">> {
  internalAuthToken?: string;
  /** The maximum number of connections in the service's pool. */
  poolMax?: number;
  /** The maximum number of queued writes of one organization. */
  laneWaitingMax?: number;
  /** The deadline of calls. By default, it is too long to pass on a busy machine. */
  deadlineMs?: number;
  /** The URL of an existing database. By default, a new one is created. */
  databaseUrl?: string;
}

/** Starts one identity service for all tests of a file or `describe`. */
export function useIdentity(options?: IdentityOptions): IdentityBed {
  return duringTests(() => startIdentity(options));
}

export async function startIdentity({
  databaseUrl: given,
  poolMax = 10,
  deadlineMs = 60_000,
  laneWaitingMax,
  internalAuthToken,
  ...settings
}: IdentityOptions = {}): Promise<IdentityBed> {
  const databaseUrl = given ?? (await newDatabase());
  const limits = {
    poolMax,
    deadlineMs,
    ...(laneWaitingMax !== undefined && { laneWaitingMax }),
  };
  const { database, reads, close } = await openWithReads(
    { DATABASE_URL: databaseUrl },
    { namespace: "identity", ...limits },
    validationLimits,
  );
  await database.migrate("identity", MIGRATIONS);
  const logFile = join(temporaryFolder("identity"), "identity.log");
  const config = loadConfig(Type.Object(telemetryVariables), { LOG_FILE: logFile, LOG_LEVEL: "debug" });
  const telemetries: Telemetry[] = [];
  const clock = manualClock();
  const end = async () => {
    await Promise.all(telemetries.map((each) => each.close()));
    await close();
  };
  const build: IdentityBed["restarted"] = async (roles, peppers = {}) => {
    const deps = createDependencies({
      apiKeyMaxAgeSeconds: null,
      organizationsPerPersonMax: 50,
      defaultPlan: null,
      ...settings,
      database,
      validations: reads,
      brand: BRAND,
      clock,
      peppers: { ...NO_PEPPERS, ...peppers },
      rolesFile: roles === null ? null : parseRolesFile(roles),
      random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
    });
    const telemetry = await createTelemetry({ name: "identity", namespace: "identity" }, config);
    telemetries.push(telemetry);
    const health = { draining: false };
    const app = createApp({ deps, telemetry, health, internalAuthToken, swaggerEnabled: true });
    const call: IdentityBed["call"] = async (method, path, body, headers) =>
      readResponse(await app.public(request(method, path, body, headers)));
    const internal: IdentityBed["internal"] = async (method, path, body, headers) =>
      readResponse(await app.internal(request(method, path, body, headers)));
    const person = async (subject: string = crypto.randomUUID()) => {
      const body = { idp: { issuer: ISSUER, subject } };
      // On a busy machine, a call is 503 if it waits too long for a connection.
      const validated = async () => {
        const response = await internal("POST", "/internal/credentials/validate", body);
        return response.status !== 503 && response;
      };
      const response = await waitFor(validated, { what: "the validation of a person" });
      return String(response.body.user_id);
    };
    return {
      deps,
      database,
      databaseUrl,
      clock,
      call,
      internal,
      person,
      restarted: build,
      close: end,
      [Symbol.asyncDispose]: end,
      sql: query(database, "test"),
      log: () => readFile(logFile, "utf8").catch(() => ""),
      async organization(name = "Acme") {
        const owner = await person();
        const created = await call("POST", `/users/${owner}/organizations`, { name });
        const id = String(created.body.id);
        return { id, owner, ownerMember: String(created.headers.get("x-platform-audit-member")) };
      },
      async member(organization_id, role) {
        const subject = crypto.randomUUID();
        const user_id = await person(subject);
        const body = { idp: { issuer: ISSUER, subject }, ...(role && { role }) };
        const added = await call("POST", `/organizations/${organization_id}/members`, body);
        return { id: String(added.body.id), user_id };
      },
      async validate(credential) {
        return (await internal("POST", "/internal/credentials/validate", { credential })).body;
      },
      async events() {
        const all: LifecycleEvent[] = [];
        for (let after = ""; ; after = `&starting_after=${all.at(-1)?.id}`) {
          const { body } = await internal("GET", `/internal/lifecycle-events?limit=500${after}`);
          all.push(...body.lifecycle_events);
          if (!body.has_more) return all;
        }
      },
    };
  };
  return build(ROLES);
}

function request(method: string, path: string, body?: unknown, headers?: Record<string, string>): Request {
  return new Request(`http://identity.test${path}`, {
    method,
    headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
    body: body === undefined || typeof body === "string" ? body : JSON.stringify(body),
  });
}

async function readResponse(response: Response) {
  const text = await response.text();
  const { headers } = response;
  const details = headers.get("x-platform-audit-details");
  return {
    status: response.status,
    headers,
    text,
    body: text === "" ? null : JSON.parse(text),
    /** The audit note in the response headers. */
    note: {
      details: details === null ? null : decodeDetails(details),
      created: headers.get("x-platform-audit-created"),
      organization_id: headers.get("x-platform-audit-organization"),
      member_id: headers.get("x-platform-audit-member"),
    },
  };
}

export type HttpResponse = Awaited<ReturnType<typeof readResponse>>;

/** Returns the paths of the fields that a 422 response names. */
export function wrongFields(response: HttpResponse): string[] {
  const { code, details } = response.body.error;
  if (code !== "VALIDATION_ERROR") throw new Error(`A VALIDATION_ERROR was expected, not ${response.text}`);
  return details.fields.map((field: { path: string }) => field.path);
}

export const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
export const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** A well-formed id that nobody has. */
export const NOBODY = "01KA4YB0Q9X3M5N7P8R2S6T1VW";
