import { afterAll, beforeAll, describe, setDefaultTimeout, test } from "bun:test";
import {
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
