import { readText } from "@ostiary/lib/runtime/http";
import { Elysia } from "elysia";
import type { Answer, Cosigner } from "./cosigner.ts";

/**
 * The size limit of a request body: 63 lines of a proof, and a note with the signatures of many witnesses.
 */
export const SUBMISSION_BYTES_MAX = 65_536;

/** Serves add-checkpoint of C2SP tlog-witness (OP-80). */
export function cosigningHandlers(cosigner: Cosigner) {
  return new Elysia({ name: "witness-checkpoints", normalize: false }).post(
    "/add-checkpoint",
    async ({ request }) => responseOf(await cosigner.add(await readText(request, SUBMISSION_BYTES_MAX))),
  );
}

function responseOf(answer: Answer): Response {
  return answer.outcome === "cosigned"
    ? new Response(answer.line, { headers: { "Content-Type": "text/plain; charset=utf-8" } })
    : new Response(`${answer.size}\n`, { status: 409, headers: { "Content-Type": "text/x.tlog.size" } });
}
