import type { StoredServiceConfig } from "@ostiary/lib/domain/routes";
import { OK, type RawResponse, RawUpstream, rawRequest, spell } from "../http/raw-http.ts";
import { waitFor } from "../index.ts";
import { taken } from "./audit-stand-in.ts";
import { member, person } from "./identity-stand-in.ts";
import { GatewayNeighbours } from "./neighbours.ts";

const key = (name: string) => `acme-k-2-${name.padEnd(43, "0")}`;
export const UNKNOWN = key("unknown");
export const WRITER = key("writer");
export const READER = key("reader");
export const EVERYTHING = key("everything");
export const LABELLESS = key("labelless");
export const HOSTILE = key("hostile");
export const USER = key("user");
export const ELSEWHERE = key("elsewhere");

const organization = (member_id: string, labels: string[] | undefined, organization_id = "org1") =>
  member({ organization_id, member_id, labels });

export const services = (url: string): Record<string, StoredServiceConfig> => ({
  things: {
    url,
    rate_limits: { two: { requests: 2, window_seconds: 60 } },
    public: { routes: [{ path: "/public", methods: ["GET", "POST"] }] },
    user: {
      routes: [
        {
          path: "/user/things/{thing_id}",
          upstream: "/users/{subject.user_id}/things/{path.thing_id}",
          methods: ["GET", "POST"],
        },
        { path: "/user/labelled", methods: ["GET"], required_labels: ["never"] },
      ],
    },
    organization: {
      routes: [
        {
          path: "/org/things",
          upstream: "/organizations/{subject.organization_id}/things",
          methods: ["GET", "POST", "DELETE"],
        },
        { path: "/org/labelled/{id}", methods: ["GET", "POST"], required_labels: ["things:write", "admin"] },
        { path: "/org/limited", methods: ["GET"], rate_limit: "two", required_labels: ["things:write"] },
        { path: "/org/param/{id}", upstream: "/x/{path.id}", methods: ["POST"] },
        { path: "/org/audited", methods: ["GET"], audit: true },
        { path: "/org/unaudited", methods: ["POST"], audit: false },
      ],
    },
    member: {
      routes: [
        {
          path: "/member/things",
          upstream: "/organizations/{subject.organization_id}/members/{subject.member_id}/things",
          methods: ["GET", "POST"],
        },
      ],
    },
  },
  dead: {
    url: "http://127.0.0.1:9",
    organization: { routes: [{ path: "/dead", methods: ["GET", "POST"] }] },
  },
});

const RESULTS = {
  [WRITER]: organization("m1", ["things:write", "things:read"]),
  [READER]: organization("m2", ["things:read"]),
  [EVERYTHING]: organization("m3", ["*"]),
  [LABELLESS]: organization("m4", undefined),
  [HOSTILE]: organization("m/../5", ["*"], "org?1"),
  [ELSEWHERE]: organization("m6", ["*"], "org2"),
  [USER]: person(),
};

/** A gateway between stand-ins for identity, audit and a service, for tests of each step of a request. */
export class StepsBed extends GatewayNeighbours {
  readonly service = new RawUpstream();

  constructor() {
    super(RESULTS);
  }

  start(): Promise<void> {
    const variables = { UPSTREAM_TIMEOUT_MS: "300", MAX_BODY_BYTES: "100000" };
    return this.open(variables, services(this.service.url));
  }

  call(method: string, target: string, credential: string | null): Promise<RawResponse> {
    const headers = credential === null ? [] : [["X-API-Key", credential] as const];
    return rawRequest(this.gateway.url, spell(method, target, headers));
  }

  /** Returns each write of the latest audited request's outcome. */
  outcomes() {
    const event = this.audit.of("PUT").at(-1)?.path;
    return this.audit.of("PATCH").filter((write) => write.path === event);
  }

  outcome(): Promise<unknown> {
    return waitFor(() => this.outcomes()[0]?.body, { what: "an audit outcome" });
  }

  reset(): void {
    this.service.requests.length = 0;
    this.service.handler = () => OK;
    this.audit.writes.length = 0;
    this.audit.respond = taken;
  }

  async close(): Promise<void> {
    await this.stop();
    this.service.close();
  }
}

export function codeOf(response: RawResponse): string {
  return JSON.parse(response.body.toString()).error.code;
}
