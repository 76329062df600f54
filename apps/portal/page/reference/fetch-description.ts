import { User } from "@ostiary/lib/contracts/identity-api";
import { type Answer, answered, failed } from "@ostiary/lib/page";
import { type Gateway, pathTo } from "../gateway.ts";
import { readBytes } from "../read-bytes.ts";
import { type Description, readDescription } from "./description.ts";

/** The path at which the gateway publishes the edge description. */
const DESCRIPTION_PATH = "/edge/openapi.json";
/** The maximum size of a description. */
const DESCRIPTION_BYTES_MAX = 32 * 1024 * 1024;

/**
 * Fetches and parses the edge description. Fails with `forbidden` if only operators may read the description:
 * the registry then refuses the person's credential, although the gateway accepts it for other calls.
 */
export async function fetchDescription(gateway: Gateway): Promise<Answer<Description>> {
  const response = await gateway.stream(DESCRIPTION_PATH, { as: "person" });
  if (!response.ok) {
    if (response.failure.kind !== "signed_out") return response;
    const person = await gateway.send(User, pathTo("user"), { as: "person" });
    return person.ok ? failed("forbidden", { status: response.failure.status }) : response;
  }
  const { bytes, cut } = await readBytes(response.value.body, DESCRIPTION_BYTES_MAX);
  if (cut) return failed(bytes.length === DESCRIPTION_BYTES_MAX ? "strange" : "away");
  const description = readDescription(new TextDecoder().decode(bytes));
  return description === null ? failed("strange") : answered(description);
}
