import { expect, test } from "bun:test";
import { sitesIn } from "../sites.ts";

const SOURCE = `
/** The bound, in a comment: a === b. */
export const Body = Type.Object({ name: Type.String({ maxLength: 64, description: "1 < 2" }) });
type Never = typeof a extends 1 ? 2 : 3;
async function handle(a: number) {
  if (a === 404) return;
  if (!known(a)) throw new ApiError("NOT_FOUND");
  if (a > 5) { a = 5; } else { a = 6; }
  await store.write(a);
  log.warn("a" === "b");
  requests.inc({ status: 200 });
  return new Response(null, { status: 204 });
}
`;

test("a mutation of each kind is found, and none in types, texts, log lines and metrics", () => {
  const changes = sitesIn("handle.ts", SOURCE).map(
    ({ kind, start, end, text }) => `${kind}: ${SOURCE.slice(start, end)} → ${text}`,
  );
  expect(changes).toEqual([
    "bound: 64 → 65",
    "guard: a === 404 → false",
    "comparison: === → !==",
    "status: 404 → 403",
    "guard: !known(a) → false",
    "negation: !known(a) → known(a)",
    'status: "NOT_FOUND" → "FORBIDDEN"',
    "bound: > → >=",
    "bound: 5 → 6",
    "statement: await store.write(a); → ;",
    "await: await store.write(a) → store.write(a)",
    "status: 204 → 200",
  ]);
});
