import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { type TourPlaces, tourText } from "@ostiary/platform/tour";
import { startStack } from "../../support/processes/stack.ts";
import { services } from "../../support/stores/services.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { expectTour, takeTour } from "./tour.ts";

setDefaultTimeout(60_000);

const { postgres, redis, etcd } = services();

test.skipIf(!(postgres.real && redis.real && etcd.real))(
  "the tour works with the four services as processes, PostgreSQL, Redis and etcd",
  async () => {
    const directory = temporaryFolder("tour");
    const stack = await startStack();
    try {
      const adminTokenFile = join(directory, "admin-token");
      await Bun.write(adminTokenFile, stack.adminToken);
      const text = patientTour({
        gatewayUrl: stack.gateway.url,
        registryUrl: stack.registry.url,
        identityProviderUrl: stack.identityProviderUrl,
        sampleServiceUrl: stack.sampleServiceUrl,
        adminTokenFile,
      });
      expectTour(await takeTour(text));
      expect(await stack.close()).toEqual([0, 0, 0, 0]);
    } finally {
      await stack.close();
    }
  },
);

/**
 * Returns the tour with a wait before each call of a route that was just published or deleted. With etcd, a
 * gateway learns of the change some milliseconds after the registry's response.
 */
function patientTour(places: TourPlaces): string {
  const call = 'curl -s -w "$SHOW" "$GATEWAY/tour/two"';
  const statuses = ["200", "404"];
  return tourText(places).replaceAll(call, () => `${waitForStatus(statuses.shift() ?? "")}\n${call}`);
}

function waitForStatus(status: string): string {
  return `for try in $(seq 500); do [ "$(curl -s -o /dev/null -w '%{http_code}' "$GATEWAY/tour/two")" = ${status} ] && break; done`;
}
