import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Enums, Models, Serialize, Spec } from "@cyclonedx/cyclonedx-library";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { PackageURL } from "packageurl-js";
import manifest from "../../package.json" with { type: "json" };
import { ROOT } from "../support/root.ts";
import { foreignPackages, type Package, shippedApps } from "./packages.ts";

const FILE = "dist/sbom.cdx.json";

/** The part of bun.lock that has the hashes of packages. */
const Lock = Type.Object({ packages: Type.Record(Type.String(), Type.Array(Type.Unknown())) });

/** Returns the product's bill of materials in CycloneDX JSON: every package that an app needs to run. */
export async function billOfMaterials(): Promise<string> {
  const shipped = shippedApps();
  const hashes = await lockedHashes();
  const components = new Map<Package, Models.Component>();
  for (const each of foreignPackages(shipped)) components.set(each, componentOf(each, hashes));
  const whole = new Models.Component(Enums.ComponentType.Application, manifest.name, {
    version: manifest.version,
    bomRef: manifest.name,
    licenses: new Models.LicenseRepository([new Models.LicenseExpression(manifest.license)]),
  });
  for (const each of foreignPackages(shipped)) {
    for (const needed of each.needs) {
      const component = components.get(needed);
      if (component !== undefined) components.get(each)?.dependencies.add(component.bomRef);
    }
  }
  for (const component of directOf(shipped, components)) whole.dependencies.add(component.bomRef);
  const bom = new Models.Bom({
    metadata: new Models.Metadata({ component: whole }),
    components: new Models.ComponentRepository(components.values()),
  });
  const factory = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6);
  return new Serialize.JsonSerializer(factory).serialize(bom, { sortLists: true, space: 2 });
}

function componentOf({ name, version, license }: Package, hashes: Map<string, string>): Models.Component {
  const [, group, short = name] = /^(@[^/]+)\/(.*)$/.exec(name) ?? [];
  const sha512 = hashes.get(`${name}@${version}`);
  const purl = new PackageURL("npm", group, short, version, undefined, undefined);
  return new Models.Component(Enums.ComponentType.Library, short, {
    ...(group !== undefined && { group }),
    version,
    bomRef: `${name}@${version}`,
    purl: purl.toString(),
    licenses: new Models.LicenseRepository(license === null ? [] : [new Models.LicenseExpression(license)]),
    hashes: new Models.HashDictionary(
      sha512 === undefined ? [] : [[Enums.HashAlgorithm["SHA-512"], sha512] as const],
    ),
  });
}

/** Yields the direct dependencies of the apps and of the repository's own packages that the apps need. */
function* directOf(apps: readonly Package[], components: Map<Package, Models.Component>) {
  const own = new Set(apps.flatMap((app) => [app, ...app.needs.filter((each) => each.own)]));
  for (const each of own) {
    for (const needed of each.needs) {
      const component = components.get(needed);
      if (component !== undefined) yield component;
    }
  }
}

/** Returns the SHA-512 hashes of packages in bun.lock, in hexadecimal, by `name@version`. */
async function lockedHashes(): Promise<Map<string, string>> {
  const lock: unknown = Bun.JSONC.parse(await Bun.file(join(ROOT, "bun.lock")).text());
  if (!Value.Check(Lock, lock))
    throw new Error("The format of bun.lock has changed: it has no list of packages.");
  return new Map(
    Object.values(lock.packages).flatMap((entry) => {
      const [named, integrity] = [entry[0], entry.at(-1)];
      const [, base64] = /^sha512-(.*)$/.exec(String(integrity)) ?? [];
      return base64 === undefined ? [] : [[String(named), Buffer.from(base64, "base64").toString("hex")]];
    }),
  );
}

if (import.meta.main) {
  mkdirSync(join(ROOT, "dist"), { recursive: true });
  await Bun.write(join(ROOT, FILE), `${await billOfMaterials()}\n`);
  process.stdout.write(`${FILE}\n`);
}
