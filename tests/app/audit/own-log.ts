import { restartChain } from "@ostiary/audit/restart";
import { loadLogKeys } from "@ostiary/audit/signing-keys";
import { systemClock } from "@ostiary/lib/async";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { Verdict, VerifyGiven } from "@ostiary/lib/verification";
import { makePartitions } from "../../../apps/audit/events/partitions-sql.ts";
import { proofChunks } from "../../../apps/audit/proof/index.ts";
import type { PassDeps } from "../../../apps/audit/proof/seal/pass-deps.ts";
import { sealAll } from "../../../apps/audit/proof/seal/seal-all.ts";
import { atTestEnd } from "../../support/at-test-end.ts";
import { newDatabase, newLog, sqlOn } from "./bed.ts";
import {
  type ProofExport,
  readExport,
  tamperWith,
  verifierKeyOf,
  verify,
  writeSigningKey,
} from "./proof-bed.ts";
import { passDeps, writePast } from "./retention-bed.ts";

/** Opens a log, and closes it after the current test. */
export async function ownLog(): Promise<OwnLog> {
  const log = await OwnLog.open();
  atTestEnd(() => log[Symbol.asyncDispose]());
  return log;
}

/** Returns a database that calls these functions in place of its own. */
export function databaseWith(database: Database, replaced: Partial<Database>): Database {
  return new Proxy(database, {
    get(target, name) {
      const value = Reflect.get(name in replaced ? replaced : target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** A log that a test seals pass by pass, without a service and without waiting. */
export class OwnLog implements AsyncDisposable {
  readonly url: string;
  readonly database: Database & AsyncDisposable;
  keyFile: string;
  origin = "ostiary/audit-log";
  /** The connections and the memory of the process that seals. */
  deps: PassDeps;

  private constructor(url: string, database: Database & AsyncDisposable, keyFile: string, deps: PassDeps) {
    this.url = url;
    this.database = database;
    this.keyFile = keyFile;
    this.deps = deps;
  }

  static async open(): Promise<OwnLog> {
    const url = await newDatabase();
    const database = await newLog(url);
    await makePartitions(database, Date.now());
    const keyFile = writeSigningKey();
    return new OwnLog(url, database, keyFile, await passDeps(database, keyFile));
  }

  /** Continues as another process, which knows nothing of the log yet. */
  async restart({ keyFile = this.keyFile, origin = this.origin } = {}): Promise<void> {
    this.keyFile = keyFile;
    this.origin = origin;
    this.deps = await passDeps(this.database, keyFile, origin);
  }

  get key(): string {
    return verifierKeyOf(this.keyFile, this.origin);
  }

  get sql() {
    return sqlOn(this.database);
  }

  /** Writes events of an organization. All except the last get an outcome. Returns their ids. */
  write(count: number, organization = "organization-1", at = new Date().toISOString()): Promise<string[]> {
    return writePast(this.database, organization, at, count);
  }

  /** Seals everything, by default now, and rechecks logs that were left out. */
  async seal(at?: string): Promise<void> {
    const clock = at === undefined ? systemClock : { ...systemClock, now: () => Date.parse(at) };
    await sealAll({ ...this.deps, clock });
  }

  /** Writes and seals `count` events of an organization. */
  async sealed(count: number, organization?: string, at?: string): Promise<string[]> {
    const ids = await this.write(count, organization, at);
    await this.seal(at);
    return ids;
  }

  /** Returns an export with proof. Rejects when an event is not sealed. */
  async proof(id = "organization-1", root: number | null = null): Promise<ProofExport> {
    const keys = ((await loadLogKeys(this.keyFile, this.origin)) ?? []).map((each) => each.key);
    const given = { ...this.deps, keys, waitMsMax: 0, cosigned: null };
    const chunks = proofChunks(given, { kind: "organization", id }, root, new AbortController().signal);
    return readExport((await Array.fromAsync(chunks)).join(""));
  }

  /** Verifies an export of an organization's log with the log's key. */
  async verdict(id?: string, given?: Partial<VerifyGiven>, root?: number): Promise<Verdict> {
    return verify((await this.proof(id, root)).text, this.key, given);
  }

  /** Restarts the log of an organization, as `ostiary audit restart --owner` does. */
  restartOwner(id: string): Promise<{ from: number; to: number }> {
    return restartChain(this.deps, `organization:${id}`);
  }

  tamper(statements: string): Promise<void> {
    return tamperWith(this.database, statements);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.database.close();
  }
}
