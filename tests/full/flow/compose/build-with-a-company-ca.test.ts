/**
 * Tests of the `RUN` line of the Dockerfile that installs the packages, against a package registry with a
 * certificate from a company's own CA. The command runs on this machine, because no Docker engine is needed.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Certificates } from "../../../support/http/certificates.ts";
import { runToEnd } from "../../../support/processes/run-to-end.ts";
import { ROOT } from "../../../support/root.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

setDefaultTimeout(60_000);

const IN_THE_BUILD = "/run/build-ca.pem";
const dockerfile = await Bun.file(join(ROOT, "apps/platform/deploy/containers/Dockerfile")).text();
/** The shell command of the `RUN` line that installs the packages, without the mounts before it. */
const [, install = ""] =
  /^RUN --mount[^\n]*\\\n {2}--mount[^\n]*\\\n([\s\S]*?bun install "\$@")/m.exec(dockerfile) ?? [];

describe.skipIf(Bun.which("openssl") === null)("the image's installation of packages", () => {
  const certificates = new Certificates();
  let folder: string;
  let authority: string;
  let registry: ReturnType<typeof Bun.serve>;
  beforeAll(async () => {
    folder = temporaryFolder("build");
    const ca = certificates.authority("company");
    authority = ca.certFile;
    const { certFile, keyFile } = ca.sign("packages");
    const tarball = await packed(folder);
    registry = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      tls: { cert: Bun.file(certFile), key: Bun.file(keyFile) },
      fetch: ({ url }) =>
        url.endsWith(".tgz")
          ? new Response(Bun.file(tarball))
          : Response.json(manifest(new URL("/thing.tgz", url))),
    });
    await Bun.write(join(folder, "package.json"), JSON.stringify({ dependencies: { thing: "1.0.0" } }));
    await Bun.write(join(folder, ".npmrc"), `registry=https://localhost:${registry.port}/\n`);
  });
  afterAll(() => registry.stop(true));

  async function installed(caFile: string) {
    const script = install.replaceAll("\\\n", " ").replaceAll(IN_THE_BUILD, caFile);
    expect(script).toContain(caFile);
    for (const made of ["node_modules", "cache", "bun.lock"]) {
      await rm(join(folder, made), { recursive: true, force: true });
    }
    return runToEnd(["sh", "-euc", script], {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder, BUN_INSTALL_CACHE_DIR: join(folder, "cache") },
    });
  }

  test("fails for a package registry with an unknown CA", async () => {
    const { stderr, exitCode } = await installed("/dev/null");
    expect(exitCode).not.toBe(0);
    expect(stderr).toMatch(/UNABLE_TO_(VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT)/);
  });

  test("works with a package registry whose CA is the one of BUILD_CA", async () => {
    expect(await installed(authority)).toMatchObject({ exitCode: 0 });
    expect(await Bun.file(join(folder, "node_modules/thing/package.json")).json()).toMatchObject({
      name: "thing",
    });
  });
});

function manifest(tarball: URL) {
  const version = {
    name: "thing",
    version: "1.0.0",
    dist: { tarball: tarball.href.replace("127.0.0.1", "localhost") },
  };
  return { name: "thing", "dist-tags": { latest: "1.0.0" }, versions: { "1.0.0": version } };
}

/** Makes the tarball of an npm package and returns its path. */
async function packed(folder: string): Promise<string> {
  await Bun.write(join(folder, "source/package/package.json"), '{"name":"thing","version":"1.0.0"}');
  const file = join(folder, "thing.tgz");
  const { exitCode } = Bun.spawnSync(["tar", "-czf", file, "-C", join(folder, "source"), "package"]);
  expect(exitCode).toBe(0);
  return file;
}
