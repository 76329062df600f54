import { Checkpoint, SigningJwk } from "@ostiary/lib/domain/proof";
import { errors, listQueryProperties, page, pageRequest, pageSchema } from "@ostiary/lib/runtime/http";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { CHECKPOINT_NUMBER_PATTERN } from "../events/parameters.ts";
import { operations } from "./operation-texts.ts";
import { selectCheckpoints, selectSigningKeys } from "./sql.ts";

const listQuery = Type.Object(
  {
    limit: listQueryProperties().limit,
    starting_after: Type.Optional(
      Type.String({
        description: "The number of the last checkpoint of the previous page (exclusive).",
        pattern: CHECKPOINT_NUMBER_PATTERN,
        rule: "must be the number of the last checkpoint of the previous page",
        openapi: { type: "integer", minimum: 1, examples: [4711] },
      }),
    ),
  },
  { additionalProperties: false },
);

const keySet = Type.Object(
  {
    keys: Type.Array(SigningJwk, {
      description: "The keys, newest first. The list is empty if checkpoints are not signed.",
    }),
  },
  { title: "AuditSigningKeySet", description: "A JSON Web Key Set (RFC 7517)." },
);

/** Serves checkpoints and signing keys. Anyone may keep copies of them (AU-60). */
export function checkpointHandlers(database: Database) {
  return new Elysia({ name: "audit-checkpoints", normalize: false })
    .get(
      "/audit-checkpoints",
      async ({ query }) => {
        const { limit, starting_after } = pageRequest(query);
        const before = starting_after === null ? null : Number(starting_after);
        const { items, has_more } = page(await selectCheckpoints(database, before, limit + 1), limit);
        return { audit_checkpoints: items, has_more };
      },
      {
        query: listQuery,
        response: {
          200: { ...pageSchema("audit_checkpoints", Checkpoint), description: "A page." },
          ...errors(),
        },
        detail: operations.listAuditCheckpoints,
      },
    )
    .get("/.well-known/jwks.json", async () => ({ keys: await selectSigningKeys(database) }), {
      query: Type.Object({}, { additionalProperties: false }),
      response: { 200: keySet, ...errors() },
      detail: operations.getAuditSigningKeys,
    });
}
