import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { Spec, Validation } from "@cyclonedx/cyclonedx-library";
import { freePort } from "../support/free-port.ts";
import { audit } from "./audit.ts";
import { billOfMaterials } from "./bill-of-materials.ts";
import { foreignPackages, installedPackages, shippedApps } from "./packages.ts";

setDefaultTimeout(60_000);

/** The shipped packages of others, with their licenses and known vulnerabilities. */
describe("the bill of materials", () => {
  test("follows the schema of CycloneDX 1.6 to the letter", async () => {
    const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6);
    expect(await validator.validate(await billOfMaterials())).toBeNull();
  });

  test("names each shipped package once, with its licence and the hash of its archive", async () => {
    const { components } = JSON.parse(await billOfMaterials());
    const refs = components.map((each: Record<string, unknown>) => each["bom-ref"]);
    const names = new Set(foreignPackages(shippedApps()).map(({ name, version }) => `${name}@${version}`));
    expect(new Set(refs)).toEqual(names);
    expect(refs.length).toBe(names.size);
    for (const { purl, licenses, hashes } of components) {
      expect(purl).toStartWith("pkg:npm/");
      expect(licenses).toHaveLength(1);
      expect(hashes).toEqual([{ alg: "SHA-512", content: expect.stringMatching(/^[0-9a-f]{128}$/) }]);
    }
  });

  test("holds what runs, and no tool of the repository itself", async () => {
    const names = foreignPackages(shippedApps()).map(({ name }) => name);
    for (const name of ["elysia", "postgres", "ioredis", "etcd3", "jose", "pino"])
      expect(names).toContain(name);
    for (const name of ["typescript", "@biomejs/biome", "fast-check", "testcontainers"]) {
      expect(names).not.toContain(name);
    }
  });

  test("is the same each time it is written", async () => {
    expect(await billOfMaterials()).toBe(await billOfMaterials());
  });
});

/** Licenses that allow use, change and copies, and require only attribution. */
const PERMISSIVE = ["MIT", "ISC", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "0BSD", "BlueOak-1.0.0"];
const PUBLIC_DOMAIN = ["Unlicense", "CC0-1.0"];
/** The terms of Python's own license require a notice of changes, as Apache's do. */
const OTHERS = ["PSF-2.0", "Python-2.0"];

function isPermissive(license: string | null): boolean {
  const choices = (license ?? "").replace(/^\(|\)$/g, "").split(" OR ");
  return choices.some((each) => [...PERMISSIVE, ...PUBLIC_DOMAIN, ...OTHERS].includes(each));
}

describe("licences", () => {
  test("of all installed packages are permissive, except for a tool of the tests", () => {
    const installed = installedPackages();
    expect(installed.length).toBeGreaterThan(100);
    const others = installed.filter(({ license }) => !isPermissive(license));
    expect(others.map(({ name, license }) => `${name}: ${license}`)).toEqual(
      // Changes of its own files would require publication: nobody changes them, and it is not shipped.
      ["axe-core: MPL-2.0"],
    );
    expect(foreignPackages(shippedApps()).map(({ name }) => name)).not.toContain("axe-core");
  });

  test.each(["GPL-3.0-only", "AGPL-3.0", "SSPL-1.0", "BUSL-1.1", "MIT AND GPL-2.0", "UNLICENSED", "", null])(
    "%p is not permissive",
    (license) => {
      expect(isPermissive(license)).toBe(false);
    },
  );
});

describe("the audit of dependencies", () => {
  const servers: Bun.Server<undefined>[] = [];
  afterAll(() => Promise.all(servers.map((server) => server.stop(true))));

  function registry(answer: () => Response | Promise<Response>): Record<string, string> {
    const server = Bun.serve({ port: 0, fetch: answer, idleTimeout: 0 });
    servers.push(server);
    return environment(`http://127.0.0.1:${server.port}`);
  }
  const environment = (url: string) => ({
    BUN_CONFIG_REGISTRY: url,
    PATH: "/usr/bin:/bin",
    HOME: "/nowhere",
  });

  const advisory = (severity: string) => () =>
    Response.json({
      elysia: [
        {
          id: 1,
          url: "https://github.com/advisories/GHSA-0000-0000-0000",
          title: "An example",
          severity,
          vulnerable_versions: "<99.0.0",
          cwe: [],
          cvss: { score: 0, vectorString: null },
        },
      ],
    });

  test.each(["high", "critical"])(
    "fails on a known vulnerability of %s severity, and names it",
    async (severity) => {
      const { text, exit_code } = await audit(registry(advisory(severity)));
      expect(exit_code).toBe(1);
      expect(text).toContain("GHSA-0000-0000-0000");
      expect(text).toContain("elysia");
    },
  );

  test.each(["moderate", "low"])("passes with one of %s severity", async (severity) => {
    expect((await audit(registry(advisory(severity)))).exit_code).toBe(0);
  });

  const unasked = /^Dependencies are not audited: the registry cannot be asked \(.*\)\.\n$/;

  test("says in one line that a registry answers no audits, and fails nothing", async () => {
    const { text, exit_code } = await audit(registry(() => new Response("no", { status: 405 })));
    expect([text, exit_code]).toEqual([expect.stringMatching(unasked), 0]);
  });

  test("says the same of a registry that is not there", async () => {
    const { text, exit_code } = await audit(environment(`http://127.0.0.1:${freePort()}`));
    expect([text, exit_code]).toEqual([expect.stringMatching(unasked), 0]);
  });

  test("says the same of a registry that never answers", async () => {
    const silent = registry(() => new Promise<Response>(() => {}));
    const { text, exit_code } = await audit(silent, 1_500);
    expect([text, exit_code]).toEqual([expect.stringMatching(unasked), 0]);
  });

  test("says the same of a registry that answers something else", async () => {
    const { text, exit_code } = await audit(registry(() => new Response("<html>sign in</html>")));
    expect([text, exit_code]).toEqual([expect.stringMatching(unasked), 0]);
  });
});
