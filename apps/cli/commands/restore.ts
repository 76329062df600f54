import { revisionTag, Service } from "@ostiary/lib/contracts/registry-api";
import type { Command } from "commander";
import { pathTo } from "../registry-client.ts";
import { type Run, revisionArgument } from "./command.ts";

/** `restore SERVICE REVISION`: the way back. */
export function addRestore(program: Command, run: Run): void {
  program
    .command("restore")
    .description("Make the config of an earlier revision current again")
    .argument("<service>", "the name of a service, also of a deleted one")
    .argument("<revision>", "the revision whose config is restored", revisionArgument)
    .option("--if-revision <revision>", "only if this is the current revision", revisionArgument)
    .addHelpText(
      "after",
      `
Examples:
  $ bun cli restore widgets 3
  $ bun cli restore widgets 3 --if-revision 5`,
    )
    .action((service: string, revision: number, { ifRevision }: { ifRevision?: number }) =>
      run(async ({ registry, output }) => {
        const answer = await registry.ask(
          Service,
          pathTo("services", service, "revisions", revision, "restore"),
          {
            method: "POST",
            ...(ifRevision !== undefined && { headers: { "If-Match": revisionTag(ifRevision) } }),
          },
        );
        output.result(answer, (restored) =>
          output.line(
            `${restored.name} is as in revision ${revision} again, as revision ${restored.revision}.`,
          ),
        );
      }),
    );
}
