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
interface Answer {
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
function answersTo(methods: readonly string[], pieces: readonly string[]): Answer[] {
  const answers: Answer[] = [];
  let at = 0;
  const begin = (): Answer => {
    const method = methods[answers.length] ?? "GET";
    const rest = { head: null, body: "", ended: false, reusable: false, refused: false };
    const answer = { method, from: at, to: at, ...rest };
    answers.push(answer);
    reader.expect(method);
    return answer;
  };
  const reader = new ResponseReader(names, {
    onHead: (head) => {
      answer.head = head;
    },
    onBody: (bytes) => {
      answer.body += Buffer.from(bytes).toString("latin1");
    },
    onEnd: (reusable) => {
      answer.ended = true;
      answer.reusable = reusable;
    },
  });
  let answer = begin();
  try {
    for (const piece of pieces) {
      if (answer.ended && !answer.reusable) break;
      if (answer.ended) answer = begin();
      at += piece.length;
      reader.take(Buffer.from(piece, "latin1"));
      answer.to = at;
    }
    if (!answer.ended) reader.end();
  } catch (error) {
    if (!(error instanceof MalformedResponse)) throw error;
    answer.refused = true;
  }
  return answers;
}

/** Returns what the reference reader reads for the same request, or null if it refuses the response. */
function expectedOf({ method, from, to }: Answer, stream: string) {
  const response = referenceRead(stream.slice(from), method);
  if (response === null) return null;
  const { status, fields, body, end, persistent } = response;
  return { status, fields, body, reusable: persistent && end !== null && from + end === to };
}

function gotOf({ head, body, reusable, refused }: Answer) {
  if (refused || head === null) return null;
  return { status: head.status, fields: head.fields, body, reusable };
}

function disagreement(
  seed: number,
  { method, from }: Answer,
  stream: string,
  got: unknown,
  expected: unknown,
) {
  const bytes = JSON.stringify(stream.slice(from));
  return `Seed ${seed}: to ${method}, ${bytes} is read as ${JSON.stringify(got)}, not ${JSON.stringify(expected)}`;
}

test("the gateway reads or refuses damaged, split and joined responses like the reference reader", () => {
  const counts = { answered: 0, refused: 0, reused: 0 };
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
    for (const answer of answersTo(methods, pieces)) {
      const got = gotOf(answer);
      const expected = expectedOf(answer, stream);
      if (!Bun.deepEquals(got, expected)) throw new Error(disagreement(seed, answer, stream, got, expected));
      if (got === null) counts.refused++;
      else counts.answered++;
      if (answer.reusable) counts.reused++;
    }
  }
  // Each outcome must occur often, or the random responses would not test it.
  for (const count of Object.values(counts)) expect(count).toBeGreaterThan(SEEDS / 10);
}, 120_000);
