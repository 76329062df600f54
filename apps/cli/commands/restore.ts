import { revisionTag, WrittenService } from "@ostiary/lib/contracts/registry-api";
import type { Command } from "commander";
import { pathTo } from "../registry-client.ts";
import { type Run, revisionArgument } from "./command.ts";
import {
  addWaitOption,
  reportPropagation,
  type WaitOptions,
  waitQuery,
  withProgress,
} from "./wait-option.ts";

/** Adds `restore SERVICE REVISION`, which makes an earlier configuration current again. */
export function addRestore(program: Command, run: Run): void {
  addWaitOption(program.command("restore"))
    .description("Make the config of an earlier revision current again")
    .argument("<service>", "the name of a service, also of a deleted one")
    .argument("<revision>", "the revision whose config is restored", revisionArgument)
    .option(
      "--if-revision <current>",
      "restore only if this is still the service's current revision",
      revisionArgument,
    )
    .addHelpText(
      "after",
      `
Examples:
  $ bun cli restore widgets 3
  $ bun cli restore widgets 3 --wait
  $ bun cli restore widgets 3 --if-revision 5`,
    )
    .action((service: string, revision: number, options: { ifRevision?: number } & WaitOptions) =>
      run(async ({ registry, output, terminal }) => {
        const { ifRevision } = options;
        const asked = registry.ask(
          WrittenService,
          pathTo("services", service, "revisions", revision, "restore"),
          {
            method: "POST",
            ...waitQuery(options),
            ...(ifRevision !== undefined && { headers: { "If-Match": revisionTag(ifRevision) } }),
          },
        );
        const answer = await withProgress(terminal, options, asked);
        output.result(answer, (restored) =>
          output.line(`Revision ${restored.revision} of ${restored.name} restores revision ${revision}.`),
        );
        reportPropagation(output, answer.propagation);
      }),
    );
}
