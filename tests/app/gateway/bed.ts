import { afterAll, afterEach, beforeAll, beforeEach } from "bun:test";
import type { StoredServiceConfig } from "@ostiary/lib/domain/routes";
import { duringTests } from "../../support/during-tests.ts";
import { type LocalGateway, startLocalGateway } from "../../support/gateway/gateway.ts";
import { OK, RawUpstream, type RawUpstreamOptions } from "../../support/http/raw-http.ts";

/** Starts a gateway for all tests of a file or `describe`, and publishes services. */
export function useGateway(
  env: Record<string, string> = {},
  services: () => Record<string, StoredServiceConfig> = () => ({}),
): LocalGateway {
  return duringTests(async () => {
    const gateway = await startLocalGateway(env);
    await gateway.publish(services());
    return gateway;
  });
}

/** Starts a service that returns {@link OK}, for all tests of a file. Each test starts without requests and sockets. */
export function useService(options: RawUpstreamOptions = {}): RawUpstream {
  const service = new RawUpstream(() => OK, options);
  beforeEach(() => {
    service.requests.length = 0;
    for (const socket of service.sockets.splice(0)) socket.destroy();
    service.handler = () => OK;
  });
  afterAll(() => service.close());
  return service;
}

interface Bed {
  start(): Promise<unknown>;
  reset(): void | Promise<void>;
  close(): Promise<void>;
}

/** Starts a bed for all tests of a file, and resets it after each test. */
export function useBed<Given extends Bed>(bed: Given): Given {
  beforeAll(() => bed.start());
  afterEach(() => bed.reset());
  afterAll(() => bed.close());
  return bed;
}
