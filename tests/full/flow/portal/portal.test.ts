/** All flows of the portal, in one file: they share one platform and one browser. */
import { setDefaultTimeout } from "bun:test";
import { PAGE_TIMEOUT_MS } from "../../../support/pages/swagger-page.ts";
import "./calls-the-api.ts";
import "./every-field.ts";
import "./for-everyone.ts";
import "./manages-keys.ts";
import "./manages-members.ts";
import "./organizations.ts";
import "./shows-usage.ts";
import "./signs-in.ts";
import "./verifies-the-audit-log.ts";

setDefaultTimeout(3 * PAGE_TIMEOUT_MS);
