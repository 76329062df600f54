import { type SQL, sql } from "drizzle-orm";
import { answerWithin } from "../deadline.ts";
import { observed } from "../observed.ts";
import type { StoreObserver } from "../observer.ts";
import type { Database, TransactionOptions } from "./database.ts";
import { applyMigrations } from "./migrations.ts";
import { type Orm, rows } from "./orm.ts";
import type { PgliteSession } from "./pglite-session.ts";
import { retryConflicts } from "./retry-conflicts.ts";

/**
 * PostgreSQL in this process. It has one session, so its users take turns: correct for any number of them,
 * fast for few.
 */
export class PgliteDatabase implements Database {
  readonly #session: PgliteSession;
  readonly #namespace: string;
  readonly #observer: StoreObserver;
  readonly #close: () => Promise<void>;

  constructor(
    session: PgliteSession,
    namespace: string,
    observer: StoreObserver,
    close = () => session.close(),
  ) {
    this.#session = session;
    this.#namespace = namespace;
    this.#observer = observer;
    this.#close = close;
  }

  scoped(namespace: string, observer: StoreObserver): Database {
    return new PgliteDatabase(this.#session, namespace, observer, async () => {});
  }

  run<T>(operation: string, work: (orm: Orm) => Promise<T>): Promise<T> {
    return this.#observed(operation, () => this.#session.use(work));
  }

  transaction<T>(operation: string, work: (tx: Orm) => Promise<T>, options?: TransactionOptions): Promise<T> {
    const transact = () =>
      this.#session.use((orm) =>
        orm.transaction((tx) => this.#session.unit.enter(() => work(tx)), {
          isolationLevel: options?.isolation,
          accessMode: options?.read_only ? "read only" : "read write",
        }),
      );
    return this.#observed(operation, async () => {
      this.#session.unit.refuseNesting();
      return this.#session.inLane(options?.lane, () => retryConflicts(transact));
    });
  }

  /**
   * The cursor is declared WITH HOLD, which keeps a copy of the rows in the session, so that others take
   * their turns between two batches.
   */
  async *stream<Row>(
    operation: string,
    statement: SQL,
    batch_rows: number,
  ): AsyncGenerator<Row[], void, void> {
    const cursor = sql.identifier(this.#session.nextCursorName());
    const fetch = sql`fetch ${sql.raw(String(batch_rows))} from ${cursor}`;
    await this.run(operation, (orm) =>
      rows(orm, sql`declare ${cursor} no scroll cursor with hold for ${statement}`),
    );
    try {
      for (;;) {
        const batch = await this.run(operation, (orm) => rows<Row>(orm, fetch));
        if (batch.length > 0) yield batch;
        if (batch.length < batch_rows) return;
      }
    } finally {
      await this.run(operation, (orm) => rows(orm, sql`close ${cursor}`));
    }
  }

  migrate(schema: string, folder: string): Promise<void> {
    return this.#observed("migrate", () =>
      this.#session.use((orm) => orm.transaction((tx) => applyMigrations(tx, schema, folder))),
    );
  }

  async ping(timeout_ms: number): Promise<void> {
    const answer = this.#session.use((orm) => rows(orm, sql`select 1`));
    await answerWithin(timeout_ms, "database", answer);
  }

  close(): Promise<void> {
    return this.#close();
  }

  #observed<T>(operation: string, work: () => Promise<T>): Promise<T> {
    return observed(this.#observer, { system: "postgresql", operation, namespace: this.#namespace }, work);
  }
}
