import { Service, Services } from "@ostiary/lib/contracts/registry-api";
import type { Command } from "commander";
import { COLLECTION_STYLE, dump, type Node, SCALAR_STYLE, visit } from "js-yaml";
import { Refused } from "../exit-codes.ts";
import { pathTo, type RegistryClient } from "../registry-client.ts";
import type { Run } from "./command.ts";
import { UNREADABLE } from "./service-commands.ts";

/** Adds `export [SERVICE]`, which writes the published services as a document that apply accepts. */
export function addExport(program: Command, run: Run): void {
  program
    .command("export")
    .description("Write all published services, or one, as a document that apply accepts")
    .argument("[service]", "the name of a service")
    .addHelpText(
      "after",
      `
Examples:
  $ ${program.name()} export > routes.yaml
  $ ${program.name()} export widgets
  $ ${program.name()} export widgets --json`,
    )
    .action((service: string | undefined) =>
      run(async ({ registry, output }) => {
        const { unreadable = {}, ...document } = await readDocument(registry, service);
        output.result(document, () => output.write(documentYaml(document)));
        const missing = Object.keys(unreadable);
        if (missing.length > 0) throw new Refused(`Not exported: ${missing.join(", ")}: ${UNREADABLE}.`);
      }),
    );
}

async function readDocument(registry: RegistryClient, name: string | undefined): Promise<Services> {
  if (name === undefined) return registry.call(Services, pathTo("services"));
  const { name: _, revision: __, ...config } = await registry.call(Service, pathTo("services", name));
  return { services: Object.fromEntries([[name, config]]) };
}

/**
 * Returns YAML that parsers of YAML 1.1 and 1.2 read alike: no parser reads a name as a number, a date or a boolean.
 */
export function documentYaml(document: Services): string {
  return dump(document, {
    lineWidth: -1,
    noRefs: true,
    transform: (documents) => visit(documents, setStyle),
  });
}

/** Matches texts that a parser of YAML 1.1 may read as numbers, such as `._` and `e0`. */
const LIKE_A_NUMBER = /^([-+._0-9]|e[-+0-9])/i;

function setStyle(node: Node): void {
  if (node.kind === "scalar" && node.tag === STRING_TAG && LIKE_A_NUMBER.test(node.value)) {
    node.style = SCALAR_STYLE.SINGLE_QUOTED;
  }
  // writes a list of single values, such as methods or labels, on one line
  if (node.kind === "sequence" && node.items.every((item) => item.kind === "scalar")) {
    node.style = COLLECTION_STYLE.FLOW;
  }
}

const STRING_TAG = "tag:yaml.org,2002:str";
