import { afterAll, beforeAll, describe, setDefaultTimeout, test } from "bun:test";
import {
  freePort,
  services,
  startEtcd,
  startEtcdCluster,
  startSilentServer,
  type TestServer,
} from "../../support/index.ts";
import { requireUser } from "../../support/stores/etcd-users.ts";
import { expectAnswers } from "./answering-stores.ts";

setDefaultTimeout(120_000);

describe.if(services().etcd.own)("a route store with a working endpoint also works with another", () => {
  let server: TestServer;

  beforeAll(async () => {
    server = await startEtcd();
  });
  afterAll(() => server.close());

  test("that accepts connections and never responds", async () => {
    const silent = await startSilentServer();
    await expectAnswers(`${silent.url},${server.url}`);
    await silent.close();
  });

  test("where nothing listens, or whose host name is unknown", async () => {
    await expectAnswers(`http://127.0.0.1:${freePort()},http://no-such-name.invalid:2379,${server.url}`);
  });

  test("that never responds, when the URL has a user", async () => {
    const guarded = await startEtcd();
    await requireUser(guarded.url, "secret");
    const silent = await startSilentServer();
    const asUser = (url: string) => url.replace("//", "//root:secret@");
    // Few stores, because etcd is slow to check a password.
    await expectAnswers(`${asUser(silent.url)},${asUser(guarded.url)}`, 3);
    await silent.close();
    await guarded.close();
  });

  test("that speaks another protocol", async () => {
    const other = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("no etcd") });
    await expectAnswers(`${other.url.origin},${server.url}`);
    await other.stop(true);
  });
});

// OP-20
test.if(services().etcd.binary)(
  "a route store on three etcd nodes works while the leader is down",
  async () => {
    const cluster = await startEtcdCluster();
    await (await cluster.leader()).kill();
    await cluster.leader();
    await expectAnswers(cluster.url);
    await cluster.close();
  },
);
