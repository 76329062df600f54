import { LIFECYCLE_EVENTS_PATH } from "@ostiary/lib/contracts/internal-api";
import {
  errors,
  FEED_LIMIT_MAX,
  feedQuery,
  page,
  pageRequest,
  pageSchema,
  response,
  unknownFeedCursor,
} from "@ostiary/lib/runtime/http";
import { Elysia } from "elysia";
import type { Dependencies } from "../dependencies.ts";
import { LifecycleEvent } from "./lifecycle-event.ts";
import { eventExists, listEvents } from "./lifecycle-sql.ts";

/** Returns the route `GET /internal/lifecycle-events` (ID-92). */
export function lifecycleHandlers({ database }: Dependencies) {
  return new Elysia({ name: "lifecycle", normalize: false }).get(
    LIFECYCLE_EVENTS_PATH,
    async ({ query }) => {
      const request = pageRequest(query, FEED_LIMIT_MAX);
      const { starting_after } = request;
      const events = await database.run("list_lifecycle_events", async (orm) => {
        if (starting_after !== null && !(await eventExists(orm, starting_after))) throw unknownFeedCursor();
        return listEvents(orm, request);
      });
      const { items, has_more } = page(events, request.limit);
      return { lifecycle_events: items, has_more };
    },
    {
      query: feedQuery,
      response: {
        200: response(pageSchema("lifecycle_events", LifecycleEvent), "A page."),
        ...errors("UNAUTHORIZED"),
      },
      detail: {
        operationId: "listLifecycleEvents",
        summary: "Read the lifecycle feed",
        description:
          "Events of memberships and organizations, oldest first. A reader that passes the last id it saw gets every event exactly once.",
        tags: ["Internal"],
      },
    },
  );
}
