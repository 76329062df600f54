import { afterAll, describe, expect, test } from "bun:test";
import { openConnections } from "../../../apps/gateway/edge/open-connections.ts";
import { waitFor } from "../../support/time/wait-for.ts";

const COUNT = 300;

describe.skipIf(process.platform !== "linux")("open connections", () => {
  const accepted: { end(): void }[] = [];
  const listen = () =>
    Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: { open: (socket) => void accepted.push(socket), data() {} },
    });
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

  /** Waits, since a connection of another test that opens or closes during a count can change its result. */
  const counts = (port: number, count: number) =>
    waitFor(async () => {
      expect(await openConnections(port)).toBe(count);
      return true;
    });

  test("are those of the port that neither side has closed", async () => {
    await counts(server.port, 0);
    const connections = await connect(server, COUNT);
    await counts(server.port, COUNT);
    for (const connection of connections.slice(0, 100)) connection.end();
    await counts(server.port, COUNT - 100);
    for (const connection of accepted.splice(0)) connection.end();
    await counts(server.port, 0);
    await connect(other, 7);
    await counts(server.port, 0);
    await counts(other.port, 7);
  });
});
