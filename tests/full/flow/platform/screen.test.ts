/** Tests of the start screen of the platform: every URL on it must work. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { startIdentityProvider } from "@ostiary/demo";
import postgres from "postgres";
import { atTestEnd } from "../../../support/at-test-end.ts";
import { type ProviderStandIn, signingKey, startProvider } from "../../../support/pages/provider-stand-in.ts";
import type { RunningProcess } from "../../../support/processes/start-process.ts";
import { freshDatabase } from "../../../support/stores/services.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { waitFor } from "../../../support/time/wait-for.ts";
import { startPlatform, startScreen } from "./bed.ts";

setDefaultTimeout(120_000);

const directory = temporaryFolder("screen");

/** Starts the platform, expects that every page on the start screen works, and returns the URLs by name. */
async function screen(env: Record<string, string>): Promise<Record<string, string>> {
  const DATA_DIR = join(directory, "data");
  const platform = await startPlatform({ DATA_DIR, DATABASE_URL: await freshDatabase(), ...env });
  const shown = await startScreen(platform);
  for (const page of ["route registry", "identity", "audit"]) {
    const answer = await fetch(shown[page] ?? "");
    const expected = shown[page]?.endsWith("/swagger") ? 200 : page === "route registry" ? 401 : 404;
    expect(answer.status).toBe(expected);
  }
  for (const name of ["what it serves", "console", "customer portal"]) {
    const page = shown[name]?.split(" ")[0];
    if (page !== undefined) expect((await fetch(page)).status).toBe(200);
  }
  expect((await fetch(`${shown.gateway}/nowhere`)).status).toBe(404);
  expect(platform.stdout.some((line) => line.startsWith("The tour"))).toBe("sample service" in shown);
  expect(platform.stdout).toContain(
    `       export REGISTRY_URL=${shown["route registry"]?.replace("/swagger", "")} ADMIN_TOKEN="$(cat '${DATA_DIR}/admin-token')"`,
  );
  expect(platform.stdout).toContain("       bun cli services");
  expect(await platform.stop("SIGINT")).toBe(0);
  expect(platform.stdout.filter((line) => line !== "" && !line.startsWith("{")).slice(-2)).toEqual([
    "Stopping once the requests in flight are answered ...",
    `Goodbye. The data is in the database of DATABASE_URL and in ${DATA_DIR}: bun start continues with it.`,
  ]);
  return shown;
}

/** The id of the advisory lock that projections wait for. */
const HELD = 7_312;

/**
 * Makes the registry wait in the projection of each service until the returned function is called. Until then, the
 * gateway serves none of the services.
 */
async function holdProjections(databaseUrl: string): Promise<() => Promise<void>> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  atTestEnd(() => sql.end());
  await sql.unsafe(`
    create function wait() returns trigger language plpgsql
      as $$ begin perform pg_advisory_xact_lock_shared(${HELD}); return new; end $$;
    create trigger wait before update on routes.services for each row
      when (new.fence = old.fence and new.projected_fence is distinct from old.projected_fence)
      execute function wait()`);
  await sql`select pg_advisory_lock(${HELD})`;
  return async () => {
    await sql`select pg_advisory_unlock(${HELD})`;
  };
}

/** Returns the environment of a new platform whose people come from this identity provider. */
const environmentWith = async ({ uri }: ProviderStandIn) => ({
  DATA_DIR: temporaryFolder("ready"),
  DATABASE_URL: await freshDatabase(),
  DEMO: "false",
  AUTH_ISSUER: new URL(uri).origin,
  AUTH_JWKS_URI: uri,
});

// OP-97
describe("the start screen appears", () => {
  const startWith = async (answer: (fetches: number) => Response | null) => {
    const key = await signingKey("ES256", "key");
    const provider = startProvider(key);
    provider.answer = () => answer(provider.fetches()) ?? Response.json({ keys: [key.jwk] });
    const platform = await startPlatform(await environmentWith(provider));
    await startScreen(platform);
    return {
      provider,
      platform,
      async stop() {
        await Promise.all([platform.stop(), provider.stop()]);
      },
    };
  };
  const failed = () => new Response(null, { status: 500 });

  test("when the gateway is ready, also after errors of the identity provider", async () => {
    const { provider, platform, stop } = await startWith((fetches) => (fetches <= 2 ? failed() : null));
    expect(provider.fetches()).toBe(3);
    expect(platform.stdout.join("\n")).not.toContain("is not ready");
    await stop();
  });

  /** Starts the platform with a portal. The gateway gets no route before `release` is called. */
  const startWithoutRoutes = async () => {
    const provider = startProvider(await signingKey("ES256", "key"));
    const env = await environmentWith(provider);
    await (await startPlatform(env)).stop();
    const release = await holdProjections(env.DATABASE_URL);
    const platform = await startPlatform({ ...env, PORTAL_CLIENT_ID: "portal" });
    atTestEnd(() => provider.stop());
    atTestEnd(() => platform.kill());
    return { platform, release };
  };
  const portalOf = async (platform: RunningProcess) =>
    fetch((await startScreen(platform))["customer portal"] ?? "");

  test("when the gateway serves all services, and not before", async () => {
    const { platform, release } = await startWithoutRoutes();
    // The platform asks the registry what its gateway serves.
    await waitFor(() => platform.logs().some(({ route }) => route === "/gateways"));
    expect(platform.stdout.join("\n")).not.toContain("Ostiary is ready");
    await release();
    expect((await portalOf(platform)).status).toBe(200);
    expect(platform.stdout.join("\n")).not.toContain("does not serve all published services");
    expect(await platform.stop()).toBe(0);
  });

  test("after ten seconds without the routes of a service, with the URL of the list of gateways", async () => {
    const { platform, release } = await startWithoutRoutes();
    expect((await portalOf(platform)).status).toBe(404);
    expect(platform.stdout.join("\n")).toMatch(
      /The gateway does not serve all published services yet: http:\S+\/gateways says /,
    );
    await release();
    expect(await platform.stop()).toBe(0);
  });

  test("after ten seconds without the provider's keys, with the URL of the failed readiness check", async () => {
    const { platform, stop } = await startWith(failed);
    const line = platform.stdout.find((each) => each.startsWith("The gateway is not ready: "));
    const [url = ""] = /http\S+/.exec(line ?? "") ?? [];
    const answer = await fetch(url);
    expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining("key_set")]);
    await stop();
  });
});

describe("the start screen", () => {
  // PT-7, PT-46
  test("names the portal with the operator's identity provider, but not with PORTAL_ENABLED=false", async () => {
    const provider = await startIdentityProvider({ host: "127.0.0.1", port: 0 });
    const own = { DEMO: "false", AUTH_ISSUER: provider.issuer, AUTH_JWKS_URI: provider.jwks_uri };
    const shown = await screen({ ...own, PORTAL_CLIENT_ID: "our-portal" });
    await provider.stop();
    expect(shown["customer portal"]).toMatch(/\/portal$/);
    const without = await screen({ PORTAL_ENABLED: "false" });
    expect(Object.keys(without)).not.toContain("customer portal");
    // Only the portal needs the edge description without a token, so without the portal a token is required.
    expect(without["what it serves"]).toEndWith("(asks for the admin token)");
  });

  // PT-7
  test("names every service, its page and the demo, also when HTTP_PROXY is set", async () => {
    const nowhere = "http://127.0.0.1:1";
    expect(await screen({ HTTP_PROXY: nowhere, http_proxy: nowhere, NO_PROXY: "example.com" })).toEqual({
      gateway: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      "customer portal": expect.stringMatching(/:\d+\/portal$/),
      "what it serves": expect.stringMatching(/:\d+\/edge$/),
      console: expect.stringMatching(/:\d+\/console \(asks for the admin token\)$/),
      "route registry": expect.stringMatching(/:\d+\/swagger$/),
      identity: expect.stringMatching(/:\d+\/swagger$/),
      audit: expect.stringMatching(/:\d+\/swagger$/),
      "identity provider": expect.stringMatching(/:\d+\/token\?subject=NAME \(a toy\)$/),
      "sample service": expect.stringMatching(/:\d+$/),
      "data and logs": join(directory, "data"),
    });
  });

  test("names only the services when the demo and the pages are disabled", async () => {
    const provider = await startIdentityProvider({ host: "127.0.0.1", port: 0 });
    const shown = await screen({
      DEMO: "false",
      SWAGGER_ENABLED: "false",
      CONSOLE_ENABLED: "false",
      AUTH_ISSUER: provider.issuer,
      AUTH_JWKS_URI: provider.jwks_uri,
    });
    await provider.stop();
    expect(Object.keys(shown)).toEqual(["gateway", "route registry", "identity", "audit", "data and logs"]);
    expect(shown["route registry"]).toMatch(/:\d+$/);
  });
});
