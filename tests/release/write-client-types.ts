import { useServices } from "../support/stores/services.ts";
import { clientTypes } from "./client-types.ts";
import { releasedDescriptions } from "./descriptions.ts";

/** Writes the types of `@ostiary/client` from the descriptions that the services serve. */
const stores = useServices(process.env);
try {
  for (const [file, text] of await clientTypes(await releasedDescriptions())) await Bun.write(file, text);
} finally {
  await stores.close();
}
process.exit();
