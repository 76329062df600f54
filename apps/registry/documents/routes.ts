import { Applied, Plan } from "@ostiary/lib/contracts/registry-api";
import { validationError } from "@ostiary/lib/domain/errors";
import { ConfigDocument } from "@ostiary/lib/domain/routes";
import { contextOf, describedBody } from "@ostiary/lib/runtime/http";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { bodyErrors, errors, routeConflict } from "../errors.ts";
import { waitedFor, waitParameters } from "../gateways/wait.ts";
import type { Publishing } from "../publishing/publish.ts";
import { applyDocument, planDocument } from "./commands.ts";
import { DOCUMENT_TYPES, readDocument, validServices } from "./document.ts";

const query = Type.Object(
  {
    dry_run: Type.Optional(
      Type.Union([Type.Literal("true"), Type.Literal("false")], {
        description: "`true`: check everything and tell what would change, but write nothing.",
        rule: "must be true or false",
        openapi: { type: "boolean", default: false },
      }),
    ),
    ...waitParameters,
  },
  { additionalProperties: false },
);

/** `POST /apply` (Gateway specification, Endpoints; contract 3). */
export function documentRoutes(publishing: Publishing, body_bytes_max: number) {
  return new Elysia({ name: "documents", normalize: false }).post(
    "/apply",
    async ({ request, query }) => {
      const { dry_run, wait_ms } = query;
      if (dry_run === "true" && wait_ms !== undefined) throw nothingToWaitFor();
      const configs = validServices(await readDocument(request, body_bytes_max));
      if (dry_run === "true") return planDocument(publishing.database, configs);
      const services = [...configs.keys()];
      const { request_id } = contextOf(request);
      const { result, propagation } = await waitedFor(publishing, { services, wait_ms, request }, (waited) =>
        applyDocument(waited, configs, request_id),
      );
      return { ...result, propagation };
    },
    {
      query,
      response: {
        200: Type.Union([Applied, Plan], {
          title: "ApplyAnswer",
          description: "What was written or, on a dry run, what would be.",
        }),
        ...errors(routeConflict),
        ...bodyErrors("services.widgets.url"),
      },
      detail: {
        operationId: "apply",
        tags: ["Apply"],
        summary: "Create or replace services",
        description:
          "Checks the whole document and then writes all of its services in one transaction, each with a new revision. Services that the document does not name stay as they are. When anything is refused nothing is written.",
        requestBody: describedBody(
          ConfigDocument,
          "A configuration document. Without a content type it is read as YAML, which holds JSON.",
          DOCUMENT_TYPES,
        ),
      },
    },
  );
}

function nothingToWaitFor() {
  return validationError([
    { path: "wait_ms", message: "A dry run writes nothing to wait for: leave out wait_ms or dry_run." },
  ]);
}
