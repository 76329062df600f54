/** Tests that each shell reads the text of the tour, because people paste it into their own. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { tourSteps, tourText } from "../../../../apps/platform/tour.ts";
import { SHELLS } from "../../../support/processes/interactive-shell.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { takeTour } from "./tour.ts";

setDefaultTimeout(150_000);

/** The name of the data directory. Each of its special characters has a meaning in some shell or in a URL. */
const AWKWARD_NAME = `it's "100%41" #1 !! $HOME \`id\` ?[a]=~ {b,c};&`;

const absent = Object.keys(SHELLS).filter((shell) => Bun.which(shell) === null);
if (absent.length > 0)
  process.stderr.write(`shells that this machine lacks and that were not tested: ${absent.join(", ")}\n`);

// A function of the shell takes the place of curl: it prints its arguments, and does not wait.
const STAND_INS = `curl() { printf '<%s>' "$@"; echo; }\nsleep() { :; }\n`;

test.each(
  Object.keys(SHELLS)
    .filter((shell) => !absent.includes(shell))
    .flatMap((shell) => [
      [shell, "pasted", true] as const,
      [shell, "typed, without bracketed paste", false] as const,
    ]),
)("the tour has the same commands in %s when it is %s", async (shell, _how, bracketed) => {
  const folder = join(temporaryFolder("shells"), AWKWARD_NAME);
  await mkdir(folder);
  const adminTokenFile = join(folder, "admin-token");
  await Bun.write(adminTokenFile, "the-token");
  const places = {
    gatewayUrl: "http://[::1]:5001",
    registryUrl: "http://127.0.0.1:5002",
    adminTokenFile,
    identityProviderUrl: "http://127.0.0.1:4001",
    sampleServiceUrl: "http://127.0.0.1:4000",
  };
  const output = await takeTour(STAND_INS + tourText(places), shell, bracketed);
  expect([...output.keys()]).toEqual(tourSteps(places).map(({ shows }) => shows));
  const all = [...output.values()].join("");
  expect(all).toContain("<http://[::1]:5001/demo/things/42?color=red>");
  expect(all).toContain("<Authorization: Bearer the-token>");
  expect(all).toContain('<{"name":"Acme & Daughters"}>');
  expect(all).toContain(
    "\n    public: { routes: [{ path: /tour/one, methods: [GET] }, { path: /tour/two, methods: [GET] }] }\n",
  );
});
