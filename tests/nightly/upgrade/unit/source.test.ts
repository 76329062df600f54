import { expect, test } from "bun:test";
import { rejection } from "../../../support/index.ts";
import { SourceUnavailable, unpackSource } from "../../../support/processes/older-source.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

test.each(["nothing", "--output=here", "HEAD:nothing", ""])(
  "the source of revision %j is refused, and nothing is unpacked",
  async (revision) => {
    const folder = temporaryFolder("source");
    const error = await rejection(unpackSource(revision, folder));
    expect(error).toBeInstanceOf(SourceUnavailable);
    expect(String(error)).toContain(`git archive ${revision}`);
    expect(await Array.fromAsync(new Bun.Glob("**").scan(folder))).toEqual([]);
  },
);
