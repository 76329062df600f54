import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type DeliveredBody, ProvingReceiver, START } from "../../../support/audit/proving-receiver.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { waitFor } from "../../../support/time/wait-for.ts";
import type { StreamsSeen } from "../cell-run.ts";

/**
 * The timeout of the wait for deliveries. It is generous, because taking over a lease alone takes up to 10 s.
 */
const DELIVERED_MS = 60_000;
const OPERATOR = "operator";

/** The position of the last sealed entry in an organization's log. */
export interface LogHead {
  readonly organization_id: string;
  readonly position: number;
}

type Part = Pick<DeliveredBody["data"], "organization_id" | "after" | "entries">;

/**
 * The receiver of the organizations' audit streams and of the operator's stream. It verifies the chain in
 * each delivery, so it notices missing and altered entries, and records what is wrong.
 */
export class StreamReceiver implements Disposable {
  readonly #server: Bun.Server<undefined>;
  readonly #keyFile: string;
  readonly #logs = new Map<string, ProvingReceiver>();
  #seen: { problems: string[]; repeatsMs: number[] } = { problems: [], repeatsMs: [] };

  static async start(): Promise<StreamReceiver> {
    const directory = temporaryFolder("streams");
    const keyFile = join(directory, "keys");
    await writeFile(keyFile, randomBytes(32).toString("base64"), { mode: 0o600 });
    return new StreamReceiver(keyFile);
  }

  private constructor(keyFile: string) {
    this.#keyFile = keyFile;
    this.#server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: async (request) => {
        const text = await request.text();
        for (const part of partsOf(JSON.parse(text))) this.#take(new URL(request.url).pathname, part);
        return new Response(null, { status: 204 });
      },
    });
  }

  /** The environment variables that make the audit service accept this receiver and stream to it. */
  get variables(): Record<string, string> {
    return {
      AUDIT_STREAM_KEY_FILE: this.#keyFile,
      AUDIT_STREAM_ALLOW_HTTP: "true",
      AUDIT_STREAM_ALLOWED_NETWORKS: "127.0.0.0/8",
      AUDIT_STREAM_ALLOWED_PORTS: String(this.#server.port),
      AUDIT_OPERATOR_STREAM_URL: this.#urlOf(OPERATOR),
      AUDIT_OPERATOR_STREAM_SECRET: `whsec_${randomBytes(32).toString("base64")}`,
      AUDIT_OPERATOR_STREAM_FROM: "start",
    };
  }

  /** Creates a stream for each organization, which starts with the first entry of the organization's log. */
  async subscribe(audit: string, organizations: readonly string[]): Promise<void> {
    for (const id of organizations) {
      const response = await fetch(`${audit}/organizations/${id}/audit-streams`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ url: this.#urlOf(id), from_position: 1 }),
      });
      if (response.status !== 201)
        throw new Error(
          `The audit service refused to create a stream for organization ${id}: ${await response.text()}`,
        );
      for (const way of [id, OPERATOR]) this.#logOf(`/${way}`, id);
    }
  }

  forget(): void {
    this.#seen = { problems: [], repeatsMs: [] };
  }

  /**
   * Waits until the streams have delivered all entries up to `heads`, or until the timeout. Returns what was
   * recorded since the last `forget`, and the entries that are missing.
   */
  async upTo(heads: readonly LogHead[]): Promise<StreamsSeen> {
    const missing = () =>
      heads.flatMap(({ organization_id, position }) =>
        [organization_id, OPERATOR].flatMap((way) => {
          const known = this.#logs.get(keyOf(`/${way}`, organization_id));
          const isStreamed = known !== undefined || way === OPERATOR;
          const left = isStreamed ? position - (known?.position ?? START.position) : 0;
          return left > 0
            ? [`${left} entries of organization ${organization_id} in the stream "${way}"`]
            : [];
        }),
      );
    await waitFor(() => missing().length === 0, { timeoutMs: DELIVERED_MS }).catch(() => {}); // The promise `streams` reports missing entries
    return { ...this.#seen, missing: missing() };
  }

  [Symbol.dispose](): void {
    void this.#server.stop(true);
  }

  #urlOf(way: string): string {
    return `http://127.0.0.1:${this.#server.port}/${way}`;
  }

  #logOf(way: string, organization_id: string): ProvingReceiver {
    const key = keyOf(way, organization_id);
    const known = this.#logs.get(key) ?? new ProvingReceiver(START);
    this.#logs.set(key, known);
    return known;
  }

  #take(way: string, part: Part): void {
    const log = this.#logOf(way, part.organization_id);
    const before = log.duplicates;
    try {
      log.take({ data: part });
    } catch (error) {
      this.#seen.problems.push(`${way}: ${error instanceof Error ? error.message : error}`);
      const { position, chain } = part.entries.at(-1) ?? part.after;
      [log.position, log.chain] = [position, chain];
    }
    log.entries.length = 0;
    if (log.duplicates > before) this.#seen.repeatsMs.push(performance.now());
  }
}

function keyOf(way: string, organization_id: string): string {
  return `${way} ${organization_id}`;
}

function partsOf({ data }: { data: Part | { organizations: Part[] } }): Part[] {
  return "organizations" in data ? data.organizations : [data];
}
