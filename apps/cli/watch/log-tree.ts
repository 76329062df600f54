import { readBounded } from "@ostiary/lib/async";
import { reasonOf } from "@ostiary/lib/domain/errors";
import { tryUtf8 } from "@ostiary/lib/domain/json";
import type { Hash } from "@ostiary/lib/domain/proof";
import {
  foldedHash,
  hashInTile,
  type LeafRange,
  type NoteKey,
  nodesOf,
  tileOf,
  tilePath,
} from "@ostiary/lib/domain/tlog";
import { readLogKey } from "@ostiary/lib/verification";
import { proxyFor } from "../registry-client.ts";

/** The error for a log that does not respond, or whose response is unexpected. */
export class NoResponse extends Error {
  constructor(url: string, why: string) {
    super(`${url} ${why}.`);
    this.name = "NoResponse";
  }
}

/** The tree that an audit service publishes (C2SP tlog-tiles). */
export class LogTree {
  readonly #url: string;

  /** @param url the base URL of the audit service, without a trailing slash */
  constructor(url: string) {
    this.#url = `${url}/audit-log`;
  }

  /** Returns the newest signed root as the log serves it, or null if the log has none. */
  root(): Promise<string | null> {
    return this.#text("/checkpoint");
  }

  /** Returns the verifier keys that sign the log now. */
  async keys(): Promise<readonly NoteKey[]> {
    const keys = ((await this.#text("/key")) ?? "").split("\n").flatMap((line) => readLogKey(line) ?? []);
    if (keys.length === 0) throw new NoResponse(this.#url, "does not serve the verifier key of a log");
    return keys;
  }

  async #text(path: string): Promise<string | null> {
    const body = await readLog(this.#url, path);
    return body === null ? null : (tryUtf8(body, "keep") ?? "");
  }

  /** Returns the hash of each range in a tree of `size` leaves, or null if the log does not serve a needed tile. */
  async path(ranges: readonly LeafRange[], size: number): Promise<Hash[] | null> {
    const tiles = new Map<string, Uint8Array | null>();
    const path: Hash[] = [];
    for (const range of ranges) {
      const hashes: Hash[] = [];
      for (const node of nodesOf(range)) {
        const name = tilePath(tileOf(node, size));
        const tile = tiles.get(name) ?? (await readLog(this.#url, `/${name}`));
        tiles.set(name, tile);
        const hash = tile === null ? null : hashInTile(node, tile);
        if (hash === null) return null;
        hashes.push(hash);
      }
      path.push(foldedHash(hashes));
    }
    return path;
  }
}

const TIMEOUT_MS = 10_000;
const RESPONSE_BYTES_MAX = 4 * 1_048_576;
const NOT_FOUND = 404;

/**
 * Requests a path of a log. Returns the body, or null for a 404.
 *
 * @throws NoResponse for any other status, or if the log does not respond
 */
async function readLog(url: string, path: string): Promise<Uint8Array | null> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(url + path, { redirect: "manual", signal, ...proxyFor(url) });
    if (response.status === NOT_FOUND) return null;
    if (response.status !== 200) throw new NoResponse(url, `responds to GET ${path} with ${response.status}`);
    return await readBounded(
      response.body,
      RESPONSE_BYTES_MAX,
      () => new NoResponse(url, `responds with more than ${RESPONSE_BYTES_MAX} bytes`),
    );
  } catch (error) {
    if (error instanceof NoResponse) throw error;
    throw new NoResponse(url, `does not respond (${reasonOf(error)})`);
  }
}
