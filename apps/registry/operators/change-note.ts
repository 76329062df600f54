import {
  isChangeLink,
  LINK_HEADER as LINK,
  LINK_LENGTH_MAX,
  REASON_HEADER as REASON,
  REASON_LENGTH_MAX,
} from "@ostiary/lib/contracts/registry-api";
import { type FieldError, validationError } from "@ostiary/lib/domain/errors";
import { tryUtf8 } from "@ostiary/lib/domain/json";
import { Type } from "@sinclair/typebox";

/** The reason and the link that an operator gives with a write (RG-119). */
interface ChangeNote {
  readonly reason: string | null;
  readonly link: string | null;
}

/** The headers of every write, which {@link readChangeNote} reads. */
export const changeNoteHeaders = {
  "x-change-reason": Type.Optional(
    Type.String({
      description: `Why the write is made, in at most ${REASON_LENGTH_MAX} characters of UTF-8. The history shows this reason.`,
      openapi: { maxLength: REASON_LENGTH_MAX },
    }),
  ),
  "x-change-link": Type.Optional(
    Type.String({
      description: "The http or https URL of a ticket or pipeline run. The history shows this URL.",
      openapi: { maxLength: LINK_LENGTH_MAX, format: "uri" },
    }),
  ),
};

/**
 * Reads the reason and the link of a write. An empty header counts as missing.
 *
 * @throws ApiError 422 that names each wrong header
 */
export function readChangeNote(headers: Headers): ChangeNote {
  const problems: FieldError[] = [];
  const reason = textOf(headers.get(REASON));
  if (reason === undefined || (reason !== null && !isReason(reason))) {
    const message = `${REASON} must be at most ${REASON_LENGTH_MAX} characters of UTF-8 without control characters.`;
    problems.push({ path: REASON, message });
  }
  const link = textOf(headers.get(LINK));
  if (link === undefined || (link !== null && !isChangeLink(link))) {
    const message = `${LINK} must be an http:// or https:// URL of at most ${LINK_LENGTH_MAX} characters, without user and password.`;
    problems.push({ path: LINK, message });
  }
  if (problems.length > 0) throw validationError(problems);
  return { reason: reason ?? null, link: link ?? null };
}

/**
 * Decodes a header as UTF-8; the runtime decodes headers as Latin-1. Returns null for a missing or empty
 * header, and undefined for bytes that are not UTF-8.
 */
function textOf(header: string | null): string | null | undefined {
  const value = header?.trim() ?? "";
  return value === "" ? null : tryUtf8(Buffer.from(value, "latin1"));
}

function isReason(text: string): boolean {
  return [...text].length <= REASON_LENGTH_MAX && !/\p{Cc}/u.test(text);
}
