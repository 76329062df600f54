import { describe, expect, test } from "bun:test";
import { Spec, Validation } from "@cyclonedx/cyclonedx-library";
import { billOfMaterials } from "../supply-chain/bill-of-materials.ts";
import { foreignPackages, installedPackages, shippedApps } from "../supply-chain/packages.ts";

describe("the bill of materials", () => {
  test("is valid under the strict schema of CycloneDX 1.6", async () => {
    const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6);
    expect(await validator.validate(await billOfMaterials())).toBeNull();
  });

  test("lists each shipped package once, with its license and the hash of its archive", async () => {
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
});

/** Licenses that allow use, modification and distribution, and require only attribution. */
const PERMISSIVE = ["MIT", "ISC", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "0BSD", "BlueOak-1.0.0"];
const PUBLIC_DOMAIN = ["Unlicense", "CC0-1.0"];
/** Python's licenses, which are permissive too. They require a summary of changes, as Apache-2.0 does. */
const OTHERS = ["PSF-2.0", "Python-2.0"];

function isPermissive(license: string | null): boolean {
  const choices = (license ?? "").replace(/^\(|\)$/g, "").split(" OR ");
  return choices.some((each) => [...PERMISSIVE, ...PUBLIC_DOMAIN, ...OTHERS].includes(each));
}

describe("licenses", () => {
  test("of all installed packages are permissive, except for axe-core, which only tests use", () => {
    const installed = installedPackages();
    expect(installed.length).toBeGreaterThan(100);
    const others = installed.filter(({ license }) => !isPermissive(license));
    expect(others.map(({ name, license }) => `${name}: ${license}`)).toEqual(
      // MPL-2.0 requires publishing changes to axe-core's files. The tests do not change them, and no app
      // ships them.
      ["axe-core: MPL-2.0"],
    );
    expect(foreignPackages(shippedApps()).map(({ name }) => name)).not.toContain("axe-core");
  });
});
