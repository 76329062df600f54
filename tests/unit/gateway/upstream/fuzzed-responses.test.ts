import { expect, test } from "bun:test";
import { FieldNames } from "../../../../apps/gateway/upstream/field-names.ts";
import { MalformedResponse } from "../../../../apps/gateway/upstream/http-bytes.ts";
import { type ResponseHead, ResponseReader } from "../../../../apps/gateway/upstream/response-reader.ts";
import { Random } from "../../../support/random.ts";
import { runs } from "../../../support/runs.ts";
import { damaged, randomPieces, randomResponse } from "./random-responses.ts";
import { referenceRead } from "./reference-reader.ts";

const SEEDS = runs(4_000);
const REQUESTS_MAX = 4;

/** The response to one request on a connection, as the gateway's reader reports it. */
interface ReadResponse {
  readonly method: string;
  /** The offset of the first byte that the reader received for this request. */
  readonly from: number;
  head: ResponseHead | null;
  body: string;
  ended: boolean;
  reusable: boolean;
  refused: boolean;
  /** The offset after the last piece that the reader accepted for this request. */
  to: number;
}

const names = new FieldNames(() => true);

/**
 * Feeds the pieces of one connection to the gateway's reader, and returns what it reads for consecutive
 * requests. A `MalformedResponse` is recorded as `refused`; other errors are thrown.
 */
function readResponses(methods: readonly string[], pieces: readonly string[]): ReadResponse[] {
  const responses: ReadResponse[] = [];
  let at = 0;
  const begin = (): ReadResponse => {
    const method = methods[responses.length] ?? "GET";
    const rest = { head: null, body: "", ended: false, reusable: false, refused: false };
    const response = { method, from: at, to: at, ...rest };
    responses.push(response);
    reader.expect(method);
    return response;
  };
  const reader = new ResponseReader(names, {
    onHead: (head) => {
      response.head = head;
    },
    onBody: (bytes) => {
      response.body += Buffer.from(bytes).toString("latin1");
    },
    onEnd: (reusable) => {
      response.ended = true;
      response.reusable = reusable;
    },
  });
  let response = begin();
  try {
    for (const piece of pieces) {
      if (response.ended && !response.reusable) break;
      if (response.ended) response = begin();
      at += piece.length;
      reader.take(Buffer.from(piece, "latin1"));
      response.to = at;
    }
    if (!response.ended) reader.end();
  } catch (error) {
    if (!(error instanceof MalformedResponse)) throw error;
    response.refused = true;
  }
  return responses;
}

/** Returns what the reference reader reads for the same request, or null if it refuses the response. */
function expectedOf({ method, from, to }: ReadResponse, stream: string) {
  const response = referenceRead(stream.slice(from), method);
  if (response === null) return null;
  const { status, fields, body, end, persistent } = response;
  return { status, fields, body, reusable: persistent && end !== null && from + end === to };
}

function gotOf({ head, body, reusable, refused }: ReadResponse) {
  if (refused || head === null) return null;
  return { status: head.status, fields: head.fields, body, reusable };
}

function disagreement(
  seed: number,
  { method, from }: ReadResponse,
  stream: string,
  got: unknown,
  expected: unknown,
) {
  const bytes = JSON.stringify(stream.slice(from));
  return `Seed ${seed}: to ${method}, ${bytes} is read as ${JSON.stringify(got)}, not ${JSON.stringify(expected)}`;
}

test("the gateway reads or refuses damaged, split and joined responses like the reference reader", () => {
  const counts = { read: 0, refused: 0, reused: 0 };
  for (let seed = 0; seed < SEEDS; seed++) {
    const random = new Random(seed);
    const responses = Array.from({ length: 1 + random.below(REQUESTS_MAX) }, () => {
      const response = randomResponse(random);
      return random.chance(30) ? damaged(response, random) : response;
    });
    const methods = responses.map(() => random.pick(["GET", "GET", "POST", "HEAD"]));
    // The responses arrive one by one, as from a service that waits for each request, or joined.
    const pieces = random.chance(70)
      ? responses.flatMap((response) => (random.chance(60) ? [response] : randomPieces(response, random)))
      : randomPieces(responses.join(""), random);
    const stream = pieces.join("");
    for (const response of readResponses(methods, pieces)) {
      const got = gotOf(response);
      const expected = expectedOf(response, stream);
      if (!Bun.deepEquals(got, expected))
        throw new Error(disagreement(seed, response, stream, got, expected));
      if (got === null) counts.refused++;
      else counts.read++;
      if (response.reusable) counts.reused++;
    }
  }
  // Each outcome must occur often, or the random responses would not test it.
  for (const count of Object.values(counts)) expect(count).toBeGreaterThan(SEEDS / 10);
}, 120_000);
