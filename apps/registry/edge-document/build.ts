import type { RouteTable, StoredRoute, StoredServiceConfig } from "@ostiary/lib/domain/routes";
import { entityTag, type JsonObject, type Representation } from "@ostiary/lib/runtime/http";
import { type EdgeRoute, edgeOperation } from "./edge-operation.ts";
import { errorSchemas, gatewayHeaders, sharedResponses } from "./gateway-errors.ts";
import { introduction } from "./introduction.ts";
import { type Placed, placeRoutes } from "./places.ts";
import { schemesOf } from "./security.ts";
import type { KnownDocument } from "./service-document.ts";
import { ServiceMerge } from "./service-merge.ts";
import { ComponentNames } from "./service-schemas.ts";

/** What the document is made of. */
export interface EdgeSources {
  readonly title: string;
  /** Where clients call the gateway; undefined where that is not known. */
  readonly server_url: string | undefined;
  readonly table: RouteTable;
  readonly services: ReadonlyMap<string, StoredServiceConfig>;
  /** Of the services that name one. */
  readonly documents: ReadonlyMap<string, KnownDocument>;
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of code samples
const UNKNOWN_ORIGIN = "${API_URL}";

/**
 * Makes the OpenAPI document of the edge from the routes that are served. It is written piece by piece, since it may
 * have megabytes: {@link steps} are short, and the {@link representation} is there after the last.
 */
export class DocumentBuild {
  readonly #sources: EdgeSources;
  readonly #text = new TextPieces();
  readonly #merges = new Map<string, ServiceMerge>();
  #representation: Representation | null = null;

  constructor(sources: EdgeSources) {
    this.#sources = sources;
    const names = new ComponentNames(Object.keys(errorSchemas));
    for (const [service, { document }] of sources.documents) {
      if (document !== null) this.#merges.set(service, new ServiceMerge(service, document, names));
    }
  }

  get representation(): Representation {
    if (this.#representation === null) throw new Error("The steps have not all been taken.");
    return this.#representation;
  }

  *steps(): Generator<void> {
    const { title, server_url, documents } = this.#sources;
    const routes = yield* this.#routes();
    const { placed, tags } = yield* placeRoutes(routes, documents, server_url ?? UNKNOWN_ORIGIN);
    this.#text.add(
      JSON.stringify({
        openapi: "3.1.0",
        info: { title, version: "1.0.0", description: introduction },
        servers: [{ url: server_url ?? "/", description: "The gateway." }],
        tags,
        security: [],
      }).slice(0, -1),
    );
    this.#text.add(',"paths":{');
    const used = yield* this.#paths(placed);
    this.#text.add('},"components":{"schemas":{');
    yield* this.#schemas(placed.length > 0);
    const rest = JSON.stringify({
      ...usedComponents(used),
      securitySchemes: schemesOf(new Set(placed.map(({ edge }) => edge.route.scope))),
    });
    this.#text.add(`},${rest.slice(1)},"x-service-documents":${JSON.stringify(this.#marks())}}`);
    this.#representation = yield* this.#text.representation("application/json");
  }

  /** Every route but those of OPTIONS, which the gateway answers itself. */
  *#routes(): Generator<void, EdgeRoute[]> {
    const { services, table } = this.#sources;
    const rows = new Map<string, StoredRoute>();
    for (const [service, config] of services) {
      for (const row of rowsOf(config)) {
        for (const method of row.methods) rows.set(`${service} ${method} ${row.path}`, row);
        yield;
      }
    }
    const all = table.routes.filter(({ method }) => method !== "OPTIONS");
    yield;
    return all.map((route) => {
      const rate_limit = rows.get(`${route.service} ${route.method} ${route.path}`)?.rate_limit;
      const policies = services.get(route.service)?.rate_limits;
      return {
        route,
        rate_limit,
        policy: typeof rate_limit === "string" ? (policies?.[rate_limit] ?? null) : null,
      };
    });
  }

  /** Gives the references of the operations to responses and headers of the gateway. */
  *#paths(placed: readonly Placed[]): Generator<void, ReadonlySet<string>> {
    const used = new Set<string>();
    let path: string | null = null;
    for (const each of placed) {
      const text = this.#operation(each);
      for (const ref of references(text)) used.add(ref);
      const { place, edge } = each;
      const start = path === place.path ? "," : `${path === null ? "" : "},"}${JSON.stringify(place.path)}:{`;
      this.#text.add(`${start}"${edge.route.method.toLowerCase()}":${text}`);
      path = place.path;
      yield;
    }
    if (path !== null) this.#text.add("}");
    return used;
  }

  #operation({ edge, found, place }: Placed): string {
    const merge = found === null ? undefined : this.#merges.get(edge.route.service);
    const merged = found === null ? undefined : merge?.operation(edge, found, place);
    return merged ?? JSON.stringify(edgeOperation(edge, null, place));
  }

  *#schemas(are_used: boolean): Generator<void> {
    if (!are_used) return;
    this.#text.add(JSON.stringify(errorSchemas).slice(1, -1));
    for (const merge of this.#merges.values()) {
      for (const text of merge.components()) {
        if (text !== null) this.#text.add(`,${text}`);
        yield;
      }
    }
  }

  /** Of what age and how complete the services' words are: for whoever wonders why an operation says so little. */
  #marks(): JsonObject[] {
    return [...this.#sources.documents].map(([service, { status, read_at }]) => {
      const left_out = this.#merges.get(service)?.left_out ?? 0;
      return { service, status, ...(status === "stale" && { read_at }), ...(left_out > 0 && { left_out }) };
    });
  }
}

function references(text: string): string[] {
  return text.match(/"#\/components\/(responses|headers)\/[A-Za-z-]+"/g) ?? [];
}

/** Those of the gateway's responses and headers that are referred to, also by one another. */
function usedComponents(used: ReadonlySet<string>): JsonObject {
  const responses = Object.entries(sharedResponses).filter(([name]) =>
    used.has(`"#/components/responses/${name}"`),
  );
  const all = new Set([...used, ...references(JSON.stringify(responses))]);
  const headers = Object.entries(gatewayHeaders).filter(([name]) =>
    all.has(`"#/components/headers/${name}"`),
  );
  return { responses: Object.fromEntries(responses), headers: Object.fromEntries(headers) };
}

function rowsOf(config: StoredServiceConfig): StoredRoute[] {
  const { public: open, user, organization, member } = config;
  return [open, user, organization, member].flatMap((scope) => scope?.routes ?? []);
}

/** The text that one block of bytes is made of, about. */
const BLOCK_LENGTH = 256 * 1024;

/** Text that grows, as bytes and their hash. */
class TextPieces {
  readonly #blocks: Uint8Array[] = [];
  readonly #hash = new Bun.CryptoHasher("sha256");
  #pieces: string[] = [];
  #length = 0;
  #bytes = 0;

  add(text: string): void {
    this.#pieces.push(text);
    this.#length += text.length;
    if (this.#length >= BLOCK_LENGTH) this.#close();
  }

  /** The whole, in steps: it is copied block by block. */
  *representation(type: string): Generator<void, Representation> {
    this.#close();
    const body = Buffer.allocUnsafeSlow(this.#bytes);
    let start = 0;
    for (const block of this.#blocks) {
      body.set(block, start);
      start += block.byteLength;
      yield;
    }
    return { body, type, etag: entityTag(this.#hash) };
  }

  #close(): void {
    const block = Buffer.from(this.#pieces.join(""));
    this.#hash.update(block);
    this.#blocks.push(block);
    this.#bytes += block.byteLength;
    this.#pieces = [];
    this.#length = 0;
  }
}
