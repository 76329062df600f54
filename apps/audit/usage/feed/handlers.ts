import { USAGE_EVENTS_PATH } from "@ostiary/lib/contracts/internal-api";
import { validationError } from "@ostiary/lib/domain/errors";
import {
  answer,
  errors,
  listQueryProperties,
  page,
  pageRequest,
  pageSchema,
} from "@ostiary/lib/runtime/http";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { toUsageEvent, UsageEvent } from "./event.ts";
import { selectUsageEvents, usageEventExists } from "./queries.ts";

const LIMIT_MAX = 500;

/** Serves the feed of usage to billing systems (AU-128). */
export function feedHandlers(database: Database) {
  return new Elysia({ name: "audit-usage-feed", normalize: false }).get(
    USAGE_EVENTS_PATH,
    async ({ query }) => {
      const { limit, starting_after } = pageRequest(query, LIMIT_MAX);
      const found = await database.run("list_usage_events", async (orm) => {
        if (starting_after !== null && !(await usageEventExists(orm, starting_after))) throw unknownCursor();
        return selectUsageEvents(orm, starting_after, limit + 1);
      });
      const { items, has_more } = page(found, limit);
      return { usage_events: items.map(toUsageEvent), has_more };
    },
    {
      query: Type.Object(listQueryProperties(LIMIT_MAX), { additionalProperties: false }),
      response: {
        200: answer(pageSchema("usage_events", UsageEvent), "A page."),
        ...errors("UNAUTHORIZED"),
      },
      detail: {
        summary: "Read the usage feed",
        description:
          "Usage of all organizations as CloudEvents, oldest first, an hour after it began. A reader that passes the last id it saw gets every event exactly once.",
        operationId: "listUsageEvents",
        tags: ["Usage"],
      },
    },
  );
}

function unknownCursor() {
  return validationError([
    { path: "starting_after", message: "starting_after must be the id of an event of this feed." },
  ]);
}
