/** The keys that registry and gateways share in the route store (RG-77, RG-78, GW-30). */

/**
 * The prefix of the key of each service, before the service's name. The value is a `StoredServiceConfig` as
 * JSON.
 */
export const ROUTES_PREFIX = "edge/gateway/routes/";

/** The prefix of the fence of each service's last projection. Gateways do not read these keys. */
export const FENCES_PREFIX = "edge/gateway/revisions/";

/**
 * The prefix of the key of each running gateway, before the gateway's id. The key has a lease that ends with
 * the gateway. The value is a `GatewayInstance` as JSON.
 */
export const INSTANCES_PREFIX = "edge/gateway/instances/";

/**
 * The time to live of a gateway's key. With etcd's own delays, the key is gone within 15 s after the last
 * renewal.
 */
export const INSTANCE_TTL_SECONDS = 10;
