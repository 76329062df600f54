import { freshRouteStoreUrl, services } from "../support/index.ts";
import { describeRouteStore } from "./route-store-suite.ts";

describeRouteStore("memory", async () => "memory://");
if (services().etcd.real) describeRouteStore("etcd", freshRouteStoreUrl);
