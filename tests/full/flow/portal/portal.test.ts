/** All flows of the portal, in one file: they share one platform and one browser. */
import { setDefaultTimeout } from "bun:test";
import { PAGE_TIMEOUT_MS } from "../../../support/pages/swagger-page.ts";
import "./calls-the-api-suite.ts";
import "./every-field-suite.ts";
import "./for-everyone-suite.ts";
import "./manages-keys-suite.ts";
import "./manages-members-suite.ts";
import "./organizations-suite.ts";
import "./shows-usage-suite.ts";
import "./signs-in-suite.ts";
import "./verifies-the-audit-log-suite.ts";

setDefaultTimeout(3 * PAGE_TIMEOUT_MS);
