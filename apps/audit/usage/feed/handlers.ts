import { USAGE_EVENTS_PATH } from "@ostiary/lib/contracts/internal-api";
import {
  answer,
  errors,
  FEED_LIMIT_MAX,
  feedQuery,
  page,
  pageRequest,
  pageSchema,
  unknownFeedCursor,
} from "@ostiary/lib/runtime/http";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import { Elysia } from "elysia";
import { operations } from "../operation-texts.ts";
import type { PlatformServices } from "../platform-services.ts";
import { selectUsageEvents, usageEventExists } from "./sql.ts";
import { toUsageEvent, UsageEvent } from "./usage-event.ts";

/** Serves the feed of usage to billing systems (AU-128). */
export function feedHandlers(database: Database, platform: PlatformServices) {
  return new Elysia({ name: "audit-usage-feed", normalize: false }).get(
    USAGE_EVENTS_PATH,
    async ({ query }) => {
      const { limit, starting_after } = pageRequest(query, FEED_LIMIT_MAX);
      const found = await database.run("list_usage_events", async (orm) => {
        if (starting_after !== null && !(await usageEventExists(orm, starting_after)))
          throw unknownFeedCursor();
        return selectUsageEvents(orm, starting_after, limit + 1);
      });
      const { items, has_more } = page(found, limit);
      return { usage_events: items.map((row) => toUsageEvent(row, platform)), has_more };
    },
    {
      query: feedQuery,
      response: {
        200: answer(pageSchema("usage_events", UsageEvent), "A page."),
        ...errors("UNAUTHORIZED"),
      },
      detail: operations.listUsageEvents,
    },
  );
}
