import { ask } from "../../faults/system/asking.ts";
import type { System } from "../../faults/system/system.ts";
import { check, type Verdict } from "../checker/check.ts";
import { History } from "../checker/history.ts";
import { type LimitCall, type LimitOutcome, limitOf } from "../models/limits.ts";
import { type Field, type Recorder, together } from "./recorder.ts";

const CLIENTS = 6;
const STEPS = 6;
const REQUESTS = 25;
/** The length of the rate limit window, which is longer than a run. */
const WINDOW_S = 86_400;
const SERVICE = "histories";
const PATH = "/histories/limited";
const MORE_MAX = 40;

/** Records the calls of clients to one limited route, through both gateways, until the limit is reached. */
export const recordLimits: Recorder = {
  name: limitOf(REQUESTS).name,
  async record(field): Promise<Verdict[]> {
    const { system, random, isFaulty } = field;
    const [key, other] = await Promise.all([newKey(field), newKey(field)]);
    const history = new History<LimitCall, LimitOutcome>();
    const take = () => {
      // The faulty client sometimes uses another person's key, and so another count.
      const used = isFaulty && random.chance(40) ? other : key;
      return history.record({ bucket: key.id }, async () => {
        const headers = { "x-api-key": used.secret };
        const response = await ask(system.gateways, random, { method: "GET", path: PATH, headers });
        const remaining = response?.headers.get("x-ratelimit-remaining") ?? null;
        if (response === null || remaining === null) return null;
        return { remaining: response.status === 429 ? null : Number(remaining) };
      });
    };
    await together(CLIENTS, STEPS, take);
    for (let more = 0; more < MORE_MAX; more += 1) if ((await take())?.remaining === null) break;
    return check(limitOf(REQUESTS), history.operations);
  },
};

async function newKey({ directory }: Field) {
  const { member_id } = await directory.found();
  return directory.key(member_id);
}

/** Publishes the limited route. Resolves when both gateways serve it. */
export function publishLimited(system: System): Promise<void> {
  const rate_limit = { requests: REQUESTS, window_seconds: WINDOW_S };
  const routes = [{ path: PATH, upstream: "/limited", methods: ["GET"], rate_limit }];
  return system.publish(SERVICE, { url: system.upstream.link.url, member: { routes } }, PATH, 401);
}
