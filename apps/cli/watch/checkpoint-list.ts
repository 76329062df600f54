import { fits } from "@ostiary/lib/domain/errors";
import { tryJson } from "@ostiary/lib/domain/json";
import { Checkpoint, SigningJwk } from "@ostiary/lib/domain/proof";
import { Type } from "@sinclair/typebox";
import { NoResponse, readLog } from "./read-log.ts";

/** The maximum page size of the audit service. */
const PAGE = 100;

const checkpointPage = Type.Object({ audit_checkpoints: Type.Array(Checkpoint), has_more: Type.Boolean() });
const keySet = Type.Object({ keys: Type.Array(SigningJwk) });

/** The public list of checkpoints of an audit service, and the service's public keys. */
export class CheckpointList {
  readonly #url: string;

  /** @param url the base URL of the audit service, without a trailing slash */
  constructor(url: string) {
    this.#url = url;
  }

  /** Yields all checkpoints, the newest first. Reads each page when it is needed. */
  async *newestFirst(): AsyncGenerator<Checkpoint, void, void> {
    let after = "";
    for (;;) {
      const page = await this.#read(`/audit-checkpoints?limit=${PAGE}${after}`);
      if (!fits(checkpointPage, page))
        throw new NoResponse(this.#url, "does not serve a list of checkpoints");
      yield* page.audit_checkpoints;
      const last = page.audit_checkpoints.at(-1);
      if (!page.has_more || last === undefined) return;
      after = `&starting_after=${last.number}`;
    }
  }

  async keys(): Promise<SigningJwk[]> {
    const found = await this.#read("/.well-known/jwks.json");
    if (!fits(keySet, found)) throw new NoResponse(this.#url, "does not serve a key set");
    return found.keys;
  }

  async #read(path: string): Promise<unknown> {
    const bytes = await readLog(this.#url, path);
    if (bytes === null) throw new NoResponse(this.#url, `responds to GET ${path} with 404`);
    const value = tryJson(new TextDecoder().decode(bytes));
    if (value === undefined) throw new NoResponse(this.#url, `does not respond to GET ${path} with JSON`);
    return value;
  }
}
