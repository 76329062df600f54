import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

/** The fields of a package's manifest that are read. */
const Manifest = Type.Object({
  name: Type.String(),
  version: Type.Optional(Type.String()),
  license: Type.Optional(Type.Unknown()),
  licenses: Type.Optional(Type.Unknown()),
  private: Type.Optional(Type.Boolean()),
  dependencies: Type.Optional(Type.Record(Type.String(), Type.String())),
  devDependencies: Type.Optional(Type.Record(Type.String(), Type.String())),
  optionalDependencies: Type.Optional(Type.Record(Type.String(), Type.String())),
});

/** An installed package with its dependencies. */
export interface Package {
  readonly name: string;
  readonly version: string;
  /** The license as SPDX writes it; null when the package names none. */
  readonly license: string | null;
  /** Whether it belongs to this repository. */
  readonly own: boolean;
  readonly folder: string;
  readonly needs: Package[];
}

const ROOT = join(import.meta.dir, "../..");

/** Returns the shipped apps, with everything that they need to run. */
export function shippedApps(): Package[] {
  const known = new Map<string, Package>();
  return readdirSync(join(ROOT, "apps"))
    .filter((app) => existsSync(join(ROOT, "apps", app, "package.json")))
    .map((app) => packageAt(join(ROOT, "apps", app), known));
}

/** Returns everything that packages depend on, each once, without the repository's own. */
export function foreignPackages(from: readonly Package[]): Package[] {
  const seen = new Set<Package>();
  const visit = (each: Package) => {
    if (seen.has(each)) return;
    seen.add(each);
    each.needs.forEach(visit);
  };
  from.forEach(visit);
  return [...seen].filter(({ own }) => !own);
}

/** Returns everything that is installed for this repository, tools included. */
export function installedPackages(): Package[] {
  const known = new Map<string, Package>();
  const roots = [ROOT, join(ROOT, "lib"), join(ROOT, "tests"), ...shippedApps().map(({ folder }) => folder)];
  return foreignPackages(roots.map((folder) => packageAt(folder, known, true)));
}

function packageAt(folder: string, known: Map<string, Package>, tools = false): Package {
  const found = known.get(folder);
  if (found !== undefined) return found;
  const manifest: unknown = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  if (!Value.Check(Manifest, manifest)) throw new Error(`${folder}/package.json is no manifest.`);
  const made: Package = {
    name: manifest.name,
    version: manifest.version ?? "0.0.0",
    license: licenseOf(manifest.license ?? manifest.licenses),
    own: !folder.includes("/node_modules/"),
    folder,
    needs: [],
  };
  known.set(folder, made);
  const { dependencies, optionalDependencies, devDependencies } = manifest;
  const names = Object.keys({ ...dependencies, ...optionalDependencies, ...(tools && devDependencies) });
  for (const name of names) {
    const needed = folderOf(name, folder);
    if (needed !== null) made.needs.push(packageAt(needed, known));
    // A package for another kind of machine is not installed.
    else if (optionalDependencies?.[name] === undefined) throw new Error(`${made.name} lacks ${name}.`);
  }
  return made;
}

/** Finds a package as the runtime does: in the nearest `node_modules` above. */
function folderOf(name: string, from: string): string | null {
  const own = /^@ostiary\/(.*)$/.exec(name)?.[1];
  if (own !== undefined) return join(ROOT, own === "lib" || own === "tests" ? own : join("apps", own));
  for (let at = from; at.startsWith(ROOT); at = dirname(at)) {
    const folder = join(at, "node_modules", name);
    if (existsSync(join(folder, "package.json"))) return folder;
  }
  return null;
}

/** Reads the license. Older manifests name a type, or a list of them. */
function licenseOf(given: unknown): string | null {
  if (typeof given === "string") return given;
  if (Array.isArray(given)) return given.map(licenseOf).join(" OR ") || null;
  if (typeof given === "object" && given !== null && "type" in given) return licenseOf(given.type);
  return null;
}
