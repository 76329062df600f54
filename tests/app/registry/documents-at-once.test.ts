/** Tests that the documents of one operator hold up only that operator. */
import { expect, test } from "bun:test";
import { openDatabase } from "@ostiary/lib/runtime/stores/database";
import { becomeWriter } from "../../../apps/registry/publishing/publishing-sql.ts";
import { closing } from "../../support/during-tests.ts";
import { heldTransaction } from "../../support/stores/held-transaction.ts";
import { services } from "../../support/stores/services.ts";
import { service, startRegistry } from "./bed.ts";
import { entry } from "./operators.ts";

const AT_ONCE = 4;

// RG-166
test.skipIf(!services().postgres.real)(
  "four documents of an operator are handled at once, and others do not wait for them",
  async () => {
    const bounds = { services: ["a*"], paths: ["/a"], urls: ["http://upstream:8080"] };
    await using registry = await startRegistry({
      operators: [entry("many", "publisher", bounds), entry("other", "reader")],
    });
    const document = { services: { a: service("/a") } };
    const dryRun = (operator: string) => registry.as(operator).call("POST", "/apply?dry_run=true", document);
    await using database = closing(
      await openDatabase(registry.databaseUrl, { namespace: "test", poolMax: 1 }),
    );
    const writer = await heldTransaction(database, becomeWriter);
    let responses = 0;
    const count = <T>(response: T) => {
      responses++;
      return response;
    };
    const applies = Array.from({ length: AT_ONCE }, () =>
      registry.as("many").apply(document.services).then(count),
    );
    const waiting = dryRun("many").then(count);
    for (let round = 0; round < 3; round++) expect((await dryRun("other")).status).toBe(200);
    expect(responses).toBe(0);
    await writer.commit();
    for (const response of await Promise.all([...applies, waiting])) expect(response.status).toBe(200);
    expect(responses).toBe(AT_ONCE + 1);
  },
);
