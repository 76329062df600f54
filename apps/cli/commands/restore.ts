import { WrittenService } from "@ostiary/lib/contracts/registry-api";
import type { Command } from "commander";
import { pathTo } from "../registry-client.ts";
import { ifMatch, type Run, revisionArgument } from "./command.ts";
import { addWaitOption, reportPropagation, sendWrite, type WaitOptions } from "./wait-option.ts";

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
  $ ${program.name()} restore widgets 3
  $ ${program.name()} restore widgets 3 --wait
  $ ${program.name()} restore widgets 3 --if-revision 5`,
    )
    .action((service: string, revision: number, options: { ifRevision?: number } & WaitOptions) =>
      run(async (context) => {
        const { output } = context;
        const path = pathTo("services", service, "revisions", revision, "restore");
        const headers = ifMatch(options.ifRevision);
        const write = { schema: WrittenService, path, method: "POST", headers } as const;
        const response = await sendWrite(context, write, options);
        output.result(response, (restored) =>
          output.line(`Revision ${restored.revision} of ${restored.name} restores revision ${revision}.`),
        );
        reportPropagation(context, response.propagation);
      }),
    );
}
