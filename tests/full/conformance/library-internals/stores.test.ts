import { describe, expect } from "bun:test";
import { once } from "node:events";
import { connect } from "node:net";
import { Channel } from "@grpc/grpc-js";
import { type Orm, rows } from "@ostiary/lib/runtime/stores/database";
import { noop } from "cockatiel";
import { sql } from "drizzle-orm";
import { PgDatabase, pgTable, text } from "drizzle-orm/pg-core";
import { PostgresJsSession } from "drizzle-orm/postgres-js";
import { Etcd3, GRPCUnavailableError } from "etcd3";
import { Redis } from "ioredis";
import postgres from "postgres";
import { asOrm, asSql } from "../../../../lib/runtime/stores/database/orm.ts";
import { dialect, prepared } from "../../../../lib/runtime/stores/database/prepared.ts";
import { EtcdClient, readNothing } from "../../../../lib/runtime/stores/route-store/etcd-client.ts";
import {
  freePort,
  freshDatabase,
  rejection,
  services,
  startSilentServer,
  waitFor,
} from "../../../support/index.ts";
import { contract } from "./contract.ts";

const people = pgTable("people", { name: text().notNull() });

/** Returns drizzle on a fake client, which records all calls and returns one row for every statement. */
function recordingOrm() {
  const called = new Set<string>();
  const statements: unknown[][] = [];
  const unsafe = (...statement: unknown[]) => {
    statements.push(statement.slice(0, 2));
    return Object.assign(Promise.resolve([]), { values: async () => [["Ada"]] });
  };
  const client = new Proxy(
    { unsafe },
    {
      get(_, name) {
        called.add(String(name));
        return name === "unsafe" ? unsafe : undefined;
      },
    },
  );
  const session = new PostgresJsSession(asSql(client), dialect, undefined);
  const orm: Orm = asOrm(new PgDatabase(dialect, session, undefined));
  return { orm, called, statements };
}

contract("drizzle_client", async () => {
  const { orm, called } = recordingOrm();
  expect(await orm.select().from(people)).toEqual([{ name: "Ada" }]);
  await orm.insert(people).values({ name: "Ada" });
  await rows(orm, sql`select 1`);
  expect([...called]).toEqual(["unsafe"]);
});

contract("drizzle_prepared", async () => {
  const { orm, statements } = recordingOrm();
  const named = prepared((of) =>
    of
      .select({ name: people.name })
      .from(people)
      .where(sql`name = ${sql.placeholder("name")}`),
  );
  expect(await named(orm, { name: "Ada" })).toEqual([{ name: "Ada" }]);
  expect(statements).toEqual([[expect.stringContaining("name = $1"), ["Ada"]]]);
});

describe.if(services().postgres.real)("with a PostgreSQL server", () => {
  contract("postgres_socket", async () => {
    const url = new URL(await freshDatabase());
    const socket = connect({ host: url.hostname, port: Number(url.port) });
    await once(socket, "connect");
    let asked = 0;
    let closed = false;
    const options = {
      max: 1,
      onclose: () => {
        closed = true;
      },
      socket: () => {
        asked += 1;
        if (asked > 1) throw new Error("The socket is used.");
        return socket;
      },
    };
    const client = postgres(url.href, options);
    const answer = await client.unsafe("select pg_backend_pid() as pid");
    expect(answer.state.pid).toBe(answer[0]?.pid);
    expect([(await client.unsafe("begin")).command, (await client.unsafe("commit")).command]).toEqual([
      "BEGIN",
      "COMMIT",
    ]);
    socket.destroy();
    await waitFor(() => closed);
    expect(String(await rejection(client.unsafe("select 1")))).toContain("The socket is used.");
    expect(asked).toBe(2);
  });
});

contract("etcd3_faults", async () => {
  const client = new EtcdClient(`http://127.0.0.1:${freePort()}`, undefined);
  for (let call = 0; call < 8; call++) {
    expect(await rejection(readNothing(client, Date.now() + 5_000))).toBeInstanceOf(GRPCUnavailableError);
  }
  client.close();
});

contract("etcd3_channel", async () => {
  const closed: Channel[] = [];
  class Kept extends Channel {
    override close(): void {
      closed.push(this);
    }
    end(): void {
      super.close();
    }
  }
  const made: Kept[] = [];
  const client = new Etcd3({
    hosts: `http://127.0.0.1:${freePort()}`,
    faultHandling: { host: () => noop, global: noop },
    grpcOptions: {
      channelFactoryOverride(...options: ConstructorParameters<typeof Channel>) {
        made.push(new Kept(...options));
        return made.at(-1);
      },
    },
  });
  for (let calls = 1; calls <= 2; calls++) {
    await rejection(readNothing(client, Date.now() + 5_000));
    expect(closed).toEqual(made);
    expect(made).toHaveLength(calls);
  }
  for (const channel of made) channel.end();
});

contract("grpc_sockets", async () => {
  const silent = await startSilentServer();
  const client = new EtcdClient(silent.url, undefined);
  await rejection(client.connect(undefined, Date.now() + 500));
  expect(silent.connections()).toBe(1);
  client.close();
  await waitFor(() => silent.connections() === 0);
  await silent.close();
});

contract("ioredis_scripts", () => {
  const scripts = { countThings: { lua: "return 1", numberOfKeys: 1 } };
  const client = new Redis({ lazyConnect: true, scripts });
  expect(Reflect.get(client, "countThings")).toBeInstanceOf(Function);
  client.disconnect();
});
