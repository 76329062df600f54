// Written by `bun run client` from the OpenAPI description.

export interface paths {
    "/apply": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create or replace services
         * @description Checks the whole document and then writes all of its services in one transaction, each with a new revision. Services that the document does not name stay as they are. If anything is refused, nothing is written.
         */
        post: operations["apply"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/schema/routes.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the JSON Schema of a configuration document
         * @description Editors complete and check documents with this schema. The request needs no token. The response is 304 if `If-None-Match` names the current version.
         */
        get: operations["getDocumentSchema"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/services": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the current services
         * @description All current services in stored form, without deleted ones. `unreadable` names services that a newer version of Ostiary wrote in a form that this version does not understand; gateways of the newer version serve them.
         */
        get: operations["listServices"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/services/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a service
         * @description The current config in stored form. The ETag is the revision, for If-Match.
         */
        get: operations["getService"];
        /**
         * Create or replace a service
         * @description Makes the same checks as `POST /apply`. A deleted service becomes current again.
         */
        put: operations["putService"];
        post?: never;
        /**
         * Delete a service
         * @description Unpublishes the service's routes and keeps its history, so that a revision can be restored.
         */
        delete: operations["deleteService"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/services/{name}/revisions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the revisions of a service
         * @description The revisions of a current or deleted service, newest first.
         */
        get: operations["listRevisions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/services/{name}/revisions/{rev}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a revision
         * @description The config is null when the revision deleted the service.
         */
        get: operations["getRevision"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/services/{name}/revisions/{rev}/diff/{other}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Compare two revisions
         * @description The changes from the first revision to the second. A deleted service counts as empty.
         */
        get: operations["diffRevisions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/services/{name}/revisions/{rev}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Restore a revision
         * @description Appends a new revision with the same config, if it passes today's rules. A deleted service can be restored too, but not a revision that deleted it.
         */
        post: operations["restoreRevision"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/roles": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the roles for lookups
         * @description The roles of the registry's ROLES_FILE, as read at its start.
         */
        get: operations["listRoles"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/routes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Find the route that serves a request
         * @description Matches as the gateway does, against the current services. If no route matches, `details.nearest` lists the closest routes. With `role` or `labels`, the response tells whether a member with that role or those labels may use the route.
         */
        get: operations["findRoute"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/edge/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the edge description
         * @description OpenAPI 3.1 of everything that clients of the gateway may call, built from the current routes and the descriptions of services. The response is 304 if `If-None-Match` names the current version.
         */
        get: operations["getEdgeDocument"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/gateways": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the running gateways
         * @description Each running gateway with the routes that it has loaded, and whether these are all published routes. 503 while the route store is unavailable. A gateway that died is listed for up to 15 seconds more. A page has at most 100 gateways.
         */
        get: operations["listGateways"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the outstanding projections
         * @description The services whose newest revision may be missing from the route store, which gateways read, and for how long. The operation reads only the database, so it works while the route store is unavailable. The list is usually empty: an entry that stays for many seconds shows that the route store accepts no writes.
         */
        get: operations["listProjections"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the calling operator
         * @description The operator whom the token stands for, and what that operator may write.
         */
        get: operations["getOperator"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operators": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List operators
         * @description Returns all operators: what each may write, when it expires, and how it proves itself, by the number of its tokens or by the names of its claims. The list has no token, no hash, and no value of a claim.
         */
        get: operations["listOperators"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the writes of all services
         * @description Newest first, with the operator, reason and link of each write. Filters combine with AND.
         */
        get: operations["listChanges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * RateLimitPeriod
         * @description A calendar day or month in UTC, in place of window_seconds.
         * @enum {string}
         */
        RateLimitPeriod: "day" | "month";
        /**
         * NoRateLimit
         * @description `false`: no limit.
         * @enum {boolean}
         */
        NoRateLimit: false;
        /**
         * PlanNumbers
         * @description The numbers for organizations with the plan. Without window_seconds, the window of the limit applies.
         */
        PlanNumbers: {
            /** @description Requests admitted in one window or period. */
            requests: number;
            /** @description Length of the window in seconds. The first request starts the window. */
            window_seconds?: number;
        };
        /**
         * PlanRateLimit
         * @description The limit of one plan: its own numbers, or `false` for no limit.
         */
        PlanRateLimit: components["schemas"]["NoRateLimit"] | components["schemas"]["PlanNumbers"];
        /**
         * PlanName
         * @description The name of a plan, for limits that differ by plan.
         */
        PlanName: string;
        /**
         * RateLimitPolicy
         * @description A limit for all routes that name it.
         */
        RateLimitPolicy: {
            /** @description Requests admitted in one window or period. */
            requests: number;
            /** @description Length of the window in seconds. The first request starts the window. */
            window_seconds?: number;
            period?: components["schemas"]["RateLimitPeriod"];
            /** @description Limits by plan, on organization and member routes. An organization without a plan, or with a plan that is not listed here, has the limit's own numbers. */
            plans?: {
                [key: string]: components["schemas"]["PlanRateLimit"];
            };
            /**
             * @description `success`: a request that ends in a 5xx, or that does not reach its service, does not count.
             * @enum {string}
             */
            charge?: "success";
            /** @description `true`: one bucket for all services that declare the name as shared. */
            shared?: boolean;
        };
        /**
         * PolicyName
         * @description The name of a policy in the service's rate_limits.
         */
        PolicyName: string;
        /**
         * Method
         * @description An HTTP method, in upper case.
         * @enum {string}
         */
        Method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD" | "OPTIONS";
        /**
         * ExpectedRequests
         * @description The number of requests that the route's limit admits, or false for an unlimited route. If the route has several limits, the smallest number.
         */
        ExpectedRequests: number | false;
        /**
         * Expectation
         * @description The expected facts about the route that serves the request.
         */
        Expectation: {
            /** @description Letters, digits, `.`, `_` and `-`. */
            service?: string;
            /** @description The path that the gateway calls on the service, with `{subject.…}` in place of an owner's id. */
            upstream?: string;
            /** @description Whether a member with the role or labels of the test may use the route. */
            allowed?: boolean;
            requests?: components["schemas"]["ExpectedRequests"];
            /**
             * @description 404: no route serves the request. No other expectation is allowed.
             * @enum {number}
             */
            status?: 404;
        };
        /**
         * RouteTest
         * @description A test of the published routes: a request, and the expected route.
         */
        RouteTest: {
            /** @description The name of the test, shown when the test fails. */
            name: string;
            method: components["schemas"]["Method"];
            /** @description The path of the request, without a query. */
            path: string;
            /** @description The role of the member for `allowed`: a slug of ROLES_FILE. */
            role?: string;
            /** @description The labels of the member for `allowed`. */
            labels?: string[];
            plan?: components["schemas"]["PlanName"];
            expect: components["schemas"]["Expectation"];
        };
        /**
         * MethodList
         * @description The methods that the route serves, all with the same settings.
         */
        MethodList: components["schemas"]["Method"][];
        /**
         * InlineRateLimit
         * @description A limit of one route. Each method of the route has its own bucket.
         */
        InlineRateLimit: {
            /** @description Requests admitted in one window or period. */
            requests: number;
            /** @description Length of the window in seconds. The first request starts the window. */
            window_seconds?: number;
            period?: components["schemas"]["RateLimitPeriod"];
            /** @description Limits by plan, on organization and member routes. An organization without a plan, or with a plan that is not listed here, has the limit's own numbers. */
            plans?: {
                [key: string]: components["schemas"]["PlanRateLimit"];
            };
            /**
             * @description `success`: a request that ends in a 5xx, or that does not reach its service, does not count.
             * @enum {string}
             */
            charge?: "success";
        };
        /**
         * ListedRateLimit
         * @description One of several limits of a route.
         */
        ListedRateLimit: components["schemas"]["InlineRateLimit"] | components["schemas"]["PolicyName"];
        /**
         * RateLimitList
         * @description Limits that apply together: a request is admitted if none of them is exhausted.
         */
        RateLimitList: components["schemas"]["ListedRateLimit"][];
        /**
         * RouteRateLimit
         * @description `false`: unlimited. Object: own limit. String: a policy of the service. List: several limits, each an object or a string. Omitted: the default.
         */
        RouteRateLimit: components["schemas"]["NoRateLimit"] | components["schemas"]["InlineRateLimit"] | components["schemas"]["PolicyName"] | components["schemas"]["RateLimitList"];
        /**
         * MethodConfig
         * @description The settings of one method of a route.
         */
        MethodConfig: {
            /** @description The labels that the route requires. A member needs one of them, or `*`. Without labels, every admitted caller may call. User routes check no labels. */
            required_labels?: string[];
            rate_limit?: components["schemas"]["RouteRateLimit"];
            /** @description Whether requests are audited. POST, PUT, PATCH and DELETE are audited by default. Public routes are never audited. */
            audit?: boolean;
        };
        /**
         * MethodMap
         * @description The methods that the route serves, each with its own settings, which can be empty.
         */
        MethodMap: {
            /** @description The settings of the method. The object may be empty. */
            GET?: components["schemas"]["MethodConfig"] | null;
            /** @description The settings of the method. The object may be empty. */
            POST?: components["schemas"]["MethodConfig"] | null;
            /** @description The settings of the method. The object may be empty. */
            PUT?: components["schemas"]["MethodConfig"] | null;
            /** @description The settings of the method. The object may be empty. */
            PATCH?: components["schemas"]["MethodConfig"] | null;
            /** @description The settings of the method. The object may be empty. */
            DELETE?: components["schemas"]["MethodConfig"] | null;
            /** @description The settings of the method. The object may be empty. */
            HEAD?: components["schemas"]["MethodConfig"] | null;
            /** @description The settings of the method. The object may be empty. */
            OPTIONS?: components["schemas"]["MethodConfig"] | null;
        };
        /**
         * RouteMethods
         * @description The methods that the route serves: a list, or a map with settings for each method.
         */
        RouteMethods: components["schemas"]["MethodList"] | components["schemas"]["MethodMap"];
        /**
         * RouteConfig
         * @description A route: a path with its methods.
         */
        RouteConfig: {
            /** @description `/`, or segments that are literals or `{params}`, in lower case, without a trailing slash. */
            path: string;
            /** @description The path that the gateway calls on the service, with `{subject.…}` and `{path.…}`. Omitted: the request's path. */
            upstream?: string;
            /** @description The maximum time in milliseconds until the service begins its response, in place of the gateway's UPSTREAM_TIMEOUT_MS. A pause within the response can take as long. */
            timeout_ms?: number;
            /** @description The maximum size of a request body in bytes, in place of the gateway's MAX_BODY_BYTES. 0 means no limit. */
            max_body_bytes?: number;
            methods: components["schemas"]["RouteMethods"];
            /** @description The labels that the route requires. A member needs one of them, or `*`. Without labels, every admitted caller may call. User routes check no labels. */
            required_labels?: string[];
            rate_limit?: components["schemas"]["RouteRateLimit"];
            /** @description Whether requests are audited. POST, PUT, PATCH and DELETE are audited by default. Public routes are never audited. */
            audit?: boolean;
        };
        /**
         * ScopeConfig
         * @description The routes of one scope.
         */
        ScopeConfig: {
            /** @description The path that precedes each route's path. It is not added to upstream templates. */
            route_prefix?: string;
            /** @description The routes of the scope. */
            routes: components["schemas"]["RouteConfig"][];
        };
        /**
         * ServiceConfig
         * @description A service: its url, and its routes in at least one scope.
         */
        ServiceConfig: {
            /** @description Exactly `http://host:port`. */
            url: string;
            /** @description The path of the service's OpenAPI description on the service's url. A query is allowed. */
            openapi?: string;
            /** @description The maximum time in milliseconds until the service begins its response, in place of the gateway's UPSTREAM_TIMEOUT_MS. A pause within the response can take as long. */
            timeout_ms?: number;
            /** @description The maximum size of a request body in bytes, in place of the gateway's MAX_BODY_BYTES. 0 means no limit. */
            max_body_bytes?: number;
            /** @description Policies that routes of this service name in rate_limit. */
            rate_limits?: {
                [key: string]: components["schemas"]["RateLimitPolicy"];
            };
            /** @description Tests that must pass after each write. They are not sent to gateways. */
            tests?: components["schemas"]["RouteTest"][];
            public?: components["schemas"]["ScopeConfig"];
            user?: components["schemas"]["ScopeConfig"];
            organization?: components["schemas"]["ScopeConfig"];
            member?: components["schemas"]["ScopeConfig"];
        };
        /**
         * ConfigDocument
         * @description A configuration document: apply creates or replaces the services that it names.
         */
        ConfigDocument: {
            /** @description Services by name. All other services stay unchanged. */
            services: {
                [key: string]: components["schemas"]["ServiceConfig"];
            };
            /** @description Tests that must pass after each write. They are not sent to gateways. */
            tests?: components["schemas"]["RouteTest"][];
        };
        /**
         * AppliedService
         * @description A service that was written.
         */
        AppliedService: {
            /** @description Letters, digits, `.`, `_` and `-`. */
            service: string;
            /**
             * @description Apply wrote the service as a new revision.
             * @enum {string}
             */
            status: "upserted";
            /** @description The revision number. The first write of a service has number 1. */
            revision: number;
        };
        /**
         * Propagation
         * @description Present if the request has wait_ms: the progress of the write when the response is sent. Every gateway serves the write when `reached` equals `gateways`.
         */
        Propagation: {
            /** @description The number of running gateways in the route store. */
            gateways: number;
            /** @description The number of gateways that serve the write. */
            reached: number;
            /** @description The milliseconds from the commit of the write to the response. */
            waited_ms: number;
            /** @description Whether the write is in the route store. */
            projected: boolean;
        };
        /**
         * Applied
         * @description The result of an apply, with one entry for each service of the document.
         */
        Applied: {
            /** @description One result for each service of the document. */
            results: components["schemas"]["AppliedService"][];
            propagation?: components["schemas"]["Propagation"];
        };
        /**
         * Scope
         * @description The kind of owner of the data that a route addresses.
         * @enum {string}
         */
        Scope: "public" | "user" | "organization" | "member";
        /**
         * Settings
         * @description The settings of one method of a route. For a change of the service itself: its url, openapi, timeout_ms, max_body_bytes, one policy or one test.
         */
        Settings: {
            /** @description The path that the gateway calls on the service, with `{subject.…}` and `{path.…}`. Omitted: the request's path. */
            upstream?: string;
            /** @description The maximum time in milliseconds until the service begins its response, in place of the gateway's UPSTREAM_TIMEOUT_MS. A pause within the response can take as long. */
            timeout_ms?: number;
            /** @description The maximum size of a request body in bytes, in place of the gateway's MAX_BODY_BYTES. 0 means no limit. */
            max_body_bytes?: number;
            /** @description The labels that the route requires. A member needs one of them, or `*`. Without labels, every admitted caller may call. User routes check no labels. */
            required_labels?: string[];
            rate_limit?: components["schemas"]["RouteRateLimit"];
            /** @description Whether requests are audited. POST, PUT, PATCH and DELETE are audited by default. Public routes are never audited. */
            audit?: boolean;
            /** @description `http://host:port`. Stored configs may also have `host:port`. */
            url?: string;
            /** @description The path of the service's OpenAPI description on the service's url. A query is allowed. */
            openapi?: string;
            /** @description The policy, under its name. */
            rate_limits?: {
                [key: string]: components["schemas"]["RateLimitPolicy"];
            };
            test?: components["schemas"]["RouteTest"];
        };
        /**
         * Change
         * @description One change of a route's method, or of the service itself.
         */
        Change: {
            /**
             * @description The kind of change.
             * @enum {string}
             */
            action: "added" | "removed" | "changed";
            /** @description The route's scope. Null for a change of the service's own settings. */
            scope: components["schemas"]["Scope"] | null;
            /** @description The route's method. Null for a change of the service's own settings. */
            method: components["schemas"]["Method"] | null;
            /** @description The route's path. Null for a change of the service's own settings. */
            path: string | null;
            /** @description The old settings, or null for an addition. */
            before: components["schemas"]["Settings"] | null;
            /** @description The new settings, or null for a removal. */
            after: components["schemas"]["Settings"] | null;
        };
        /**
         * PreviewedService
         * @description A service that would be written.
         */
        PreviewedService: {
            /** @description Letters, digits, `.`, `_` and `-`. */
            service: string;
            /**
             * @description The effect of the apply on the service.
             * @enum {string}
             */
            status: "created" | "changed" | "unchanged";
            /** @description The service's current revision, or null if the service does not exist. */
            revision: number | null;
            /** @description The changes that the apply would make. */
            changes: components["schemas"]["Change"][];
        };
        /**
         * Preview
         * @description The preview of an apply, with one entry for each service of the document.
         */
        Preview: {
            /** @description One result for each service of the document. */
            results: components["schemas"]["PreviewedService"][];
        };
        /**
         * ApplyResponse
         * @description The written services or, on a dry run, the preview.
         */
        ApplyResponse: components["schemas"]["Applied"] | components["schemas"]["Preview"];
        /**
         * MissingPermission
         * @description A part of the write for which the operator has no permission.
         */
        MissingPermission: {
            /** @description The service. */
            service: string;
            /** @description The path outside the operator's prefixes. Absent if the operator may not publish the service at all. */
            path?: string;
            /** @description The url that the operator may not use: it is outside the operator's urls, or belongs to a service that the operator may not publish. */
            url?: string;
            /** @description The shared policy that a service uses which the operator may not publish, and that the write declares or changes. */
            policy?: string;
        };
        /**
         * RouteConflict
         * @description A route that another service owns.
         */
        RouteConflict: {
            /** @description The service that tried to claim the route. */
            service: string;
            /** @description The route's method. */
            method: string;
            /** @description The route's full path. */
            path: string;
            /** @description The service that owns the route. */
            owner: string;
            /** @description The full path of the owner's route. Its params can have other names. */
            owner_path: string;
        };
        /**
         * FieldError
         * @description One wrong field of a request.
         */
        FieldError: {
            /** @description The field: names joined by dots, list positions in brackets. Empty for the whole body. */
            path: string;
            /** @description The problem, and the values that are accepted. */
            message: string;
        };
        /**
         * Error details
         * @description Details of the error. The description of each property names its error code.
         */
        ErrorDetails: {
            /** @description FORBIDDEN: the name of the operator whose write was refused. */
            operator?: string;
            /**
             * @description FORBIDDEN: the role that the operator lacks. Absent if the role suffices.
             * @enum {string}
             */
            required_role?: "publisher";
            /** @description FORBIDDEN: the parts that the operator may not write, at most 100. */
            missing?: components["schemas"]["MissingPermission"][];
            /** @description ROUTE_CONFLICT: the routes that other services own, at most 100. */
            conflicts?: components["schemas"]["RouteConflict"][];
            /** @description PRECONDITION_FAILED: the service's current revision. Null if the service never existed, or if the request applied a document. */
            current_revision?: number | null;
            /** @description PAYLOAD_TOO_LARGE: the maximum size of a body, in bytes. */
            max_size_bytes?: number;
            /** @description VALIDATION_ERROR: the problems, at most 100. */
            fields?: components["schemas"]["FieldError"][];
            /** @description NOT_FOUND: the kind of resource. */
            resource?: string;
            /** @description NOT_FOUND: the unknown id. */
            id?: string | null;
            /** @description CONFLICT: the field that conflicts. */
            field?: string;
            /** @description CONFLICT: the value of the field. */
            value?: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * Error body
         * @description The error.
         */
        ErrorBody: {
            /**
             * @description `invalid_request_error`: the request must change. `api_error`: the same request may succeed later.
             * @enum {string}
             */
            type: "invalid_request_error" | "api_error";
            /** @description The code of the error, for programs. */
            code: string;
            /** @description A sentence about the error, for people. */
            message: string;
            /** @description The id of the request in the logs. */
            request_id: string;
            /** @description Details that depend on the code. */
            details: components["schemas"]["ErrorDetails"] | null;
        };
        /**
         * ErrorResponse
         * @description The body of every error.
         */
        ErrorResponse: {
            error: components["schemas"]["ErrorBody"];
        };
        /**
         * StoredRoute
         * @description A route in stored form.
         */
        StoredRoute: {
            /** @description `/`, or segments that are literals or `{params}`, in lower case, without a trailing slash. */
            path: string;
            /** @description The path that the gateway calls on the service, with `{subject.…}` and `{path.…}`. Omitted: the request's path. */
            upstream?: string;
            /** @description The maximum time in milliseconds until the service begins its response, in place of the gateway's UPSTREAM_TIMEOUT_MS. A pause within the response can take as long. */
            timeout_ms?: number;
            /** @description The maximum size of a request body in bytes, in place of the gateway's MAX_BODY_BYTES. 0 means no limit. */
            max_body_bytes?: number;
            methods: components["schemas"]["MethodList"];
            /** @description The labels that the route requires. A member needs one of them, or `*`. Without labels, every admitted caller may call. User routes check no labels. */
            required_labels?: string[];
            rate_limit?: components["schemas"]["RouteRateLimit"];
            /** @description Whether requests are audited. POST, PUT, PATCH and DELETE are audited by default. Public routes are never audited. */
            audit?: boolean;
        };
        /**
         * StoredScope
         * @description The routes of one scope, in stored form.
         */
        StoredScope: {
            /** @description The routes of the scope. */
            routes: components["schemas"]["StoredRoute"][];
        };
        /**
         * StoredServiceConfig
         * @description A service in stored form: full paths, methods always a list.
         */
        StoredServiceConfig: {
            /** @description `http://host:port`. Stored configs may also have `host:port`. */
            url: string;
            /** @description The path of the service's OpenAPI description on the service's url. A query is allowed. */
            openapi?: string;
            /** @description The maximum time in milliseconds until the service begins its response, in place of the gateway's UPSTREAM_TIMEOUT_MS. A pause within the response can take as long. */
            timeout_ms?: number;
            /** @description The maximum size of a request body in bytes, in place of the gateway's MAX_BODY_BYTES. 0 means no limit. */
            max_body_bytes?: number;
            /** @description Policies that routes of this service name in rate_limit. */
            rate_limits?: {
                [key: string]: components["schemas"]["RateLimitPolicy"];
            };
            /** @description Tests that must pass after each write. They are not sent to gateways. */
            tests?: components["schemas"]["RouteTest"][];
            public?: components["schemas"]["StoredScope"];
            user?: components["schemas"]["StoredScope"];
            organization?: components["schemas"]["StoredScope"];
            member?: components["schemas"]["StoredScope"];
        };
        /**
         * ServiceList
         * @description Every current service by name: a configuration document that can be applied unchanged.
         */
        ServiceList: {
            /** @description The services by name. */
            services: {
                [key: string]: components["schemas"]["StoredServiceConfig"];
            };
            /** @description The parts of configs that this version cannot read, by service name. Another version of Ostiary wrote these configs. */
            unreadable?: {
                [key: string]: components["schemas"]["FieldError"][];
            };
        };
        /**
         * Service
         * @description A current service in stored form, with its name and revision.
         */
        Service: {
            /** @description Letters, digits, `.`, `_` and `-`. */
            name: string;
            /** @description The revision number. The first write of a service has number 1. */
            revision: number;
            /** @description `http://host:port`. Stored configs may also have `host:port`. */
            url: string;
            /** @description The path of the service's OpenAPI description on the service's url. A query is allowed. */
            openapi?: string;
            /** @description The maximum time in milliseconds until the service begins its response, in place of the gateway's UPSTREAM_TIMEOUT_MS. A pause within the response can take as long. */
            timeout_ms?: number;
            /** @description The maximum size of a request body in bytes, in place of the gateway's MAX_BODY_BYTES. 0 means no limit. */
            max_body_bytes?: number;
            /** @description Policies that routes of this service name in rate_limit. */
            rate_limits?: {
                [key: string]: components["schemas"]["RateLimitPolicy"];
            };
            /** @description Tests that must pass after each write. They are not sent to gateways. */
            tests?: components["schemas"]["RouteTest"][];
            public?: components["schemas"]["StoredScope"];
            user?: components["schemas"]["StoredScope"];
            organization?: components["schemas"]["StoredScope"];
            member?: components["schemas"]["StoredScope"];
        };
        /**
         * WrittenService
         * @description The current service and, with wait_ms, the progress of the write.
         */
        WrittenService: {
            /** @description Letters, digits, `.`, `_` and `-`. */
            name: string;
            /** @description The revision number. The first write of a service has number 1. */
            revision: number;
            /** @description `http://host:port`. Stored configs may also have `host:port`. */
            url: string;
            /** @description The path of the service's OpenAPI description on the service's url. A query is allowed. */
            openapi?: string;
            /** @description The maximum time in milliseconds until the service begins its response, in place of the gateway's UPSTREAM_TIMEOUT_MS. A pause within the response can take as long. */
            timeout_ms?: number;
            /** @description The maximum size of a request body in bytes, in place of the gateway's MAX_BODY_BYTES. 0 means no limit. */
            max_body_bytes?: number;
            /** @description Policies that routes of this service name in rate_limit. */
            rate_limits?: {
                [key: string]: components["schemas"]["RateLimitPolicy"];
            };
            /** @description Tests that must pass after each write. They are not sent to gateways. */
            tests?: components["schemas"]["RouteTest"][];
            public?: components["schemas"]["StoredScope"];
            user?: components["schemas"]["StoredScope"];
            organization?: components["schemas"]["StoredScope"];
            member?: components["schemas"]["StoredScope"];
            propagation?: components["schemas"]["Propagation"];
        };
        /**
         * Deleted
         * @description A deleted service, and the progress of the deletion.
         */
        Deleted: {
            propagation: components["schemas"]["Propagation"];
        };
        /**
         * RevisionAction
         * @description The write that appended the revision.
         * @enum {string}
         */
        RevisionAction: "apply" | "put" | "delete" | "restore";
        /**
         * Revision
         * @description An entry of a service's history.
         */
        Revision: {
            /** @description Letters, digits, `.`, `_` and `-`. */
            service: string;
            /** @description The revision number. The first write of a service has number 1. */
            revision: number;
            action: components["schemas"]["RevisionAction"];
            /** @description The revision whose config a restore copied, or null for other writes. */
            restored_from: number | null;
            /** @description The config, or null if the service was deleted or `unreadable` is present. */
            config: components["schemas"]["StoredServiceConfig"] | null;
            /** @description Only for a config that another version of Ostiary wrote: the part that this version cannot read. */
            unreadable?: components["schemas"]["FieldError"][];
            /** @description The id of the request that wrote the revision. */
            request_id: string;
            /** @description The operator who made the write. Null for seeds. */
            operator: string | null;
            /** @description The reason that the operator gave in X-Change-Reason, or null. */
            reason: string | null;
            /** @description The URL that the operator gave in X-Change-Link, or null. */
            link: string | null;
            /**
             * Format: date-time
             * @description The time when the revision was written. RFC 3339, UTC, milliseconds.
             */
            created_at: string;
        };
        /**
         * RevisionList
         * @description The history of a service, newest first.
         */
        RevisionList: {
            /** @description The revisions, newest first. */
            revisions: components["schemas"]["Revision"][];
        };
        /**
         * Diff
         * @description The changes from one revision to another.
         */
        Diff: {
            /** @description The differences. */
            changes: components["schemas"]["Change"][];
        };
        /**
         * Role
         * @description A role that members may have.
         */
        Role: {
            /** @description The name of the role. */
            slug: string;
            /** @description The labels that the role grants; `*` grants everything. */
            labels: string[];
        };
        /**
         * RoleList
         * @description The roles of the registry's ROLES_FILE.
         */
        RoleList: {
            /** @description The roles in the order of their slugs. The list is empty if the registry has no ROLES_FILE. */
            roles: components["schemas"]["Role"][];
        };
        /**
         * LimitOfPlan
         * @description A limit with the numbers of the requested plan.
         */
        LimitOfPlan: {
            /** @description The name of the policy, or null for a limit that is written at the route. */
            policy: components["schemas"]["PolicyName"] | null;
            /** @description Requests admitted in one window or period. */
            requests: number;
            /** @description Length of the window in seconds. The first request starts the window. */
            window_seconds?: number;
            period?: components["schemas"]["RateLimitPeriod"];
        };
        /**
         * Lookup
         * @description The route that serves a request.
         */
        Lookup: {
            /** @description Letters, digits, `.`, `_` and `-`. */
            service: string;
            scope: components["schemas"]["Scope"];
            /** @description `/`, or segments that are literals or `{params}`, in lower case, without a trailing slash. */
            path: string;
            method: components["schemas"]["Method"];
            /** @description The values of the path's params, as the request spells them. */
            params: {
                [key: string]: string;
            };
            /** @description The labels of the route. A member needs one of them, or `*`. Null means that every admitted caller may use the route. */
            required_labels: string[] | null;
            /** @description The limit as published, or null for the gateway's default. */
            rate_limit: components["schemas"]["RouteRateLimit"] | null;
            /** @description The limits of an organization with the requested plan. An empty list means no limit. The field is missing if no plan was requested, or if the gateway's default applies. */
            limits?: components["schemas"]["LimitOfPlan"][];
            /** @description Whether requests are audited, with the default applied. */
            audit: boolean;
            /** @description The timeout of the route or else of its service, or null for the gateway's default. */
            timeout_ms: number | null;
            /** @description The maximum body size of the route or else of its service, or null for the gateway's default. 0 means no limit. */
            max_body_bytes: number | null;
            /** @description The template of the upstream path. Null means that the upstream path is the request's path. */
            upstream: string | null;
            /** @description Whether a member with the requested role or labels may use the route. True on public and user routes, which check no labels. */
            allowed?: boolean;
            /** @description The labels that admit the member, or, if the member is refused, the labels that would admit the member. Empty if the route requires no labels. */
            decided_by?: string[];
        };
        /**
         * EdgeDocument
         * @description An OpenAPI 3.1 document.
         */
        EdgeDocument: {
            /** @description The version of OpenAPI. */
            openapi: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * SkippedService
         * @description A service that a gateway skips.
         */
        SkippedService: {
            /** @description The service's name. */
            service: string;
            /** @description The reason why the gateway skips the service. */
            reason: string;
        };
        /**
         * Gateway
         * @description A running gateway, its loaded routes, and whether they are current.
         */
        Gateway: {
            /** @description The gateway's id: its host name, and a suffix that is new at each start. */
            instance: string;
            /**
             * Format: date-time
             * @description The time when the gateway started. RFC 3339, UTC, milliseconds.
             */
            started_at: string;
            /**
             * Format: date-time
             * @description The time when the gateway loaded the routes that it serves. RFC 3339, UTC, milliseconds.
             */
            loaded_at: string;
            /** @description The revision of the route store up to which the gateway has loaded every change. */
            store_revision: number;
            /** @description The number of services that the gateway serves. */
            services: number;
            /** @description The number of routes that the gateway serves. Each method of a path counts as one. */
            routes: number;
            /** @description Services that the gateway skips, at most 1000. */
            skipped: components["schemas"]["SkippedService"][];
            /** @description Whether the gateway serves everything that is published. If true, every committed write is in the route store, and the gateway has loaded all services without skipping one. */
            current: boolean;
        };
        /**
         * GatewayList
         * @description A page of the running gateways.
         */
        GatewayList: {
            /** @description The gateways, in the order of their ids. */
            gateways: components["schemas"]["Gateway"][];
            /** @description Whether another page follows. */
            has_more: boolean;
        };
        /**
         * OutstandingProjection
         * @description A service whose newest revision may be missing from the route store.
         */
        OutstandingProjection: {
            /** @description Letters, digits, `.`, `_` and `-`. */
            service: string;
            /** @description The time that the service has been waiting, in seconds. */
            age_seconds: number;
        };
        /**
         * OutstandingProjectionList
         * @description The services whose newest revision may be missing from the route store.
         */
        OutstandingProjectionList: {
            /** @description The services, longest wait first. Empty if no service waits. */
            outstanding: components["schemas"]["OutstandingProjection"][];
        };
        /**
         * Operator
         * @description The operator that the token identifies.
         */
        Operator: {
            /** @description The operator's name; `admin` is the holder of ADMIN_TOKEN. */
            name: string;
            /**
             * @description A reader can read and run dry runs. A publisher can also write its services. An admin can do everything.
             * @enum {string}
             */
            role: "reader" | "publisher" | "admin";
            /** @description The name patterns of the services that the operator may write; `*` stands for any characters. Null means every service. */
            services: string[] | null;
            /** @description The prefixes of the paths that the operator may publish. Null means every path. */
            paths: string[] | null;
            /** @description The patterns of the addresses that the operator may give its services; `*` stands for a label or for the port. Null means every address. Without any, the operator cannot set an address. */
            urls: string[] | null;
        };
        /**
         * ListedOperator
         * @description An operator, and how it proves itself.
         */
        ListedOperator: {
            /** @description The operator's name; `admin` is the holder of ADMIN_TOKEN. */
            name: string;
            /**
             * @description A reader can read and run dry runs. A publisher can also write its services. An admin can do everything.
             * @enum {string}
             */
            role: "reader" | "publisher" | "admin";
            /** @description The name patterns of the services that the operator may write; `*` stands for any characters. Null means every service. */
            services: string[] | null;
            /** @description The prefixes of the paths that the operator may publish. Null means every path. */
            paths: string[] | null;
            /** @description The patterns of the addresses that the operator may give its services; `*` stands for a label or for the port. Null means every address. Without any, the operator cannot set an address. */
            urls: string[] | null;
            /**
             * Format: date-time
             * @description When the operator expires. Null if it does not.
             */
            expires_at: string | null;
            /** @description How many tokens of the operator the registry accepts now. */
            tokens: number;
            /** @description The names of the claims by which tokens of the identity provider stand for the operator. Empty for an operator with tokens of its own. */
            claims: string[];
        };
        /**
         * Operators
         * @description All operators.
         */
        Operators: {
            /** @description The holder of ADMIN_TOKEN, then the operators of OPERATORS_FILE in their order. */
            operators: components["schemas"]["ListedOperator"][];
        };
        /**
         * RecordedChange
         * @description A write of a service, without its config.
         */
        RecordedChange: {
            /** @description Letters, digits, `.`, `_` and `-`. */
            service: string;
            /** @description The revision number. The first write of a service has number 1. */
            revision: number;
            action: components["schemas"]["RevisionAction"];
            /** @description The operator who made the write. Null for seeds. */
            operator: string | null;
            /** @description The reason that the operator gave in X-Change-Reason, or null. */
            reason: string | null;
            /** @description The URL that the operator gave in X-Change-Link, or null. */
            link: string | null;
            /** @description The id of the request that wrote the revision. */
            request_id: string;
            /**
             * Format: date-time
             * @description The time when the revision was written. RFC 3339, UTC, milliseconds.
             */
            created_at: string;
        };
        /**
         * RecordedChangeList
         * @description A page of the writes of all services, newest first.
         */
        RecordedChangeList: {
            /** @description The writes, newest first. */
            changes: components["schemas"]["RecordedChange"][];
            /** @description Whether another page follows. */
            has_more: boolean;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    apply: {
        parameters: {
            query?: {
                /** @description `true`: check everything and report the changes, but write nothing. */
                dry_run?: boolean;
                /** @description The maximum time in milliseconds to wait until every running gateway serves the write. `propagation` tells how many gateways serve it. The write is recorded even if the wait times out. */
                wait_ms?: number;
            };
            header?: {
                /** @description The ETag of a dry run of the same services. The response is 412 if one of these services was written since the dry run. `*` matches any state. */
                "If-Match"?: string;
                /** @description Why the write is made, in at most 512 characters of UTF-8. The history shows this reason. */
                "X-Change-Reason"?: string;
                /** @description The http or https URL of a ticket or pipeline run. The history shows this URL. */
                "X-Change-Link"?: string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description A configuration document. Without a content type it is read as YAML, which includes JSON. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConfigDocument"];
                "application/yaml": components["schemas"]["ConfigDocument"];
                "application/x-yaml": components["schemas"]["ConfigDocument"];
                "text/yaml": components["schemas"]["ConfigDocument"];
            };
        };
        responses: {
            /** @description The written services or, on a dry run, the preview. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApplyResponse"];
                };
            };
        };
    };
    getDocumentSchema: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A schema of draft-07. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/schema+json": Record<string, never>;
                };
            };
        };
    };
    listServices: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Every current service by name: a configuration document that can be applied unchanged. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServiceList"];
                };
            };
        };
    };
    getService: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The service's name. */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A current service in stored form, with its name and revision. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Service"];
                };
            };
        };
    };
    putService: {
        parameters: {
            query?: {
                /** @description The maximum time in milliseconds to wait until every running gateway serves the write. `propagation` tells how many gateways serve it. The write is recorded even if the wait times out. */
                wait_ms?: number;
            };
            header?: {
                /** @description The expected current revision in quotes, such as `"3"`, or `*` for any revision. 412 if another revision is current. */
                "If-Match"?: string;
                /** @description Why the write is made, in at most 512 characters of UTF-8. The history shows this reason. */
                "X-Change-Reason"?: string;
                /** @description The http or https URL of a ticket or pipeline run. The history shows this URL. */
                "X-Change-Link"?: string;
            };
            path: {
                /** @description The service's name. */
                name: string;
            };
            cookie?: never;
        };
        /** @description The service, as in a configuration document. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ServiceConfig"];
            };
        };
        responses: {
            /** @description The current service and, with wait_ms, the progress of the write. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenService"];
                };
            };
        };
    };
    deleteService: {
        parameters: {
            query?: {
                /** @description The maximum time in milliseconds to wait until every running gateway serves the write. `propagation` tells how many gateways serve it. The write is recorded even if the wait times out. */
                wait_ms?: number;
            };
            header?: {
                /** @description The expected current revision in quotes, such as `"3"`, or `*` for any revision. 412 if another revision is current. */
                "If-Match"?: string;
                /** @description Why the write is made, in at most 512 characters of UTF-8. The history shows this reason. */
                "X-Change-Reason"?: string;
                /** @description The http or https URL of a ticket or pipeline run. The history shows this URL. */
                "X-Change-Link"?: string;
            };
            path: {
                /** @description The service's name. */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A deleted service, and the progress of the deletion. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            /** @description Deleted. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listRevisions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The service's name. */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The history of a service, newest first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RevisionList"];
                };
            };
        };
    };
    getRevision: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The service's name. */
                name: string;
                /** @description A revision's number. */
                rev: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description An entry of a service's history. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Revision"];
                };
            };
        };
    };
    diffRevisions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The service's name. */
                name: string;
                /** @description A revision's number. */
                rev: number;
                /** @description A revision's number. */
                other: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The changes from one revision to another. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Diff"];
                };
            };
        };
    };
    restoreRevision: {
        parameters: {
            query?: {
                /** @description The maximum time in milliseconds to wait until every running gateway serves the write. `propagation` tells how many gateways serve it. The write is recorded even if the wait times out. */
                wait_ms?: number;
            };
            header?: {
                /** @description The expected current revision in quotes, such as `"3"`, or `*` for any revision. 412 if another revision is current. */
                "If-Match"?: string;
                /** @description Why the write is made, in at most 512 characters of UTF-8. The history shows this reason. */
                "X-Change-Reason"?: string;
                /** @description The http or https URL of a ticket or pipeline run. The history shows this URL. */
                "X-Change-Link"?: string;
            };
            path: {
                /** @description The service's name. */
                name: string;
                /** @description A revision's number. */
                rev: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The current service and, with wait_ms, the progress of the write. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenService"];
                };
            };
        };
    };
    listRoles: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The roles of the registry's ROLES_FILE. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RoleList"];
                };
            };
        };
    };
    findRoute: {
        parameters: {
            query: {
                /** @description The request's method. */
                method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD" | "OPTIONS";
                /** @description The request's path. A query is ignored. */
                path: string;
                /** @description Adds the limits of an organization with this plan. */
                plan?: string;
                /** @description A slug of ROLES_FILE: the response tells whether a member with this role may use the route. Set role or labels, not both. */
                role?: string;
                /** @description Labels, separated by commas: the response tells whether a member with these labels may use the route. Set role or labels, not both. */
                labels?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The route that serves a request. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Lookup"];
                };
            };
        };
    };
    getEdgeDocument: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description An OpenAPI 3.1 document. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EdgeDocument"];
                };
            };
        };
    };
    listGateways: {
        parameters: {
            query?: {
                /** @description The id of the last item of the previous page. The page begins after that item. */
                starting_after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the running gateways. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GatewayList"];
                };
            };
        };
    };
    listProjections: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The services whose newest revision may be missing from the route store. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OutstandingProjectionList"];
                };
            };
        };
    };
    getOperator: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The operator that the token identifies. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Operator"];
                };
            };
        };
    };
    listOperators: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All operators. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Operators"];
                };
            };
        };
    };
    listChanges: {
        parameters: {
            query?: {
                /** @description Only changes of this service. */
                service?: string;
                /** @description Only changes by this operator. */
                operator?: string;
                /** @description Only changes after this time (exclusive). */
                created_after?: string;
                /** @description Only changes before this time (exclusive). */
                created_before?: string;
                /** @description The service and revision of the last change of the previous page (exclusive). */
                starting_after?: string;
                /** @description The number of items in a page: 50 by default, at most 100. Larger values count as 100. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the writes of all services, newest first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecordedChangeList"];
                };
            };
        };
    };
}
