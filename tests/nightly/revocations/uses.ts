import type { System } from "../faults/system/system.ts";
import type { ChangingOrganization, Credential } from "./changing-organization.ts";
import type { Admission } from "./judge.ts";

const INTERVAL_MS = 400;
/** The maximum number of unanswered uses of a credential at a gateway. */
const UNANSWERED_MAX = 20;
const PATIENCE_MS = 10_000;
const PATHS = { member: "/watched/member", person: "/watched/person" } as const;
/** The limits tell the plan of the organization. They are never reached. */
const REQUESTS = { none: 1_000_000, gold: 2_000_000 };

/** Publishes the routes that tell admission, label and plan. Resolves when both gateways serve them. */
export async function publishWatched(system: System): Promise<void> {
  const free = { methods: ["GET"], upstream: "/watched" };
  const limit = {
    requests: REQUESTS.none,
    window_seconds: 86_400,
    plans: { gold: { requests: REQUESTS.gold } },
  };
  const config = {
    url: system.upstream.link.url,
    member: {
      routes: [{ ...free, path: PATHS.member, required_labels: ["things:write"], rate_limit: limit }],
    },
    user: { routes: [{ ...free, path: PATHS.person, rate_limit: false }] },
  };
  await system.publish("watched", config, PATHS.person, 401);
}

/**
 * Uses all credentials of an organization again and again at both gateways, also while earlier uses have no response.
 */
export class Uses implements AsyncDisposable {
  readonly #gateways: readonly string[];
  readonly #organization: ChangingOrganization;
  readonly #unanswered = new Map<string, number>();
  readonly #underway = new Set<Promise<void>>();
  readonly #timer: ReturnType<typeof setInterval>;

  constructor({ gateways }: System, organization: ChangingOrganization) {
    this.#gateways = gateways.map(({ url }) => url);
    this.#organization = organization;
    this.#timer = setInterval(() => this.#useAll(), INTERVAL_MS);
  }

  /** Resolves when all uses have their responses. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#underway);
  }

  #useAll(): void {
    for (const credential of this.#organization.credentials) {
      for (const gateway of this.#gateways.keys()) {
        const use = this.#use(credential, gateway).finally(() => this.#underway.delete(use));
        this.#underway.add(use);
      }
    }
  }

  async #use(credential: Credential, gateway: number): Promise<void> {
    const name = `${gateway} ${credential.name}`;
    const unanswered = this.#unanswered.get(name) ?? 0;
    if (unanswered >= UNANSWERED_MAX) return;
    this.#unanswered.set(name, unanswered + 1);
    const sentMs = performance.now();
    const admission = await askedAt(`${this.#gateways[gateway]}${PATHS[credential.kind]}`, credential);
    credential.uses.push({ gateway, sentMs, respondedMs: performance.now(), admission });
    this.#unanswered.set(name, (this.#unanswered.get(name) ?? 1) - 1);
  }
}

async function askedAt(url: string, { headers }: Credential): Promise<Admission | null> {
  try {
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(PATIENCE_MS) });
    await response.arrayBuffer();
    const limit = Number(response.headers.get("x-ratelimit-limit") ?? 0);
    const plan = limit === REQUESTS.gold ? "gold" : limit === REQUESTS.none ? null : undefined;
    switch (response.status) {
      case 200:
        return { admitted: true, labelled: true, plan };
      case 403:
        return { admitted: true, labelled: false, plan };
      case 401:
        return { admitted: false };
      default:
        return null;
    }
  } catch {
    return null;
  }
}
