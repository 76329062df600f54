import type { Random } from "../../support/random.ts";
import type { BinaryTestServer } from "../../support/stores/binary-server.ts";
import type { System } from "../faults/system/system.ts";

const HOLD_MS = 400;
const BETWEEN_MS = 600;

interface Disturbance {
  readonly part: string;
  readonly way: "killed" | "frozen" | "restarted";
}

interface Part {
  readonly name: string;
  readonly server: BinaryTestServer;
  readonly ways: readonly [Disturbance["way"], ...Disturbance["way"][]];
}

/** Kills, freezes or restarts a random process. Resolves when the process runs again. */
export async function disturb(system: System, random: Random): Promise<Disturbance> {
  const { name, server, ways } = random.pick(partsOf(system));
  const way = random.pick(ways);
  switch (way) {
    case "killed":
      await server.kill();
      await server.start();
      break;
    case "restarted":
      await server.stop();
      await server.start();
      break;
    case "frozen":
      await server.freeze();
      await Bun.sleep(HOLD_MS);
      await server.thaw();
  }
  await Bun.sleep(BETWEEN_MS);
  return { part: name, way };
}

/**
 * Returns the processes to disturb. Redis is only frozen, because it would lose its counts if it were
 * restarted.
 */
function partsOf(system: System): [Part, ...Part[]] {
  const services = [...system.registries, ...system.identity, ...system.gateways].map(
    ({ name, server }): Part => ({ name, server, ways: ["killed", "frozen", "restarted"] }),
  );
  return [
    { name: "PostgreSQL", server: system.postgres.server, ways: ["killed", "frozen"] },
    { name: "Redis", server: system.redis.server, ways: ["frozen"] },
    { name: "etcd", server: system.etcd.server, ways: ["killed", "frozen"] },
    ...services,
  ];
}
