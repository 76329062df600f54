import { Elysia } from "elysia";
import { notFound } from "../../domain/errors/index.ts";
import { IMMUTABLE, REVALIDATE, type Representation, respondWith } from "./representation.ts";

export type Assets = ReadonlyMap<string, Representation>;

/** The option that keeps routes for browsers out of the OpenAPI description. */
export const hidden = { detail: { hide: true } };

/** The page links each asset with a hash of its content, so browsers can cache it permanently. */
export function assetRoutes(path: string, assets: () => Promise<Assets>) {
  return new Elysia({ name: `assets ${path}`, normalize: false }).get(
    `${path}/assets/:file`,
    async ({ request, params, query }) => {
      const asset = (await assets()).get(params.file);
      if (asset === undefined) throw notFound();
      // If `v` differs, the page came from a replica of another version, under whose URL this asset must not be cached.
      return respondWith(request, asset, query.v === versionOf(asset) ? IMMUTABLE : REVALIDATE);
    },
    hidden,
  );
}

export function assetAddress(path: string, file: string, assets: Assets): string {
  const asset = assets.get(file);
  return `${path}/assets/${file}${asset ? `?v=${versionOf(asset)}` : ""}`;
}

/** Browsers reject an asset with other bytes. */
export function assetIntegrity(file: string, assets: Assets): string {
  const asset = assets.get(file);
  if (asset === undefined) throw new Error(`The page has no asset ${file}.`);
  return `sha256-${Buffer.from(versionOf(asset), "base64url").toString("base64")}`;
}

function versionOf({ etag }: Representation): string {
  return etag.slice(1, -1);
}

/** Returns whether `path` is a page or one of its assets. */
export function isPage(path: string, page: string): boolean {
  return path === page || path.startsWith(`${page}/assets/`);
}

/** Caches the result of `make`. After a failure, the next call runs `make` again. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}
