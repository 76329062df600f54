import { describe, expect, test } from "bun:test";
import { contentHash, hexOf, intentContent, outcomeContent } from "@ostiary/lib/domain/proof";
import { restartLine } from "@ostiary/lib/domain/tlog";
import {
  englishOf,
  readLogKey,
  readWitnessKeys,
  type Verdict,
  type VerifyGiven,
} from "@ostiary/lib/verification";
import { Findings, isAltered } from "@ostiary/lib/verification/findings";
import {
  droppedMonths,
  givenOf,
  goodExports,
  joinedLate,
  KEY,
  NOW_MS,
  OLD_KEY,
  PERSON,
  restarted,
  SECOND_WITNESS,
  twoDays,
  WITNESS,
  withTime,
} from "../../support/audit/proof-exports.ts";
import { LogBuilder, logKeyText, ORIGIN, OWNER, witnessKeyText } from "../../support/audit/proof-log.ts";
import { codesOf, endIn, eventIn, kept, summaryOf, verify } from "../../support/audit/verify-lines.ts";

const exports = await goodExports();

// AU-65, AU-76
describe("the verdict on an unchanged export", () => {
  test("says what was verified", async () => {
    const [, , , good] = exports;
    if (good === undefined) throw new Error("no export");
    const found = await verify(good.lines, await givenOf(good));
    expect({ ...found, root: found.root?.size, keys: found.keys.length }).toMatchObject({
      result: "complete",
      events: 8,
      entries: 14,
      pending: 2,
      occurred_from: "2026-01-05T10:00:00.000Z",
      occurred_to: "2026-01-07T10:00:06.000Z",
      root: 4,
      keys: 1,
      key_given: true,
      kept: [
        { name: "root 1", size: 3 },
        { name: "root 2", size: 4 },
        { name: "root 3", size: 4 },
      ],
      heads: 2,
    });
    expect(found.witnesses?.cosignatures.map(({ name, cosigned_at }) => `${name} ${cosigned_at}`)).toEqual([
      "witness.example.com/1 2026-01-01T00:00:00.000Z",
      "witness.example.com/2 2026-01-01T00:00:00.000Z",
    ]);
  });

  test("says that the key is not confirmed, and that a log was restarted", async () => {
    const log = twoDays();
    log.extensions = [restartLine({ declared_at: "2026-01-04T00:00:00.000Z", size: 9, origin: "old" })];
    expect(await verify(await log.export(OWNER))).toMatchObject({
      result: "complete",
      key_given: false,
      owner_given: false,
      earlier_trees: [{ declared_at: "2026-01-04T00:00:00.000Z", size: 9, origin: "old" }],
    });
  });
});

function withEnd(lines: readonly string[], more: object): string[] {
  return lines.with(-1, JSON.stringify({ ...endIn(lines), ...more }));
}

// AU-77
describe("an export is altered when", () => {
  test.each<[string, (lines: string[]) => string[]]>([
    ["a name stands twice in an object", (lines) => lines.with(0, `{"id":"x",${lines[0]?.slice(1)}`)],
    ["there is an empty line", (lines) => lines.toSpliced(1, 0, "")],
  ])("%s", async (_title, attack) => {
    const verdict = await verify(attack(await twoDays().export(OWNER)));
    expect(summaryOf(verdict)).toMatch(/^altered .*line_unreadable/);
  });

  test.each(["user:nobody", OWNER])("it is the one of %s and another owner is asked for", async (owner) => {
    const verdict = await verify(await twoDays().export(owner), { owner: "organization:zenith" });
    expect(verdict).toMatchObject({ result: "altered", owner });
    const finding = { code: "other_owner", expected: "organization:zenith", found: owner };
    expect(verdict.findings[0]).toMatchObject(finding);
  });

  test("an event was added an hour after its neighbours", async () => {
    const log = new LogBuilder([KEY]);
    log.write("2026-01-05T12:00:00.000Z");
    const { id } = log.write("2026-01-05T10:59:00.000Z");
    log.write("2026-01-05T12:00:01.000Z");
    log.seal("2026-01-05T12:00:02.000Z");
    const verdict = await verify(await log.export(OWNER));
    expect(verdict.findings).toMatchObject([{ code: "event_late", place: { event_id: id, position: 3 } }]);
  });
});

// AU-65
test.each([
  ["2026-01-07T08:59:59.999Z", "altered event_time_wrong"],
  ["2026-01-07T09:00:00.000Z", "complete"],
  ["2026-01-09T11:00:00.000Z", "complete"],
  ["2026-01-09T11:00:00.001Z", "altered event_time_wrong"],
])(
  "an event of 2026-01-08T10:00:00Z that claims the time %s is found when that is over 25 hours off",
  async (at, summary) => {
    expect(summaryOf(await verify(await withTime(at).export(OWNER)))).toBe(summary);
  },
);

// AU-199
describe("an event that its outcome put into the log", () => {
  const late = joinedLate("2026-01-05T10:59:00.000Z");

  test("after an event that is over an hour newer leaves the log undecided, and is named", async () => {
    const verdict = await verify(await late.export(OWNER));
    expect(verdict.result).toBe("undecided");
    expect(verdict.findings).toMatchObject([{ code: "event_joined_late", place: { position: 5 } }]);
  });

  test("within the hour is complete", async () => {
    const verdict = await verify(await joinedLate("2026-01-05T11:00:30.000Z").export(OWNER));
    expect(summaryOf(verdict)).toBe("complete");
  });

  test("shows that a later intent is late", async () => {
    const log = new LogBuilder([KEY]);
    log.write("2026-01-05T12:00:00.000Z", { named: { intent_member_id: null } });
    log.write("2026-01-05T10:59:00.000Z");
    log.seal("2026-01-05T12:00:02.000Z");
    expect(codesOf(await verify(await log.export(OWNER)))).toEqual(["event_late"]);
  });

  test("is late in the log of its person like any other", async () => {
    expect(codesOf(await verify(await late.export(PERSON)))).toEqual(["event_late"]);
  });

  test("is explained by a restart after which it was sealed again", async () => {
    const log = twoDays();
    log.restart(OWNER, 15, "2026-01-08T09:00:00.000Z", []);
    log.write("2026-01-06T10:00:00.000Z", { named: { intent_member_id: null } });
    log.seal("2026-01-08T10:00:01.000Z");
    expect(codesOf(await verify(await log.export(OWNER)))).toEqual(["entries_given_up"]);
  });
});

// AU-68
describe("a dropped month", () => {
  test("is counted, and named", async () => {
    const verdict = await verify(await droppedMonths().export(OWNER));
    expect(verdict).toMatchObject({ result: "complete", dropped: { entries: 18, month: "2026-02" } });
  });

  const hide = async (more: object) => {
    const lines = await droppedMonths().export(OWNER);
    const oldest = eventIn(lines.at(-2));
    const chain = oldest.proof.outcome?.chain ?? "";
    const run = { kind: "dropped", from: 19, to: 20, chain, ...more } as const;
    const retention = endIn(lines).retention?.toSpliced(2, 0, run);
    return verify(withEnd(lines.toSpliced(-2, 1), { retention }));
  };

  test("does not hide the first event of the next month, without or with a false content", async () => {
    const contents = ["0", "1"].map((digit) => digit.repeat(64));
    const attempts = [hide({}), hide({ month: "2026-02", contents }), hide({ month: "2026-03", contents })];
    for (const verdict of await Promise.all(attempts)) {
      expect(verdict.result).toBe("altered");
      expect(verdict.findings).toMatchObject([{ code: "drop_not_proved", place: { position: 19, to: 20 } }]);
    }
  });

  test("does not hide an event of the next month with its true content", async () => {
    const event = eventIn((await droppedMonths().export(OWNER)).at(-2));
    const { intent, outcome } = event.proof;
    const texts = [intentContent(event, null, intent.salt), outcomeContent(event, null, outcome?.salt ?? "")];
    const verdict = await hide({ month: "2026-03", contents: texts.map((text) => hexOf(contentHash(text))) });
    expect(verdict.findings).toMatchObject([{ code: "drop_not_proved", found: "2026-03" }]);
  });

  test("does not hide an event that was written after its declaration", async () => {
    const log = droppedMonths();
    log.write("2026-02-20T10:00:00.000Z");
    log.seal("2026-04-04T00:00:00.000Z");
    const verdict = await verify(await log.export(OWNER));
    expect(verdict.findings).toMatchObject([{ code: "drop_not_proved", place: { position: 32, to: 33 } }]);
  });

  test.each([
    ["before the month was over", "2026-01", "2026-01-31T23:59:59.999Z", "2026-02-02T00:00:00.000Z"],
    ["an hour after the newest leaf", "2026-01", "2026-02-02T01:00:00.001Z", "2026-02-02T00:00:00.000Z"],
  ])("is not one that was declared %s", async (_title, month, declared_at, sealed_at) => {
    const log = new LogBuilder([KEY]);
    log.write("2026-01-10T10:00:00.000Z");
    log.seal("2026-01-10T10:00:01.000Z");
    log.drop(OWNER, month, declared_at);
    log.seal(sealed_at);
    expect(codesOf(await verify(await log.export(OWNER)))).toEqual(["declaration_wrong"]);
  });

  test("does not hide an event that the chain of a kept root has, from a reader of the rewritten chain", async () => {
    const log = new LogBuilder([KEY]);
    log.write("2026-01-10T10:00:00.000Z");
    log.seal("2026-01-10T10:00:01.000Z");
    log.write("2026-02-02T10:00:00.000Z");
    log.seal("2026-02-02T10:00:01.000Z");
    const roots = [await kept(await log.note())];
    log.rewrite(OWNER, 2);
    log.write("2026-01-31T22:00:00.000Z");
    log.write("2026-01-31T23:00:00.000Z");
    log.drop(OWNER, "2026-01", "2026-02-03T00:00:00.000Z");
    log.seal("2026-02-03T10:00:01.000Z");
    const verdict = await verify(await log.export(OWNER, { root: 2 }), { roots });
    expect(verdict.findings).toMatchObject([{ code: "earlier_head_wrong", place: { position: 4, leaf: 1 } }]);
  });
});

test("a tree under a new name leaves months undecided that were dropped before it", async () => {
  const log = droppedMonths();
  log.extensions = [restartLine({ declared_at: "2026-04-04T00:00:00.000Z", size: 8, origin: "old" })];
  const verdict = await verify(withEnd(await log.export(OWNER), { heads: [] }));
  expect(summaryOf(verdict)).toBe("undecided entries_given_up");
});

test("a log without a key leaves months undecided that may have been dropped before a restart", async () => {
  const log = droppedMonths();
  log.signers = [];
  const verdict = await verify(withEnd(await log.export(OWNER), { heads: [] }));
  expect(summaryOf(verdict)).toBe("undecided no_signed_root");
});

describe("a restart of a chain", () => {
  test("leaves the export undecided, and says what was given up", async () => {
    const verdict = await verify(await restarted().export(OWNER));
    expect(verdict.result).toBe("undecided");
    expect(verdict.restarts).toEqual([{ declared_at: "2026-01-08T09:00:00.000Z", from: 12, position: 15 }]);
    expect(verdict.findings).toMatchObject([{ code: "entries_given_up", place: { position: 12, to: 14 } }]);
  });

  test("that gave nothing up is complete, and named", async () => {
    const log = twoDays();
    log.restart(OWNER, 15, "2026-01-08T09:00:00.000Z", []);
    log.seal("2026-01-08T10:00:01.000Z");
    const verdict = await verify(await log.export(OWNER));
    expect(verdict).toMatchObject({ result: "complete", restarts: [{ from: 15 }] });
  });

  test("that gave nothing up does not make a log with a late event complete", async () => {
    const log = twoDays();
    log.restart(OWNER, 15, "2026-01-08T09:00:00.000Z", []);
    log.write("2026-01-06T10:00:00.000Z");
    log.seal("2026-01-08T10:00:01.000Z");
    expect(summaryOf(await verify(await log.export(OWNER)))).toBe("undecided entries_given_up");
  });

  test("names what it gave up, beside other restarts", async () => {
    const log = restarted();
    log.restart(OWNER, 18, "2026-01-09T09:00:00.000Z", []);
    log.write("2026-01-09T10:00:00.000Z");
    log.restart(OWNER, 19, "2026-01-10T09:00:00.000Z", [19, 20]);
    log.seal("2026-01-10T10:00:01.000Z");
    const { restarts, findings } = await verify(await log.export(OWNER));
    expect(restarts.map(({ from, position }) => [from, position])).toEqual([
      [12, 15],
      [18, 18],
      [19, 21],
    ]);
    expect(findings).toMatchObject([
      { code: "entries_given_up", place: { position: 12, to: 14 } },
      { code: "entries_given_up", place: { position: 19, to: 20 } },
    ]);
  });

  test("does not explain what is missing or changed elsewhere", async () => {
    const lines = await restarted().export(OWNER);
    expect((await verify(lines.toSpliced(-2, 1))).result).toBe("altered");
    const oldest = eventIn(lines.at(-2));
    const changed = lines.with(-2, JSON.stringify({ ...oldest, ip: "192.0.2.2" }));
    expect((await verify(changed)).result).toBe("altered");
  });
});

const NEWER = await (async () => {
  const log = twoDays();
  log.write("2026-01-09T10:00:00.000Z");
  log.seal("2026-01-09T10:00:01.000Z");
  return log;
})();

// AU-66, AU-157
describe("a kept root", () => {
  const withRoot = async (lines: Promise<string[]>, root: Promise<string>) =>
    verify(await lines, { roots: [await kept(await root)] });
  const shown = ({ result, findings: [finding] }: Verdict) =>
    [result, finding?.code, finding?.expected].filter(Boolean).join(" ");

  test("that is newer than the export leaves it undecided, and says so", async () => {
    const verdict = await withRoot(twoDays().export(OWNER), NEWER.note());
    expect(shown(verdict)).toBe("undecided kept_root_newer size 5");
  });

  test("beside a log without a signed root leaves it undecided", async () => {
    for (const empty of [new LogBuilder([KEY]), twoDays([])]) {
      expect((await withRoot(empty.export(OWNER), NEWER.note())).result).toBe("undecided");
    }
  });

  test("without its proof leaves the export undecided, and names the parameter", async () => {
    const verdict = await withRoot(NEWER.export(OWNER), NEWER.note(2));
    expect(shown(verdict)).toBe("undecided kept_root_not_connected root=2");
  });

  test.each([1, 2, 3, 4, 5])("of size %i is confirmed by an export with its proof", async (root) => {
    const verdict = await withRoot(NEWER.export(OWNER, { root }), NEWER.note(root));
    expect(verdict).toMatchObject({ result: "complete", kept: [{ name: "kept.txt", size: root }] });
  });

  test.each([2, 4])(
    "of size %i of a log that was rewritten with the key makes the export altered",
    async (root) => {
      const forked = new LogBuilder([KEY]);
      for (const second of [1, 2, 3, 4]) {
        forked.write(`2026-01-05T10:00:0${second}.000Z`);
        forked.seal(`2026-01-05T10:00:0${second}.500Z`);
      }
      const verdict = await withRoot(forked.export(OWNER, { root }), twoDays().note(root));
      expect(shown(verdict)).toStartWith("altered trees_differ");
    },
  );

  test("of size 0 must be the root of the empty tree", async () => {
    const empty = `${ORIGIN}\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n`;
    const wrong = `${ORIGIN}\n0\n${btoa("x".repeat(32))}\n`;
    const signature = (await twoDays().note()).split("\n\n")[1] ?? "";
    const withText = async (text: string) =>
      shown(await withRoot(NEWER.export(OWNER), Promise.resolve(`${text}\n${signature}`)));
    expect(await withText(empty)).toBe("complete");
    expect(await withText(wrong)).toContain("trees_differ");
  });

  test("of a log with another name leaves the export undecided", async () => {
    const verdict = await withRoot(NEWER.export(OWNER), twoDays([KEY], "another.example/log").note());
    expect(shown(verdict)).toBe("undecided root_of_other_log another.example/log");
  });

  test("can be an earlier export", async () => {
    const earlier = (await twoDays().export(OWNER)).join("\n");
    const verdict = await verify(await NEWER.export(OWNER, { root: 4 }), { roots: [await kept(earlier)] });
    expect(verdict).toMatchObject({ result: "complete", kept: [{ size: 4 }] });
  });
});

describe("the leaf of an export", () => {
  test("is the newest one of its signed tree", async () => {
    const lines = await NEWER.export(OWNER, { root: 4 });
    const { head, heads } = endIn(lines);
    const older = heads.at(-1);
    if (older === undefined) throw new Error("The export has no earlier head.");
    const { leaf, path, map, position, chain } = older;
    const cut = withEnd(lines.slice(1), { head: { ...head, position, chain }, leaf, path, map, heads: [] });
    const { findings } = await verify(cut);
    expect(findings).toMatchObject([{ code: "leaf_not_in_tree", expected: "4", found: "3" }]);
  });

  test("was not sealed before an earlier one", async () => {
    const log = new LogBuilder([KEY]);
    log.write("2026-01-05T10:00:00.000Z");
    log.seal("2026-01-06T10:00:00.000Z");
    log.seal("2026-01-05T10:00:01.000Z");
    expect(codesOf(await verify(await log.export(OWNER)))).toEqual(["heads_out_of_order"]);
  });
});

describe("a key that the reader names", () => {
  const keyOf = (text: string) => [readLogKey(text)].filter((key) => key !== null);

  test("must have signed", async () => {
    const verdict = await verify(await twoDays().export(OWNER), { keys: keyOf(logKeyText(OLD_KEY)) });
    expect(summaryOf(verdict)).toBe("altered root_not_signed");
  });

  test("is not the one of a root that witnesses cosigned before it replaced another one", async () => {
    const cosigned = await twoDays([OLD_KEY]).note(3, [WITNESS]);
    const lines = await twoDays([OLD_KEY, KEY]).export(OWNER, { cosigned });
    expect((await verify(lines, { keys: keyOf(logKeyText(KEY)) })).result).toBe("complete");
  });

  test("may have signed beside a key that the export does not name", async () => {
    const lines = withEnd(await twoDays([OLD_KEY, KEY]).export(OWNER), { keys: [logKeyText(KEY)] });
    expect(await verify(lines)).toMatchObject({ result: "complete", keys: [logKeyText(KEY)] });
  });

  test("may be one of two while one replaces the other", async () => {
    const lines = await twoDays([OLD_KEY, KEY]).export(OWNER);
    for (const signer of [OLD_KEY, KEY]) {
      const verdict = await verify(lines, { keys: keyOf(logKeyText(signer)) });
      expect(verdict).toMatchObject({ result: "complete", key_given: true, keys: [logKeyText(signer)] });
    }
  });
});

// AU-197
describe("witnesses that the reader names", () => {
  const log = twoDays();
  const keys = readWitnessKeys([WITNESS, SECOND_WITNESS].map(witnessKeyText).join("\n"));
  const rule = (quorum: number, nowMs = NOW_MS) => ({ witnesses: { keys, quorum, nowMs } });
  const outcome = async (cosigned: string | undefined, given: Partial<VerifyGiven>) => {
    const lines = await log.export(OWNER, { ...(cosigned && { cosigned }) });
    const { result, findings } = await verify(lines, given);
    return [result, findings[0]?.code, findings[0]?.found].filter(Boolean).join(" ");
  };

  test("leave an export undecided when too few of them cosigned it", async () => {
    expect(await outcome(undefined, rule(1))).toBe("undecided not_cosigned 0");
    expect(await outcome(await log.note(4, [WITNESS]), rule(2))).toBe("undecided not_cosigned 1");
    expect(await outcome(await log.note(4, [WITNESS, WITNESS]), rule(2))).toBe("undecided not_cosigned 1");
    expect(await outcome(await log.note(4, [WITNESS]), rule(1))).toBe("complete");
  });

  test("leave an export undecided when they cosigned an older tree, or in the future", async () => {
    const both = [WITNESS, SECOND_WITNESS];
    expect(await outcome(await log.note(3, both), rule(2))).toBe("undecided not_cosigned size 3");
    const ahead = Date.parse("2025-12-31T22:59:59.000Z");
    expect(await outcome(await log.note(4, both), rule(2, ahead))).toBe("undecided not_cosigned 0");
  });

  test("make an export altered when they cosigned another history", async () => {
    const other = await NEWER.note(5, [WITNESS]);
    expect(await outcome(other, rule(1))).toStartWith("altered trees_differ");
  });

  test("may have cosigned a larger tree that the log's continues to", async () => {
    const lines = await NEWER.export(OWNER, { cosigned: await NEWER.note(5, [WITNESS]) });
    expect((await verify(lines, rule(1))).result).toBe("complete");
  });
});

test("no finding is explained away once there are too many to keep", () => {
  const findings = new Findings();
  for (let position = 1; position <= 100_000; position++) findings.add("event_late", { position });
  findings.add("head_not_in_map", { position: 1 });
  expect(findings.remove(({ code }) => code === "event_late")).toEqual([]);
  expect(findings.sorted().some(isAltered)).toBe(true);
});

test("a file in an unknown format is undecided, whatever else is in it", async () => {
  const lines = withEnd(await twoDays().export(OWNER), { format: 2, extra: 1 });
  const verdict = await verify(["{}", ...lines], { owner: "organization:zenith" });
  expect(summaryOf(verdict)).toBe("undecided format_unknown");
});

test("a finding is a sentence with its place, what was expected and what was found", async () => {
  const { findings } = await verify(await twoDays().export(OWNER), { owner: "organization:zenith" });
  expect(findings.map(englishOf)).toEqual([
    "This is the log of another owner. Expected: organization:zenith. Found: organization:acme.",
  ]);
  expect(ORIGIN).toBe("audit.example.com/log");
});
