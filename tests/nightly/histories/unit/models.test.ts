import { describe, expect, test } from "bun:test";
import { check } from "../checker/check.ts";
import type { Model, Operation } from "../checker/model.ts";
import { type FeedAnswer, type FeedCall, feedOf } from "../models/feed.ts";
import { type InviteAnswer, type InviteCall, invitesOf } from "../models/invites.ts";
import { type LimitAnswer, type LimitCall, limitOf } from "../models/limits.ts";
import { type OwnerAnswer, type OwnerCall, ownersOf } from "../models/owners.ts";
import { type OwnershipAnswer, type OwnershipCall, ownership } from "../models/ownership.ts";
import { type RevisionAnswer, type RevisionCall, revisions } from "../models/revisions.ts";
import { type RotationAnswer, type RotationCall, rotation } from "../models/rotation.ts";

/** Returns operations that all run at the same time. */
function atOnce<Call, Answer>(
  ...pairs: readonly (readonly [Call, Answer | null])[]
): Operation<Call, Answer>[] {
  return pairs.map(([call, answer]) => ({
    call,
    answer,
    calledAt: 0,
    answeredAt: answer === null ? Number.POSITIVE_INFINITY : 1,
  }));
}

/** Returns consecutive operations. */
function inTurn<Call, Answer>(
  ...pairs: readonly (readonly [Call, Answer | null])[]
): Operation<Call, Answer>[] {
  return atOnce(...pairs).map((operation, place) => ({
    ...operation,
    calledAt: 2 * place,
    answeredAt: operation.answer === null ? Number.POSITIVE_INFINITY : 2 * place + 1,
  }));
}

function resultOf<State, Call, Answer>(
  model: Model<State, Call, Answer>,
  operations: readonly Operation<Call, Answer>[],
) {
  return check(model, operations)[0]?.result;
}

describe("the model of revisions", () => {
  const write = { service: "a", request_id: "", ifMatch: null };
  const put = (value: string, ifMatch: number | null = null) =>
    ({ ...write, kind: "put", value, ifMatch }) as const;
  const written = (revision: number) => ({ kind: "written", revision }) as const;
  const refused = (current: number | null) => ({ kind: "refused", current }) as const;
  const read = { kind: "read", service: "a" } as const;
  const missing = { kind: "missing" } as const;

  test("accepts the life of a service", () => {
    const history = inTurn<RevisionCall, RevisionAnswer>(
      [put("x", 1), refused(null)],
      [put("x"), written(1)],
      [put("y", 1), written(2)],
      [put("z", 1), refused(2)],
      [{ ...write, kind: "delete" } as const, { kind: "written", revision: null } as const],
      [read, missing],
      [{ ...write, kind: "delete" } as const, missing],
      [{ ...write, kind: "restore", revision: 1 } as const, written(4)],
      [read, { kind: "read", revision: 4, value: "x" } as const],
    );
    expect(resultOf(revisions, history)).toBe("linearizable");
  });

  test("finds two writes with one If-Match that both succeed", () => {
    const lost = [...inTurn<RevisionCall, RevisionAnswer>([put("x"), written(1)])];
    const both = atOnce<RevisionCall, RevisionAnswer>([put("y", 1), written(2)], [put("z", 1), written(3)]);
    const later = both.map((each) => ({ ...each, calledAt: 5, answeredAt: 6 }));
    expect(resultOf(revisions, [...lost, ...later])).toBe("not linearizable");
  });

  test("finds a revision number that is used twice, and a read of an older revision", () => {
    const twice = atOnce<RevisionCall, RevisionAnswer>([put("x"), written(1)], [put("y"), written(1)]);
    expect(resultOf(revisions, twice)).toBe("not linearizable");
    const stale = inTurn<RevisionCall, RevisionAnswer>(
      [put("x"), written(1)],
      [put("y"), written(2)],
      [read, { kind: "read", revision: 1, value: "x" } as const],
    );
    expect(resultOf(revisions, stale)).toBe("not linearizable");
  });
});

describe("the model of ownership", () => {
  const change = (kind: "claim" | "release", service: string) => ({
    kind,
    path: "/",
    service,
    request_id: "",
  });
  const conflict = (owner: string) => ({ kind: "conflict", owner }) as const;

  const done: OwnershipAnswer = { kind: "done" };

  test("accepts a claim after the release, and a conflict that names the owner", () => {
    const history = inTurn<OwnershipCall, OwnershipAnswer>(
      [change("claim", "a"), done],
      [change("claim", "b"), conflict("a")],
      [change("release", "b"), done],
      [change("claim", "b"), conflict("a")],
      [change("release", "a"), done],
      [change("claim", "b"), done],
    );
    expect(resultOf(ownership, history)).toBe("linearizable");
  });

  test("finds two owners of one route", () => {
    const both = atOnce<OwnershipCall, OwnershipAnswer>(
      [change("claim", "a"), done],
      [change("claim", "b"), done],
    );
    expect(resultOf(ownership, both)).toBe("not linearizable");
  });
});

describe("the model of invites", () => {
  const redeem = (person: string): InviteCall => ({ kind: "redeem", invite: "i", person });
  const joined: InviteAnswer = { kind: "joined" };
  const read: InviteCall = { kind: "read", invite: "i" };
  const revoke: InviteCall = { kind: "revoke", invite: "i" };

  test("accepts uses up to the last one, and refusals after it", () => {
    const history = inTurn<InviteCall, InviteAnswer>(
      [redeem("a"), joined],
      [redeem("a"), { kind: "member" }],
      [redeem("b"), { kind: "refused", status: "redeemed" }],
      [revoke, { kind: "revoked" }],
      [read, { kind: "read", status: "redeemed", use_count: 2 }],
    );
    expect(resultOf(invitesOf(2), history)).toBe("linearizable");
  });

  test("finds a use over the maximum, and a person who joined twice", () => {
    const two = atOnce<InviteCall, InviteAnswer>([redeem("a"), joined], [redeem("b"), joined]);
    expect(resultOf(invitesOf(1), two)).toBe("not linearizable");
    const twice = atOnce<InviteCall, InviteAnswer>([redeem("a"), joined], [redeem("a"), joined]);
    expect(resultOf(invitesOf(9), twice)).toBe("not linearizable");
  });

  test("finds a use after the revocation", () => {
    const history = inTurn<InviteCall, InviteAnswer>([revoke, { kind: "revoked" }], [redeem("a"), joined]);
    expect(resultOf(invitesOf(9), history)).toBe("not linearizable");
  });
});

describe("the model of the last owner", () => {
  const change = (kind: "promote" | "demote" | "remove", member: string): OwnerCall => ({
    kind,
    organization: "o",
    member,
  });
  const done: OwnerAnswer = { kind: "done" };

  test("accepts that the last of two owners cannot be removed", () => {
    const history = inTurn<OwnerCall, OwnerAnswer>(
      [change("demote", "a"), done],
      [change("remove", "b"), { kind: "refused" }],
      [change("promote", "a"), done],
      [change("remove", "b"), done],
      [change("demote", "b"), { kind: "missing" }],
      [
        { kind: "read", organization: "o" },
        { kind: "read", owners: ["a"] },
      ],
    );
    expect(resultOf(ownersOf(["b", "a"]), history)).toBe("linearizable");
  });

  test("finds two concurrent demotions that leave no owner", () => {
    const both = atOnce<OwnerCall, OwnerAnswer>([change("demote", "a"), done], [change("demote", "b"), done]);
    expect(resultOf(ownersOf(["a", "b"]), both)).toBe("not linearizable");
  });
});

describe("the model of rotation", () => {
  const rotate = (key: string): RotationCall => ({ kind: "rotate", line: "k", key });
  const validate = (key: string): RotationCall => ({ kind: "validate", line: "k", key });
  const rotated = (key: string): RotationAnswer => ({ kind: "rotated", key });
  const validated = (valid: boolean): RotationAnswer => ({ kind: "validated", valid });

  test("accepts one rotation of a key, and an unanswered rotation that invalidates a key", () => {
    const history = inTurn<RotationCall, RotationAnswer>(
      [rotate("k"), rotated("l")],
      [rotate("k"), { kind: "refused" }],
      [validate("l"), validated(true)],
      [rotate("l"), null],
      [validate("l"), validated(false)],
    );
    expect(resultOf(rotation, history)).toBe("linearizable");
  });

  test("finds two rotations of one key, and an old key that stays valid", () => {
    const first = [rotate("k"), rotated("l")] as const;
    const twice = atOnce<RotationCall, RotationAnswer>(first, [rotate("k"), rotated("m")]);
    expect(resultOf(rotation, twice)).toBe("not linearizable");
    const revived = inTurn<RotationCall, RotationAnswer>(first, [validate("k"), validated(true)]);
    expect(resultOf(rotation, revived)).toBe("not linearizable");
  });
});

describe("the model of limits", () => {
  const take = { bucket: "b" };
  const left = (remaining: number | null) => ({ remaining });

  test("accepts counts in any order, and an unanswered request that was counted", () => {
    const mixed = atOnce([take, left(0)], [take, left(null)], [take, left(1)]);
    expect(resultOf(limitOf(2), mixed)).toBe("linearizable");
    const open = inTurn([take, null], [take, left(0)], [take, left(null)]);
    expect(resultOf(limitOf(2), open)).toBe("linearizable");
  });

  test("decides a whole window in which most requests have no answer", () => {
    const open = Array.from({ length: 60 }, () => [take, null] as const);
    const then = (...counts: (number | null)[]) =>
      inTurn<LimitCall, LimitAnswer>(...open, ...counts.map((count) => [take, left(count)] as const));
    expect(resultOf(limitOf(25), then(20, 11, 10, 2, null, null))).toBe("linearizable");
    expect(resultOf(limitOf(25), then(20, 11, 12, 2, null))).toBe("not linearizable");
    expect(resultOf(limitOf(90), then(20, null))).toBe("not linearizable");
  });

  test("finds a request over the limit, a repeated count, and a refusal below the limit", () => {
    const beyond = atOnce([take, left(1)], [take, left(0)], [take, left(0)]);
    expect(resultOf(limitOf(2), beyond)).toBe("not linearizable");
    expect(resultOf(limitOf(3), atOnce([take, left(2)], [take, left(2)]))).toBe("not linearizable");
    expect(resultOf(limitOf(3), inTurn([take, left(2)], [take, left(null)]))).toBe("not linearizable");
  });
});

describe("the model of the feed", () => {
  const events = [
    { id: "1", name: "a" },
    { id: "2", name: null },
    { id: "3", name: "b" },
  ];
  const append = (name: string): FeedCall => ({ kind: "append", name });
  const appended: FeedAnswer = { kind: "appended" };
  const read = (after: string | null): FeedCall => ({ kind: "read", after });
  const page = (...ids: string[]): FeedAnswer => ({ kind: "read", ids });

  test("accepts pages that lag behind, and an unanswered write that was never applied", () => {
    const history = inTurn<FeedCall, FeedAnswer>(
      [append("a"), appended],
      [append("never"), null],
      [read(null), page()],
      [append("b"), appended],
      [read(null), page("1")],
      [read("1"), page("2", "3")],
    );
    expect(resultOf(feedOf(events), history)).toBe("linearizable");
  });

  test("finds an event that a page leaves out, and an event that a page repeats", () => {
    const written = [
      [append("a"), appended],
      [append("b"), appended],
    ] as const;
    for (const answer of [page("3"), page("1", "2")]) {
      const history = inTurn<FeedCall, FeedAnswer>(...written, [read("1"), answer]);
      expect(resultOf(feedOf(events), history)).toBe("not linearizable");
    }
  });

  test("finds events in another order than their writes, and a lost event", () => {
    const against = inTurn<FeedCall, FeedAnswer>([append("b"), appended], [append("a"), appended]);
    expect(resultOf(feedOf(events), against)).toBe("not linearizable");
    const lost = inTurn<FeedCall, FeedAnswer>([append("lost"), appended]);
    expect(resultOf(feedOf(events), lost)).toBe("not linearizable");
  });

  test("finds an event that was shown before its write began", () => {
    const early = inTurn<FeedCall, FeedAnswer>([read(null), page("1")], [append("a"), appended]);
    expect(resultOf(feedOf(events), early)).toBe("not linearizable");
  });
});
