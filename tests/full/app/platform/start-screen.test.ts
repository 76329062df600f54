/** Tests of the start screen: every URL on it must work. */
import { expect, test } from "bun:test";
import { startIdentityProvider } from "@ostiary/demo";
import { startScreen } from "../../../../apps/platform/screen.ts";
import { productionSecrets, startPlatformHere } from "../../../app/platform/bed.ts";
import { freshDatabase } from "../../../support/stores/services.ts";

/** Starts the platform, expects that every page on the start screen works, and returns the places by name. */
async function shown(env: Record<string, string>): Promise<Record<string, string>> {
  await using platform = await startPlatformHere({ DATABASE_URL: await freshDatabase(), ...env });
  const text = startScreen(platform, platform.config, { start: "bun start", cli: "bun cli" }, 1_234);
  const places = Object.fromEntries(
    [...text.matchAll(/^ {2}(\S.*?) {2,}(\S.*)$/gm)].map(([, name = "", place = ""]) => [name, place]),
  );
  for (const page of ["route registry", "identity", "audit"]) {
    const { status } = await fetch(places[page] ?? "");
    const isPage = places[page]?.endsWith("/swagger");
    expect(status).toBe(isPage ? 200 : page === "route registry" ? 401 : 404);
  }
  for (const name of ["what it serves", "console", "customer portal"]) {
    const [page] = places[name]?.split(" ") ?? [];
    if (page !== undefined) expect((await fetch(page)).status).toBe(200);
  }
  expect((await fetch(`${places.gateway}/nowhere`)).status).toBe(404);
  expect(text.includes("The tour")).toBe("sample service" in places);
  const registryUrl = places["route registry"]?.replace("/swagger", "");
  expect(text.split("\n")).toContain(
    `       export REGISTRY_URL=${registryUrl} ADMIN_TOKEN="$(cat '${platform.adminTokenFile}')"`,
  );
  return places;
}

// PT-7, PT-46
test("the start screen names every service, its page, the portal and the demo", async () => {
  expect(await shown({})).toEqual({
    gateway: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    "customer portal": expect.stringMatching(/:\d+\/portal$/),
    "what it serves": expect.stringMatching(/:\d+\/edge$/),
    console: expect.stringMatching(/:\d+\/console \(asks for the admin token\)$/),
    "route registry": expect.stringMatching(/:\d+\/swagger$/),
    identity: expect.stringMatching(/:\d+\/swagger$/),
    audit: expect.stringMatching(/:\d+\/swagger$/),
    "identity provider": expect.stringMatching(/:\d+\/token\?subject=NAME \(a toy\)$/),
    "sample service": expect.stringMatching(/:\d+$/),
    "data and logs": expect.stringContaining("platform"),
  });
});

// PT-7, PT-46
test("the start screen leaves out the demo, the pages and the portal if they are off", async () => {
  const provider = await startIdentityProvider({ host: "127.0.0.1", port: 0 });
  const own = {
    ...(await productionSecrets()),
    DEMO: "false",
    AUTH_ISSUER: provider.issuer,
    AUTH_JWKS_URI: provider.jwks_uri,
  };
  const off = { ...own, SWAGGER_ENABLED: "false", CONSOLE_ENABLED: "false" };
  const places = await shown({ ...off, PORTAL_CLIENT_ID: "our-portal" });
  const named = ["gateway", "customer portal", "route registry", "identity", "audit", "data and logs"];
  expect(Object.keys(places)).toEqual(named);
  await provider.stop();
  const without = await shown({ PORTAL_ENABLED: "false", HOST: "::1" });
  expect(without.gateway).toMatch(/^http:\/\/\[::1\]:\d+$/);
  expect(Object.keys(without)).not.toContain("customer portal");
  // Only the portal needs the edge description without a token, so without the portal a token is required.
  expect(without["what it serves"]).toEndWith("(asks for the admin token)");
});
