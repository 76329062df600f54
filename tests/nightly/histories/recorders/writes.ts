import { waitFor } from "../../../support/time/wait-for.ts";
import { AS_OPERATOR, ask, listIn, numberIn, textIn } from "./asking.ts";
import type { Field } from "./recorder.ts";

const SURE_MS = 120_000;

/**
 * Returns the revisions of a service, by the `X-Request-ID` of the write. Empty if the service never existed.
 */
export function writesOf({ system, random }: Field, service: string): Promise<ReadonlyMap<string, number>> {
  const path = `/services/${service}/revisions`;
  return waitFor(
    async () => {
      const answered = await ask(system.registries, random, { method: "GET", path, headers: AS_OPERATOR });
      if (answered?.status === 404) return new Map<string, number>();
      if (answered?.status !== 200) return null;
      return new Map(
        listIn(answered.body, "revisions").map((each) => [
          textIn(each, "request_id"),
          numberIn(each, "revision"),
        ]),
      );
    },
    { timeoutMs: SURE_MS, what: `the revisions of ${service}` },
  );
}
