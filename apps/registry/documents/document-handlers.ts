import { KeyedSemaphore, type Release } from "@ostiary/lib/async";
import { Applied, DryRun } from "@ostiary/lib/contracts/registry-api";
import { validationError } from "@ostiary/lib/domain/errors";
import { ConfigDocument } from "@ostiary/lib/domain/routes";
import { errorResponses } from "@ostiary/lib/openapi";
import type { Operator } from "@ostiary/lib/runtime/config/operators-file";
import { booleanParameter, describedBody } from "@ostiary/lib/runtime/http";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { foreignService, operatorErrors, routeConflict, wrongUrl } from "../documented-errors.ts";
import { waitedFor, waitParameters } from "../gateways/wait-parameter.ts";
import { operatorOf } from "../operators/access.ts";
import { authorOf } from "../operators/write-permission.ts";
import { dryRunTag, readExpectedDryRun } from "../publishing/if-match.ts";
import type { Publishing } from "../publishing/publish.ts";
import { writeHeadersWith } from "../registry-parameters.ts";
import { DOCUMENT_TYPES, readDocument, validServices } from "./document.ts";
import { applyDocument } from "./document-commands.ts";
import { dryRunDocument } from "./dry-run.ts";

const DOCUMENT_BODY =
  "A configuration document. Without a content type it is read as YAML, which includes JSON.";

const query = Type.Object(
  {
    dry_run: booleanParameter("`true`: check everything and report the changes, but write nothing."),
    ...waitParameters,
  },
  { additionalProperties: false },
);

const headers = writeHeadersWith(
  "The ETag of a dry run of the same services. The response is 412 if one of these services was written since the dry run. `*` matches any state.",
);

/** The maximum number of documents of one operator that are checked or written at once. One can take 100 MB. */
const DOCUMENTS_OF_OPERATOR_MAX = 4;

/** Serves `POST /apply` (RG-43). */
export function documentHandlers(publishing: Publishing, bodyBytesMax: number) {
  const turns = new KeyedSemaphore(DOCUMENTS_OF_OPERATOR_MAX);
  const inTurn = async <T>({ name }: Operator, work: (done: Release) => Promise<T>) => {
    const done = await turns.acquire(name);
    return work(done).finally(done);
  };
  return new Elysia({ name: "documents", normalize: false, tags: ["Apply"] }).post(
    "/apply",
    async ({ request, query, set }) => {
      const { dry_run, wait_ms } = query;
      if (dry_run === "true" && wait_ms !== undefined) throw nothingToWaitFor();
      const parse = await readDocument(request, bodyBytesMax);
      return inTurn(operatorOf(request), async (done) => {
        const configs = validServices(parse());
        const author = authorOf(request);
        if (dry_run === "true") {
          const response = await dryRunDocument(publishing, configs, author.operator);
          const revisions = new Map(response.results.map(({ service, revision }) => [service, revision]));
          set.headers.etag = `"${dryRunTag(revisions)}"`;
          return response;
        }
        const services = [...configs.keys()];
        const write = { expected: readExpectedDryRun(request), author };
        // a wait for gateways takes no turn
        return waitedFor(publishing, { services, wait_ms, request }, (waited) =>
          applyDocument(waited, configs, write).finally(done),
        );
      });
    },
    {
      query,
      headers,
      response: {
        200: Type.Union([Applied, DryRun], {
          title: "ApplyResponse",
          description: "The written services or, on a dry run, the preview.",
          response_headers: {
            ETag: Type.String({
              pattern: '^"[A-Za-z0-9_-]{43}"$',
              description:
                "The state on which the preview of a dry run is based, for the If-Match header of the apply.",
              examples: ['"RBNvo1WzZ4oRRq0W9-hkpg7T8XAkNw2hTPW0mZIkEsA"'],
            }),
          },
        }),
        ...operatorErrors(routeConflict, foreignService, "PRECONDITION_FAILED", "PAYLOAD_TOO_LARGE"),
        ...errorResponses(wrongUrl("services.widgets.url")),
      },
      detail: {
        operationId: "apply",
        summary: "Create or replace services",
        description:
          "Checks the whole document and then writes all of its services in one transaction, each with a new revision. Services that the document does not name stay as they are. If anything is refused, nothing is written.",
        requestBody: describedBody(ConfigDocument, DOCUMENT_BODY, DOCUMENT_TYPES),
      },
    },
  );
}

function nothingToWaitFor() {
  return validationError([
    {
      path: "wait_ms",
      message: "A dry run writes nothing, so wait_ms has no effect: leave out wait_ms or dry_run.",
    },
  ]);
}
