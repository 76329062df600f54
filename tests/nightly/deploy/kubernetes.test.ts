/** Other people's programs read the manifests of apps/platform/deploy/kubernetes. */

import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { runToEnd } from "../../support/processes/run-to-end.ts";
import { ROOT } from "../../support/root.ts";

const FOLDER = join(ROOT, "apps/platform/deploy/kubernetes");

// Needs `pip install kubernetes-validate`, which contains the schemas of the Kubernetes API.
test.skipIf(Bun.which("kubernetes-validate") === null).each(["1.29", "1.34"])(
  "the manifests are valid for the API of Kubernetes %s (kubernetes-validate)",
  async (version) => {
    const resources = readdirSync(FOLDER).filter((file) => file !== "kustomization.yaml");
    const paths = resources.map((file) => join(FOLDER, file));
    const { exitCode, stderr } = await runToEnd(["kubernetes-validate", "--strict", "-k", version, ...paths]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  },
);

test.skipIf(Bun.which("kubectl") === null)("the manifests can be built with kubectl kustomize", async () => {
  const { exitCode, stdout } = await runToEnd(["kubectl", "kustomize", FOLDER]);
  expect(exitCode).toBe(0);
  expect(stdout).toContain("image: registry.example.com/ostiary:1.0.0");
  expect(stdout.match(/^ {2}namespace: ostiary$/gm)?.length).toBeGreaterThan(15);
});
