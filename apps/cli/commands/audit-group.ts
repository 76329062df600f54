import type { Command } from "commander";
import { addAuditVerify } from "./audit-verify.ts";
import { addAuditWatch } from "./audit-watch.ts";
import type { Run, Setting } from "./command.ts";

/** Adds the `audit` commands: `key`, `watch` and `verify`. */
export function addAudit(program: Command, _run: Run, { terminal }: Setting): void {
  const audit = program.command("audit").description("Verify exports of an audit log, and watch the log");
  addAuditWatch(program, audit, terminal);
  addAuditVerify(program, audit, terminal);
}
