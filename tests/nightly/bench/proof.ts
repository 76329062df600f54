import { join } from "node:path";
import { BUSY_ORGANIZATION, generateLog } from "../../support/audit/generated-log.ts";
import { ROOT } from "../../support/root.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { openLog, sealAll, timeOf } from "./audit/log.ts";
import type { Bench, Progress } from "./bench.ts";
import { Bed } from "./measure/bed.ts";
import { table, whole } from "./measure/table.ts";

const DAY_MS = 86_400_000;
/** Measures how fast a log is exported with its proof and verified. */
export const proof: Bench = {
  summary: "how fast a log is exported with its proof and verified, and the memory that this takes",
  async run({ quick, progress }) {
    await using bed = new Bed([]);
    const { url } = await bed.database();
    const directory = temporaryFolder("bench");
    const checked = await verifying(url, directory, bed, quick ? 50_000 : 1_000_000, progress);
    const rows = [
      [`export of ${whole(checked.events)} events, s`, checked.export_s.toFixed(1)],
      ["verification of these events, s", checked.verify_s.toFixed(1)],
      ["peak memory of the verification, MiB", whole(checked.verify_mib)],
    ];
    return {
      parts: [table(["", "measured"], rows)],
      data: { checked },
    };
  },
};

/**
 * Generates and seals a log, exports one organization's part with proof, and verifies the export with
 * `ostiary`.
 */
async function verifying(url: string, directory: string, bed: Bed, events: number, progress: Progress) {
  await using whole_ = await openLog(url, "verified");
  progress("generating a large log");
  await generateLog(whole_.log, { events: events * 2.1, endMs: Date.now(), spanMs: 20 * DAY_MS });
  progress("sealing the log");
  await sealAll(whole_.log);
  const service = await bed.process("apps/audit/main.ts", { DATABASE_URL: whole_.url });
  const file = join(directory, "export.ndjson");
  progress("exporting the log");
  const path = `/organizations/${BUSY_ORGANIZATION}/audit-events?proof=true`;
  const exportMs = await timeOf(async () => {
    await Bun.write(file, await fetch(`${service.url}${path}`));
  });
  progress("verifying the export");
  const startedMs = performance.now();
  const child = Bun.spawn([process.execPath, "apps/cli/main.ts", "--json", "audit", "verify", file], {
    cwd: ROOT,
    stdout: "pipe",
  });
  const verdict = JSON.parse(await new Response(child.stdout).text());
  await child.exited;
  if (verdict.findings.some(({ code }: { code: string }) => code !== "no_signed_root")) {
    throw new Error(JSON.stringify(verdict.findings[0]));
  }
  return {
    events: Number(verdict.events),
    export_s: exportMs / 1000,
    verify_s: (performance.now() - startedMs) / 1000,
    verify_mib: (child.resourceUsage()?.maxRSS ?? Number.NaN) / 1_048_576,
  };
}
