import { Elysia } from "elysia";
import { notFound } from "../../domain/errors/index.ts";
import { answerWith, IMMUTABLE, REVALIDATE, type Representation } from "./representation.ts";

/** The files of a page, by name. */
export type Assets = ReadonlyMap<string, Representation>;

/** Routes that only browsers call are part of no API's document. */
export const hidden = { detail: { hide: true } };

/**
 * The assets of the page at `path`, below it. The page names each of them with a hash of its content, so that
 * browsers keep it for good.
 */
export function assetRoutes(path: string, assets: () => Promise<Assets>) {
  return new Elysia({ name: `assets ${path}`, normalize: false }).get(
    `${path}/assets/:file`,
    async ({ request, params, query }) => {
      const asset = (await assets()).get(params.file);
      if (asset === undefined) throw notFound();
      // another hash is another replica's, of another version: its page gets what there is, for now
      return answerWith(request, asset, query.v === versionOf(asset) ? IMMUTABLE : REVALIDATE);
    },
    hidden,
  );
}

/** Where the page at `path` finds its file. */
export function assetAddress(path: string, file: string, assets: Assets): string {
  const asset = assets.get(file);
  return `${path}/assets/${file}${asset ? `?v=${versionOf(asset)}` : ""}`;
}

/** What the address of an asset carries: its tag without the quotes. */
function versionOf({ etag }: Representation): string {
  return etag.slice(1, -1);
}

/** Whether `path` is a page or one of its assets. */
export function isPage(path: string, page: string): boolean {
  return path === page || path.startsWith(`${page}/assets/`);
}

/** `make` is called when its value is first wanted, and again after it has failed. */
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
