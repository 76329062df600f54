import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tourText } from "@ostiary/platform/tour";
import { services } from "../support/services.ts";
import { startStack } from "../support/stack.ts";
import { expectTour, runTour } from "./tour.ts";

const { postgres, redis, etcd } = services();

test.skipIf(!(postgres.real && redis.real && etcd.real))(
  "the tour holds on four processes with PostgreSQL, Redis and etcd",
  async () => {
    const directory = await mkdtemp(join(tmpdir(), "ostiary-tour-"));
    const stack = await startStack();
    try {
      const admin_token_file = join(directory, "admin-token");
      await Bun.write(admin_token_file, stack.admin_token);
      const text = tourText({
        gateway_url: stack.gateway.url,
        registry_url: stack.registry.url,
        identity_provider_url: stack.identity_provider_url,
        sample_service_url: stack.sample_service_url,
        admin_token_file,
      });
      expectTour(await runTour(text, directory));
      expect(await stack.close()).toEqual([0, 0, 0, 0]);
    } finally {
      await stack.close();
      await rm(directory, { recursive: true, force: true });
    }
  },
);
