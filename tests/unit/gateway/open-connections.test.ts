import { afterAll, describe, expect, test } from "bun:test";
import { openConnections } from "../../../apps/gateway/edge/open-connections.ts";
import { waitFor } from "../../support/wait-for.ts";

const COUNT = 300;

describe.skipIf(process.platform !== "linux")("open connections", () => {
  const listen = () => Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const [server, other] = [listen(), listen()];
  const connect = ({ port }: { port: number }, count: number) =>
    Promise.all(
      Array.from({ length: count }, () =>
        Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {} } }),
      ),
    );
  afterAll(() => {
    server.stop(true);
    other.stop(true);
  });

  test("are those of the port that are still established", async () => {
    expect(await openConnections(server.port)).toBe(0);
    const [connections] = await Promise.all([connect(server, COUNT), connect(other, 7)]);
    expect(await openConnections(server.port)).toBe(COUNT);
    for (const connection of connections.slice(0, 100)) connection.end();
    await waitFor(async () => (await openConnections(server.port)) === COUNT - 100, {
      what: "the count to exclude the closed connections",
    });
    expect(await openConnections(other.port)).toBe(7);
  });
});
