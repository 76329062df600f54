// Written by `bun run client` from the OpenAPI description.

export interface paths {
    "/audit-log/checkpoint": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the signed root of the log
         * @description A signed note (C2SP tlog-checkpoint) over the name of the log, the number of leaves and the root of their tree. The response is 404 if the log has no signing key.
         *
         *     **Callers:** everyone, without a credential.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each client address.
         */
        get: operations["getAuditLogRoot"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/audit-log/key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the keys of the log
         * @description The verifier keys that sign the roots of the log, in the form name+hash+key, one on each line. The response is 404 if the log has no signing key.
         *
         *     **Callers:** everyone, without a credential.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each client address.
         */
        get: operations["getAuditLogKey"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/audit-log/tile/{level}/{first}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a tile of the log's tree, by one part
         * @description The tile has 256 hashes of 32 bytes (C2SP tlog-tiles). A tile of `entries` has the texts of 256 leaves, each preceded by its length in two bytes. Tiles never change. The index is groups of three digits, each but the last with an x before it, such as 067, x001/067 or 067.p/12.
         *
         *     **Callers:** everyone, without a credential.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each client address.
         */
        get: operations["getAuditLogTile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/audit-log/tile/{level}/{first}/{second}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a tile of the log's tree, by two parts
         * @description The tile has 256 hashes of 32 bytes (C2SP tlog-tiles). A tile of `entries` has the texts of 256 leaves, each preceded by its length in two bytes. Tiles never change. The index is groups of three digits, each but the last with an x before it, such as 067, x001/067 or 067.p/12.
         *
         *     **Callers:** everyone, without a credential.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each client address.
         */
        get: operations["getAuditLogTileOfTwo"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/audit-log/tile/{level}/{first}/{second}/{third}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a tile of the log's tree, by three parts
         * @description The tile has 256 hashes of 32 bytes (C2SP tlog-tiles). A tile of `entries` has the texts of 256 leaves, each preceded by its length in two bytes. Tiles never change. The index is groups of three digits, each but the last with an x before it, such as 067, x001/067 or 067.p/12.
         *
         *     **Callers:** everyone, without a credential.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each client address.
         */
        get: operations["getAuditLogTileOfThree"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/audit-log/tile/{level}/{first}/{second}/{third}/{fourth}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a tile of the log's tree, by four parts
         * @description The tile has 256 hashes of 32 bytes (C2SP tlog-tiles). A tile of `entries` has the texts of 256 leaves, each preceded by its length in two bytes. Tiles never change. The index is groups of three digits, each but the last with an x before it, such as 067, x001/067 or 067.p/12.
         *
         *     **Callers:** everyone, without a credential.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each client address.
         */
        get: operations["getAuditLogTileOfFour"];
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
         *
         *     **Callers:** a person, by a token of the identity provider or a user API key.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each person.
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
    "/member": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a member by its id alone
         * @description 404 for a removed member.
         *
         *     **Callers:** a member of an organization, by a member API key or a session; the operation concerns that member.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each member.
         */
        get: operations["getMemberSelf"];
        put?: never;
        post?: never;
        /**
         * Leave an organization
         * @description The same as the removal by the path that names the organization. The last member, and the last holder of creator_role, cannot leave (422).
         *
         *     **Callers:** a member of an organization, by a member API key or a session; the operation concerns that member.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each member.
         */
        delete: operations["removeMemberSelf"];
        options?: never;
        head?: never;
        /**
         * Change a member by its id alone
         * @description Changes the member's status and name. Only the path that names the organization can change the role.
         *
         *     **Callers:** a member of an organization, by a member API key or a session; the operation concerns that member.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each member.
         */
        patch: operations["updateMemberSelf"];
        trace?: never;
    };
    "/member/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the API keys of a member
         * @description Oldest first, without their secrets. Revoked and expired keys are included unless a filter leaves them out. Filters combine with AND.
         *
         *     **Callers:** a member of an organization, by a member API key or a session; the operation concerns that member.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each member.
         */
        get: operations["listMemberApiKeys"];
        put?: never;
        /**
         * Create an API key of a member
         * @description Only this response contains the key itself. The key has the labels of the member's role.
         *
         *     **Callers:** a member of an organization, by a member API key or a session; the operation concerns that member.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each member.
         */
        post: operations["createMemberApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/member/api-keys/{key_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke an API key of a member
         * @description A revocation is final. Revoking a key again changes nothing.
         *
         *     **Callers:** a member of an organization, by a member API key or a session; the operation concerns that member.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each member.
         */
        delete: operations["revokeMemberApiKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/member/api-keys/{key_id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate an API key of a member
         * @description A new key with the same name and lifetime replaces this one. The old key expires after the overlap, or at its own expiry time if that is earlier. 409 for a key that is revoked, expired, or already rotated.
         *
         *     **Callers:** a member of an organization, by a member API key or a session; the operation concerns that member.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each member.
         */
        post: operations["rotateMemberApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/org": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an organization
         * @description The organization's name, plan and times.
         *
         *     **Callers:** a member of an organization, by a member API key or a session; the operation concerns that organization.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each organization.
         */
        get: operations["getOrganization"];
        put?: never;
        post?: never;
        /**
         * Delete an organization
         * @description A deletion is final. It includes the organization's members, service accounts, invites and keys.
         *
         *     **Callers:** a member of an organization, by a member API key or a session; the operation concerns that organization.
         *     **Labels:** the member's role grants one of `org:delete`, or `*`.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each organization.
         */
        delete: operations["deleteOrganization"];
        options?: never;
        head?: never;
        /**
         * Rename an organization
         * @description Two organizations may have the same name.
         *
         *     **Callers:** a member of an organization, by a member API key or a session; the operation concerns that organization.
         *     **Labels:** the member's role grants one of `org:write`, or `*`.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each organization.
         */
        patch: operations["updateOrganization"];
        trace?: never;
    };
    "/org/audit-events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an organization's audit log
         * @description Newest first. Filters combine with AND. With `Accept: text/csv` or `application/x-ndjson` the response is an export, like that of the export operation, and `limit` does not apply.
         *
         *     **Callers:** a member of an organization, by a member API key or a session; the operation concerns that organization.
         *     **Labels:** the member's role grants one of `org:audit:read`, or `*`.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each organization.
         */
        get: operations["listOrganizationAuditEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/org/audit-events/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export an organization's audit log
         * @description The whole filtered log as a stream, newest first. Filters combine with AND; `starting_after` continues an export that broke off.
         *
         *     **Callers:** a member of an organization, by a member API key or a session; the operation concerns that organization.
         *     **Labels:** the member's role grants one of `org:audit:read`, or `*`.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each organization.
         */
        get: operations["exportOrganizationAuditEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/org/audit-streams": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List an organization's streams
         * @description Oldest first, without their secrets.
         *
         *     **Callers:** a member of an organization, by a member API key or a session; the operation concerns that organization.
         *     **Labels:** the member's role grants one of `org:audit:read`, or `*`.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each organization.
         */
        get: operations["listAuditStreams"];
        put?: never;
        /**
         * Create a stream
         * @description Delivers events to your receiver from now on, or from a position or a time. An organization has at most 10 streams.
         *
         *     **Callers:** a member of an organization, by a member API key or a session; the operation concerns that organization.
         *     **Labels:** the member's role grants one of `org:audit:manage`, or `*`.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each organization.
         */
        post: operations["createAuditStream"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/org/audit-streams/{stream_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a stream
         * @description Shows the last entry that the receiver accepted, and why the last delivery request failed.
         *
         *     **Callers:** a member of an organization, by a member API key or a session; the operation concerns that organization.
         *     **Labels:** the member's role grants one of `org:audit:read`, or `*`.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each organization.
         */
        get: operations["getAuditStream"];
        put?: never;
        post?: never;
        /**
         * Delete a stream
         * @description Deletes the stream and its secret. Nothing more is delivered.
         *
         *     **Callers:** a member of an organization, by a member API key or a session; the operation concerns that organization.
         *     **Labels:** the member's role grants one of `org:audit:manage`, or `*`.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each organization.
         */
        delete: operations["deleteAuditStream"];
        options?: never;
        head?: never;
        /**
         * Change a stream
         * @description Pauses the stream, starts it again where it stopped, or changes where and what it delivers. The change does not affect a delivery request in flight.
         *
         *     **Callers:** a member of an organization, by a member API key or a session; the operation concerns that organization.
         *     **Labels:** the member's role grants one of `org:audit:manage`, or `*`.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each organization.
         */
        patch: operations["updateAuditStream"];
        trace?: never;
    };
    "/org/audit-streams/{stream_id}/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace a stream's secret
         * @description Both secrets sign each delivery request during the overlap, which is a day by default.
         *
         *     **Callers:** a member of an organization, by a member API key or a session; the operation concerns that organization.
         *     **Labels:** the member's role grants one of `org:audit:manage`, or `*`.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each organization.
         */
        post: operations["rotateAuditStreamSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/org/audit-streams/{stream_id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Call a stream's receiver
         * @description Sends a signed message of type audit.test, which contains no event, and returns the result. If the receiver of a failing stream accepts the message, the stream is retried at once.
         *
         *     **Callers:** a member of an organization, by a member API key or a session; the operation concerns that organization.
         *     **Labels:** the member's role grants one of `org:audit:manage`, or `*`.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each organization.
         */
        post: operations["testAuditStream"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/org/invites": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List an organization's invites
         * @description The invites in every state, oldest first.
         *
         *     **Callers:** a member of an organization, by a member API key or a session; the operation concerns that organization.
         *     **Labels:** the member's role grants one of `org:members:write`, or `*`.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each organization.
         */
        get: operations["listInvites"];
        put?: never;
        /**
         * Create an invite
         * @description The response contains the token. The list of invites contains it too while the invite is active.
         *
         *     **Callers:** a member of an organization, by a member API key or a session; the operation concerns that organization.
         *     **Labels:** the member's role grants one of `org:members:write`, or `*`.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each organization.
         */
        post: operations["createInvite"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/org/invites/{invite_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke an invite
         * @description Changes nothing if the invite is already redeemed, revoked or expired.
         *
         *     **Callers:** a member of an organization, by a member API key or a session; the operation concerns that organization.
         *     **Labels:** the member's role grants one of `org:members:write`, or `*`.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each organization.
         */
        delete: operations["revokeInvite"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/org/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List an organization's members
         * @description Active and suspended members, oldest first; removed members are never listed.
         *
         *     **Callers:** a member of an organization, by a member API key or a session; the operation concerns that organization.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each organization.
         */
        get: operations["listMembers"];
        put?: never;
        /**
         * Add a member
         * @description Adds the person with this subject of an identity provider. The member is active at once. An unknown subject becomes a new person. 409 with field `idp` for a person who is already a member.
         *
         *     **Callers:** a member of an organization, by a member API key or a session; the operation concerns that organization.
         *     **Labels:** the member's role grants one of `org:members:write`, or `*`.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each organization.
         */
        post: operations["addMember"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/org/members/{member_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a member
         * @description A removed member is shown with its last name and the status `removed`.
         *
         *     **Callers:** a member of an organization, by a member API key or a session; the operation concerns that organization.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each organization.
         */
        get: operations["getMember"];
        put?: never;
        post?: never;
        /**
         * Remove a member
         * @description Final: the member's keys are revoked and its sessions end. The last member, and the last holder of creator_role, cannot be removed (422).
         *
         *     **Callers:** a member of an organization, by a member API key or a session; the operation concerns that organization.
         *     **Labels:** the member's role grants one of `org:members:write`, or `*`.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each organization.
         */
        delete: operations["removeMember"];
        options?: never;
        head?: never;
        /**
         * Change a member
         * @description Suspends or re-enables the member, or changes its role or name. The last holder of creator_role must keep it (422).
         *
         *     **Callers:** a member of an organization, by a member API key or a session; the operation concerns that organization.
         *     **Labels:** the member's role grants one of `org:members:write`, or `*`.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each organization.
         */
        patch: operations["updateMember"];
        trace?: never;
    };
    "/org/roles": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the roles
         * @description The roles file of the deployment: the same for every organization, in one page.
         *
         *     **Callers:** a member of an organization, by a member API key or a session; the operation concerns that organization.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each organization.
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
    "/org/service-accounts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List an organization's service accounts
         * @description Active and suspended accounts, oldest first; removed accounts are never listed.
         *
         *     **Callers:** a member of an organization, by a member API key or a session; the operation concerns that organization.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each organization.
         */
        get: operations["listServiceAccounts"];
        put?: never;
        /**
         * Create a service account
         * @description The service account belongs to the organization, has a role of its own and is active at once.
         *
         *     **Callers:** a member of an organization, by a member API key or a session; the operation concerns that organization.
         *     **Labels:** the member's role grants one of `org:service-accounts:write`, or `*`.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each organization.
         */
        post: operations["createServiceAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/org/service-accounts/{service_account_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a service account
         * @description 404 for a removed service account.
         *
         *     **Callers:** a member of an organization, by a member API key or a session; the operation concerns that organization.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each organization.
         */
        get: operations["getServiceAccount"];
        put?: never;
        post?: never;
        /**
         * Remove a service account
         * @description Removes the account's member and revokes the account's keys. The last member, and the last holder of creator_role, cannot be removed (422).
         *
         *     **Callers:** a member of an organization, by a member API key or a session; the operation concerns that organization.
         *     **Labels:** the member's role grants one of `org:service-accounts:write`, or `*`.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each organization.
         */
        delete: operations["removeServiceAccount"];
        options?: never;
        head?: never;
        /**
         * Rename a service account
         * @description To change the status or the role, change the member of the service account.
         *
         *     **Callers:** a member of an organization, by a member API key or a session; the operation concerns that organization.
         *     **Labels:** the member's role grants one of `org:service-accounts:write`, or `*`.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each organization.
         */
        patch: operations["updateServiceAccount"];
        trace?: never;
    };
    "/org/service-accounts/{service_account_id}/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the API keys of a service account
         * @description Oldest first, without their secrets. Revoked and expired keys are included unless a filter leaves them out. Filters combine with AND.
         *
         *     **Callers:** a member of an organization, by a member API key or a session; the operation concerns that organization.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each organization.
         */
        get: operations["listServiceAccountApiKeys"];
        put?: never;
        /**
         * Create an API key of a service account
         * @description Only this response contains the key itself. The key has the labels of the service account's role. The keys of the service account are also listed under its member (`/members/{member_id}/api-keys`).
         *
         *     **Callers:** a member of an organization, by a member API key or a session; the operation concerns that organization.
         *     **Labels:** the member's role grants one of `org:service-accounts:write`, or `*`.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each organization.
         */
        post: operations["createServiceAccountApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/org/service-accounts/{service_account_id}/api-keys/{key_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke an API key of a service account
         * @description A revocation is final. Revoking a key again changes nothing.
         *
         *     **Callers:** a member of an organization, by a member API key or a session; the operation concerns that organization.
         *     **Labels:** the member's role grants one of `org:service-accounts:write`, or `*`.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each organization.
         */
        delete: operations["revokeServiceAccountApiKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/org/service-accounts/{service_account_id}/api-keys/{key_id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate an API key of a service account
         * @description A new key with the same name and lifetime replaces this one. The old key expires after the overlap, or at its own expiry time if that is earlier. 409 for a key that is revoked, expired, or already rotated.
         *
         *     **Callers:** a member of an organization, by a member API key or a session; the operation concerns that organization.
         *     **Labels:** the member's role grants one of `org:service-accounts:write`, or `*`.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each organization.
         */
        post: operations["rotateServiceAccountApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/org/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an organization's usage
         * @description Requests, refusals, failures, bytes and time, grouped by `by`. The items are in the order of their ids. Gateways report every 10 seconds. A request is counted when it ends, in the counts of the hour in which it began. With `Accept: text/csv` or `application/x-ndjson` the response is an export of all items, and `limit` does not apply.
         *
         *     **Callers:** a member of an organization, by a member API key or a session; the operation concerns that organization.
         *     **Labels:** the member's role grants one of `org:usage:read`, or `*`.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each organization.
         */
        get: operations["listUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a person
         * @description The person's global name and status.
         *
         *     **Callers:** a person, by a token of the identity provider or a user API key.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each person.
         */
        get: operations["getUser"];
        put?: never;
        post?: never;
        /**
         * Delete an account
         * @description Ends every membership and deletes the person's keys and links to identity providers. 409 while an organization would be left without a member or a holder of creator_role; `details.organizations` lists at most 100 of them as {id, name}.
         *
         *     **Callers:** a person, by a token of the identity provider or a user API key.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each person.
         */
        delete: operations["deleteUser"];
        options?: never;
        head?: never;
        /**
         * Change a person's name
         * @description An organization shows this name unless the member has a name for that organization.
         *
         *     **Callers:** a person, by a token of the identity provider or a user API key.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each person.
         */
        patch: operations["updateUser"];
        trace?: never;
    };
    "/user/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the API keys of a person
         * @description Oldest first, without their secrets. Revoked and expired keys are included unless a filter leaves them out. Filters combine with AND.
         *
         *     **Callers:** a person, by a token of the identity provider or a user API key.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each person.
         */
        get: operations["listUserApiKeys"];
        put?: never;
        /**
         * Create an API key of a person
         * @description Only this response contains the key itself. The key acts as the person on user routes.
         *
         *     **Callers:** a person, by a token of the identity provider or a user API key.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each person.
         */
        post: operations["createUserApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/api-keys/{key_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke an API key of a person
         * @description A revocation is final. Revoking a key again changes nothing.
         *
         *     **Callers:** a person, by a token of the identity provider or a user API key.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each person.
         */
        delete: operations["revokeUserApiKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/api-keys/{key_id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate an API key of a person
         * @description A new key with the same name and lifetime replaces this one. The old key expires after the overlap, or at its own expiry time if that is earlier. 409 for a key that is revoked, expired, or already rotated.
         *
         *     **Callers:** a person, by a token of the identity provider or a user API key.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each person.
         */
        post: operations["rotateUserApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/audit-events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a person's audit log
         * @description The events of this person outside organizations, newest first. Filters and exports work as for an organization's log.
         *
         *     **Callers:** a person, by a token of the identity provider or a user API key.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each person.
         */
        get: operations["listUserAuditEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/audit-events/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export a person's audit log
         * @description The events of this person outside organizations, as an export like that of an organization's log.
         *
         *     **Callers:** a person, by a token of the identity provider or a user API key.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each person.
         */
        get: operations["exportUserAuditEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/invites/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Preview an invite
         * @description Shows the organization and the role of an invite in any state, and changes nothing. `member_id` is set for a person who is already a member.
         *
         *     **Callers:** a person, by a token of the identity provider or a user API key.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each person.
         */
        post: operations["previewInvite"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/invites/redeem": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Redeem an invite
         * @description 201 for a new member with the invite's role. 200 for a person who is already a member, which also counts as a use. 409 with field `status` for an invite that is redeemed, revoked or expired.
         *
         *     **Callers:** a person, by a token of the identity provider or a user API key.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each person.
         */
        post: operations["redeemInvite"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/memberships": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List a person's memberships
         * @description The organizations where the person is an active member, oldest membership first.
         *
         *     **Callers:** a person, by a token of the identity provider or a user API key.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each person.
         */
        get: operations["listMemberships"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/organizations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create an organization
         * @description The person becomes the first member with the roles file's creator_role. 409 with field `organizations` for a person who has reached the limit.
         *
         *     **Callers:** a person, by a token of the identity provider or a user API key.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each person.
         */
        post: operations["createOrganization"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/organizations/{organization_id}/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Mint a session
         * @description A person who is an active member gets a session; everyone else gets 404. The session is valid for one hour. Older sessions stay valid.
         *
         *     **Callers:** a person, by a token of the identity provider or a user API key.
         *     **Limit:** as many requests as the header `X-RateLimit-Limit` states for each person.
         */
        post: operations["mintSession"];
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
         * OrganizationToHandOver
         * @description An organization that would lose its last member or its last holder of creator_role.
         */
        OrganizationToHandOver: {
            /** @description The organization_id. */
            id: string;
            /** @description The organization's name. */
            name: string;
        };
        /**
         * Error details
         * @description Details of the error. The description of each property names its error code.
         */
        ErrorDetails: {
            /**
             * @description FORBIDDEN: the permission that the caller lacks.
             * @enum {string}
             */
            permission?: "required_labels";
            /** @description NOT_FOUND: the kind of resource. */
            resource?: string;
            /** @description FORBIDDEN: the route's path. */
            resource_id?: string;
            /** @description FORBIDDEN: the labels of the route. The caller needs one of them. */
            required_labels?: string[];
            /** @description PAYLOAD_TOO_LARGE: the maximum size of a body, in bytes. */
            max_size_bytes?: number;
            /** @description RATE_LIMITED: seconds to wait before the next attempt. */
            retry_after_seconds?: number;
            /** @description VALIDATION_ERROR: the problems, at most 100. */
            fields?: components["schemas"]["FieldError"][];
            /** @description NOT_FOUND: the unknown id. */
            id?: string | null;
            /** @description CONFLICT: the field that conflicts. */
            field?: string;
            /** @description CONFLICT: the value of the field. */
            value?: string;
            /** @description ORGANIZATION_HANDOFF_REQUIRED: the organizations that would lose their last member or their last holder of creator_role, at most 100. */
            organizations?: components["schemas"]["OrganizationToHandOver"][];
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
        /** @description A membership in an organization. */
        IdentityMember: {
            /** @description The member_id. */
            id: string;
            /** @description The id of the organization. */
            organization_id: string;
            principal: components["schemas"]["IdentityPrincipal"];
            /** @description The id of the service account, or null for a person. */
            service_account_id: string | null;
            /** @description The person's name in this organization. If it is not set, the person's global name; if neither is set, null. For a service account, the name of the account. */
            display_name: string | null;
            /** @description The slug of a role, or null if identity has no ROLES_FILE. */
            role: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            status: "active" | "suspended";
            /**
             * Format: date-time
             * @description The time of creation. RFC 3339, UTC, milliseconds.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The time of the last change. RFC 3339, UTC, milliseconds.
             */
            updated_at: string;
        };
        /**
         * @description suspended: still a member, but not admitted.
         * @enum {string}
         */
        IdentityMemberStatus: "active" | "suspended";
        /**
         * @description The kind of member: a person or a service account.
         * @enum {string}
         */
        IdentityPrincipal: "user" | "service_account";
        /** @description The changes; at least one field. */
        IdentityUpdateMemberSelfRequest: {
            status?: components["schemas"]["IdentityMemberStatus"];
            /** @description A name, or null for none. 1 to 128 characters; white space around it is removed. */
            display_name?: string | null;
        };
        /** @description A page of a list. */
        IdentityAPIKeyList: {
            /** @description The items of this page. */
            keys: components["schemas"]["IdentityAPIKey"][];
            /** @description Whether another page follows. */
            has_more: boolean;
        };
        /** @description An API key without its secret. */
        IdentityAPIKey: {
            /** @description The key_id. */
            id: string;
            /** @description The purpose of the key. */
            name: string;
            /** @description The first characters of the key, which may be shown to tell keys apart. */
            key_prefix: string;
            /**
             * Format: date-time
             * @description The time of creation. RFC 3339, UTC, milliseconds.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The time when the key expires, or null if it never expires. RFC 3339, UTC, milliseconds.
             */
            expires_at: string | null;
            /**
             * Format: date-time
             * @description The time when identity last accepted the key, or null if it never did. The gateway asks identity only when it has no cached result. Identity stores the time within 15 seconds. RFC 3339, UTC, milliseconds.
             */
            last_used_at: string | null;
            /**
             * Format: date-time
             * @description The time when the key was revoked, or rotated without an overlap. Null means that neither happened. RFC 3339, UTC, milliseconds.
             */
            revoked_at: string | null;
        };
        /** @description A new API key with its secret. */
        IdentityCreatedAPIKey: {
            /** @description The key_id. */
            id: string;
            /** @description The purpose of the key. */
            name: string;
            /** @description The first characters of the key, which may be shown to tell keys apart. */
            key_prefix: string;
            /**
             * Format: date-time
             * @description The time of creation. RFC 3339, UTC, milliseconds.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The time when the key expires, or null if it never expires. RFC 3339, UTC, milliseconds.
             */
            expires_at: string | null;
            /**
             * Format: date-time
             * @description The time when identity last accepted the key, or null if it never did. The gateway asks identity only when it has no cached result. Identity stores the time within 15 seconds. RFC 3339, UTC, milliseconds.
             */
            last_used_at: string | null;
            /**
             * Format: date-time
             * @description The time when the key was revoked, or rotated without an overlap. Null means that neither happened. RFC 3339, UTC, milliseconds.
             */
            revoked_at: string | null;
            /** @description The full key, a secret. Only this response contains the key; identity stores only its hash. */
            key: string;
        };
        /** @description A new API key. */
        IdentityCreateAPIKeyRequest: {
            /** @description The purpose of the key. Default: "Unnamed Key". 1 to 128 characters; white space around it is removed. */
            name?: string;
            /** @description Seconds until the key expires. If absent, the key never expires. */
            expires_in_seconds?: number;
        };
        /** @description How long the old key stays valid. */
        IdentityRotateAPIKeyRequest: {
            /** @description The seconds for which the old key stays valid beside the new key. The default is 0. */
            overlap_seconds?: number;
        };
        /** @description A tenant. No other organization can access its data. */
        IdentityOrganization: {
            /** @description The organization_id. */
            id: string;
            /** @description The organization's name. */
            name: string;
            /** @description The plan of the organization, or null without a plan. */
            plan: components["schemas"]["IdentityPlanName"] | null;
            /**
             * Format: date-time
             * @description The time of creation. RFC 3339, UTC, milliseconds.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The time of the last change. RFC 3339, UTC, milliseconds.
             */
            updated_at: string;
        };
        /** @description The name of a plan, for limits that differ by plan. */
        IdentityPlanName: string;
        /** @description The changes. */
        IdentityUpdateOrganizationRequest: {
            /** @description The organization's name. 1 to 128 characters; white space around it is removed. */
            name: string;
        };
        /** @description A page of a list. */
        IdentityInviteList: {
            /** @description The items of this page. */
            invites: components["schemas"]["IdentityInvite"][];
            /** @description Whether another page follows. */
            has_more: boolean;
        };
        /** @description A token to join an organization. */
        IdentityInvite: {
            /** @description The invite_id. */
            id: string;
            /** @description The id of the organization. */
            organization_id: string;
            /** @description The e-mail address that is shown with the invite while the invite is active. Identity sends no e-mail. */
            email?: string;
            /** @description The slug of a role, or null if identity has no ROLES_FILE. */
            role: string | null;
            /** @description The first characters of the token, which may be shown. */
            token_prefix: string;
            /** @description The token; present only while the invite is active. */
            token?: string;
            status: components["schemas"]["IdentityInviteStatus"];
            /** @description The maximum number of times that the invite can be redeemed. Null means that there is no maximum. */
            max_uses: number | null;
            /** @description The number of times that the invite has been redeemed. */
            use_count: number;
            /**
             * Format: date-time
             * @description The time when the invite stops being active. RFC 3339, UTC, milliseconds.
             */
            expires_at: string;
            /**
             * Format: date-time
             * @description The time of creation. RFC 3339, UTC, milliseconds.
             */
            created_at: string;
        };
        /**
         * @description Only an active invite can be redeemed; the other states are final.
         * @enum {string}
         */
        IdentityInviteStatus: "active" | "redeemed" | "revoked" | "expired";
        /** @description A new invite. */
        IdentityCreateInviteRequest: {
            /** @description The email address to show with the invite. Identity sends no email. 1 to 320 characters; white space around it is removed. */
            email?: string;
            /**
             * @description A slug of the roles file. The role of the new member; default_role by default.
             * @enum {string}
             */
            role?: "admin" | "member" | "owner" | "viewer";
            /** @description The seconds until the invite expires. The default is seven days. */
            expires_in_seconds?: number;
            /** @description The maximum number of times that the invite can be redeemed, or null for no maximum. The default is 1. */
            max_uses?: number | null;
        };
        /** @description A page of a list. */
        IdentityMemberList: {
            /** @description The items of this page. */
            members: components["schemas"]["IdentityMember"][];
            /** @description Whether another page follows. */
            has_more: boolean;
        };
        /** @description The person to add. */
        IdentityAddMemberRequest: {
            idp: components["schemas"]["IdentityIdpSubject"];
            /**
             * @description A slug of the roles file. Default: default_role.
             * @enum {string}
             */
            role?: "admin" | "member" | "owner" | "viewer";
        };
        /** @description The identity of a person at an identity provider. A new subject creates the person. */
        IdentityIdpSubject: {
            /** @description The token's issuer, as configured at the gateway. */
            issuer: string;
            /** @description The value of the subject claim. */
            subject: string;
        };
        /** @description A member, or the remaining data of a removed member. */
        IdentityAnyMember: components["schemas"]["IdentityMember"] | components["schemas"]["IdentityFormerMember"];
        /** @description The remaining data of a removed member. */
        IdentityFormerMember: {
            /** @description The member_id. */
            id: string;
            /** @description The id of the organization. */
            organization_id: string;
            principal: components["schemas"]["IdentityPrincipal"];
            /** @description The name that the member had. Null means that the person's account is deleted. */
            display_name: string | null;
            /**
             * @description The member was removed. Removal is final. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            status: "removed";
        };
        /** @description The changes; at least one field. */
        IdentityUpdateMemberRequest: {
            status?: components["schemas"]["IdentityMemberStatus"];
            /** @description A name, or null for none. 1 to 128 characters; white space around it is removed. */
            display_name?: string | null;
            /**
             * @description A slug of the roles file. Unchanged if omitted.
             * @enum {string}
             */
            role?: "admin" | "member" | "owner" | "viewer";
        };
        /** @description The roles of this deployment. */
        IdentityRoleList: {
            /** @description The roles, sorted by slug. */
            roles: components["schemas"]["IdentityRole"][];
            /** @description The role of a person who creates an organization. Null if identity has no ROLES_FILE. */
            creator_role: string | null;
            /** @description The role of a new member if the request names no role. Null if identity has no ROLES_FILE. */
            default_role: string | null;
            /** @description The role of a new service account if the request names no role. Null if identity has no ROLES_FILE. */
            service_account_default_role: string | null;
        };
        /** @description A role of the roles file. */
        IdentityRole: {
            /** @description The role's name. */
            slug: string;
            /** @description The labels that the role grants; `*` alone grants every label. */
            labels: string[];
        };
        /** @description A page of a list. */
        IdentityServiceAccountList: {
            /** @description The items of this page. */
            service_accounts: components["schemas"]["IdentityServiceAccount"][];
            /** @description Whether another page follows. */
            has_more: boolean;
        };
        /** @description A non-human member of one organization. */
        IdentityServiceAccount: {
            /** @description The service_account_id. */
            id: string;
            /** @description The id of the organization. */
            organization_id: string;
            /** @description The member_id of the service account. To change status or role, update the member. */
            member_id: string;
            /** @description The name of the service account. */
            name: string;
            /** @description The slug of a role, or null if identity has no ROLES_FILE. */
            role: string | null;
            status: components["schemas"]["IdentityMemberStatus"];
            /**
             * Format: date-time
             * @description The time of creation. RFC 3339, UTC, milliseconds.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The time of the last change. RFC 3339, UTC, milliseconds.
             */
            updated_at: string;
        };
        /** @description A new service account. */
        IdentityCreateServiceAccountRequest: {
            /** @description The name of the service account. 1 to 128 characters; white space around it is removed. */
            name: string;
            /**
             * @description A slug of the roles file. Default: service_account_default_role, otherwise default_role.
             * @enum {string}
             */
            role?: "admin" | "member" | "owner" | "viewer";
        };
        /** @description The changes. */
        IdentityUpdateServiceAccountRequest: {
            /** @description The name of the service account. 1 to 128 characters; white space around it is removed. */
            name: string;
        };
        /** @description A person in the directory. */
        IdentityUser: {
            /** @description The user_id. */
            id: string;
            /** @description The person's global name. */
            display_name: string | null;
            status: components["schemas"]["IdentityPersonStatus"];
            /**
             * Format: date-time
             * @description The time of creation. RFC 3339, UTC, milliseconds.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The time of the last change. RFC 3339, UTC, milliseconds.
             */
            updated_at: string;
        };
        /**
         * @description suspended: no credential of this person is admitted, in any realm.
         * @enum {string}
         */
        IdentityPersonStatus: "active" | "suspended";
        /** @description The changes. */
        IdentityUpdateUserRequest: {
            /** @description A name, or null for none. 1 to 128 characters; white space around it is removed. */
            display_name: string | null;
        };
        /** @description The organization and the role that an invite leads to. */
        IdentityInvitePreview: {
            organization: components["schemas"]["IdentityInviteOrganization"];
            /** @description The slug of a role, or null if identity has no ROLES_FILE. */
            role: string | null;
            status: components["schemas"]["IdentityInviteStatus"];
            /**
             * Format: date-time
             * @description The time when the invite stops being active. RFC 3339, UTC, milliseconds.
             */
            expires_at: string;
            /** @description The id of the person's membership, or null for a person who is no member. */
            member_id: string | null;
        };
        /** @description The organization that the invite leads to. */
        IdentityInviteOrganization: {
            /** @description The organization_id. */
            id: string;
            /** @description The organization's name. */
            name: string;
        };
        /** @description The invite to preview or to redeem. */
        IdentityRedeemInviteRequest: {
            /** @description The invite's token. */
            token: string;
        };
        /** @description A page of a list. */
        IdentityMembershipList: {
            /** @description The items of this page. */
            memberships: components["schemas"]["IdentityMembership"][];
            /** @description Whether another page follows. */
            has_more: boolean;
        };
        /** @description A person's membership in an organization. */
        IdentityMembership: {
            /** @description The member_id. */
            id: string;
            organization: components["schemas"]["IdentityMembershipOrganization"];
            /** @description The slug of a role, or null if identity has no ROLES_FILE. */
            role: string | null;
            /**
             * @description Only active memberships are listed.
             * @enum {string}
             */
            status: "active";
        };
        /** @description The organization of a membership. */
        IdentityMembershipOrganization: {
            /** @description The organization_id. */
            id: string;
            /** @description The organization's name. */
            name: string;
        };
        /** @description A new organization. */
        IdentityCreateOrganizationRequest: {
            /** @description The organization's name. 1 to 128 characters; white space around it is removed. */
            name: string;
        };
        /** @description A one-hour credential of a member. */
        IdentitySession: {
            /** @description The session token, a secret. Only this response contains the token; identity stores only its hash. */
            token: string;
            /**
             * Format: date-time
             * @description The time when the session expires: one hour after its creation. RFC 3339, UTC, milliseconds.
             */
            expires_at: string;
            /** @description The id of the member that the session identifies. */
            member_id: string;
            /** @description The id of the organization. */
            organization_id: string;
            /** @description The slug of a role, or null if identity has no ROLES_FILE. */
            role: string | null;
            /** @description The labels that the role grants now. A later change of the role applies to this session too. */
            labels: string[];
        };
        /** @description Nothing, or an empty object. */
        IdentityMintSessionRequest: Record<string, never>;
        /** @description A page of a list. */
        AuditOrganizationAuditEventList: {
            /** @description The items of this page. */
            audit_events: components["schemas"]["AuditOrganizationAuditEvent"][];
            /** @description Whether another page follows. */
            has_more: boolean;
        };
        /** @description An event of an organization's log. */
        AuditOrganizationAuditEvent: {
            /** @description The id of the event, assigned when the event was stored. Lists are sorted by id. */
            id: string;
            /**
             * Format: date-time
             * @description The time when the gateway received the request. RFC 3339, UTC, milliseconds.
             */
            occurred_at: string;
            /** @description The request's X-Request-ID. */
            request_id: string;
            /** @description The id of the organization whose log contains the event. */
            organization_id: string | null;
            actor: components["schemas"]["AuditEventActor"];
            /** @description The service's name in the route configuration. */
            service: string;
            /** @description The HTTP method. */
            method: string;
            /** @description The matched path template, without the values of its params. */
            route: string;
            /** @description The values of the path's params, by name. */
            params: {
                [key: string]: string;
            };
            /** @description The client's address. */
            ip: string;
            /** @description The User-Agent of the request, at most 512 characters, or null without one. */
            user_agent: string | null;
            outcome: components["schemas"]["AuditEventOutcome"];
            /** @description The status of the gateway's response. Null while the outcome is pending, or if the client disconnected before the response. */
            status: number | null;
            /** @description Details of the change, from the service. */
            details: {
                [key: string]: unknown;
            } | null;
            /** @description The id of the created resource. */
            created_id: string | null;
        };
        /** @description The caller of the request. */
        AuditEventActor: {
            /** @description The id of the member who acted. On a user route, the id that the service reported, or null. */
            member_id: string | null;
            auth_type: components["schemas"]["AuditAuthType"];
            /** @description The first characters of the key or session, or null for a JWT. */
            key_prefix: string | null;
        };
        /**
         * @description The kind of credential with which the caller authenticated.
         * @enum {string}
         */
        AuditAuthType: "jwt" | "user_apikey" | "member_apikey" | "member_session";
        /**
         * @description pending: the outcome is unknown, so the request may or may not have changed something. rejected: the gateway responded without calling the service. responded: the service responded. no_response: the service was called and did not respond.
         * @enum {string}
         */
        AuditEventOutcome: "pending" | "rejected" | "responded" | "no_response";
        /** @description A page of a list. */
        AuditStreamList: {
            /** @description The items of this page. */
            audit_streams: components["schemas"]["AuditStream"][];
            /** @description Whether another page follows. */
            has_more: boolean;
        };
        /** @description Delivers an organization's events to a receiver. */
        AuditStream: {
            /** @description The stream. */
            id: string;
            /** @description Where events are sent by POST. https, a public address, and port 443 unless the operator allows others. */
            url: string;
            /**
             * @description ostiary: entries with their proof. ocsf: API Activity of the Open Cybersecurity Schema.
             * @enum {string}
             */
            format: "ostiary" | "ocsf";
            /** @description The conditions that a delivered event meets, or null to deliver every event. */
            filter: components["schemas"]["AuditStreamFilter"] | null;
            /**
             * @description failing: the last delivery request failed, and the service retries. paused: you paused the stream, the receiver responded with 410, or the receiver failed for 72 h.
             * @enum {string}
             */
            status: "active" | "failing" | "paused";
            /**
             * Format: date-time
             * @description The time of the first of the consecutive delivery requests that failed. RFC 3339, UTC, milliseconds.
             */
            failing_since: string | null;
            /** @description The reason why the last delivery request failed. */
            last_error: string | null;
            /** @description The last entry that the receiver accepted, or null before the first. */
            last_delivered: components["schemas"]["AuditStreamPosition"] | null;
            /** @description The number of entries of the log that the stream has not delivered yet. */
            lag_events: number;
            /**
             * Format: date-time
             * @description When the stream was created. RFC 3339, UTC, milliseconds.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When the stream was last changed. RFC 3339, UTC, milliseconds.
             */
            updated_at: string;
        };
        /** @description The last entry that the receiver accepted. */
        AuditStreamPosition: {
            /** @description The position of the entry in the log. */
            position: number;
            /**
             * Format: date-time
             * @description The time of the entry's event. RFC 3339, UTC, milliseconds.
             */
            occurred_at: string;
        };
        /** @description The conditions of a stream. The stream delivers an event only if every condition holds. */
        AuditStreamFilter: {
            /** @description Events of this member. */
            actor_member_id?: string;
            /** @description Events of this service. */
            service?: string;
            /** @description Events of this HTTP method, in capitals. */
            method?: string;
            /** @description Events of this path template, spelled exactly as in events. */
            route?: string;
            outcome?: components["schemas"]["AuditEventOutcome"];
            /** @description The event of this request. */
            request_id?: string;
            /** @description Events in which this id was created. */
            created_id?: string;
            /** @description Events with these path params. */
            params?: {
                [key: string]: string;
            };
        };
        /** @description A stream with its secret. */
        AuditStreamWithSecret: {
            /** @description The stream. */
            id: string;
            /** @description Where events are sent by POST. https, a public address, and port 443 unless the operator allows others. */
            url: string;
            /**
             * @description ostiary: entries with their proof. ocsf: API Activity of the Open Cybersecurity Schema.
             * @enum {string}
             */
            format: "ostiary" | "ocsf";
            /** @description The conditions that a delivered event meets, or null to deliver every event. */
            filter: components["schemas"]["AuditStreamFilter"] | null;
            /**
             * @description failing: the last delivery request failed, and the service retries. paused: you paused the stream, the receiver responded with 410, or the receiver failed for 72 h.
             * @enum {string}
             */
            status: "active" | "failing" | "paused";
            /**
             * Format: date-time
             * @description The time of the first of the consecutive delivery requests that failed. RFC 3339, UTC, milliseconds.
             */
            failing_since: string | null;
            /** @description The reason why the last delivery request failed. */
            last_error: string | null;
            /** @description The last entry that the receiver accepted, or null before the first. */
            last_delivered: components["schemas"]["AuditStreamPosition"] | null;
            /** @description The number of entries of the log that the stream has not delivered yet. */
            lag_events: number;
            /**
             * Format: date-time
             * @description When the stream was created. RFC 3339, UTC, milliseconds.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When the stream was last changed. RFC 3339, UTC, milliseconds.
             */
            updated_at: string;
            /** @description The secret that signs every delivery request (Standard Webhooks). Only this response contains it. */
            secret: string;
        };
        /** @description A new stream. */
        AuditCreateAuditStream: {
            /** @description Where events are sent by POST. https, a public address, and port 443 unless the operator allows others. */
            url: string;
            /**
             * @description ostiary: entries with their proof. ocsf: API Activity of the Open Cybersecurity Schema.
             * @enum {string}
             */
            format?: "ostiary" | "ocsf";
            /** @description The conditions that a delivered event meets, or null to deliver every event. */
            filter?: components["schemas"]["AuditStreamFilter"] | null;
            /** @description The position of the first entry that the stream delivers. Without from_position and from_time, the stream begins now. */
            from_position?: number;
            /**
             * Format: date-time
             * @description The stream begins with the first entry of an event of this time or later. RFC 3339.
             */
            from_time?: string;
        };
        /** @description The changes to a stream; omitted fields stay as they are. */
        AuditUpdateAuditStream: {
            /** @description Where events are sent by POST. https, a public address, and port 443 unless the operator allows others. */
            url?: string;
            /**
             * @description ostiary: entries with their proof. ocsf: API Activity of the Open Cybersecurity Schema.
             * @enum {string}
             */
            format?: "ostiary" | "ocsf";
            /** @description The conditions that a delivered event meets, or null to deliver every event. */
            filter?: components["schemas"]["AuditStreamFilter"] | null;
            /**
             * @description paused: nothing is delivered. active: delivery continues at once where it stopped.
             * @enum {string}
             */
            status?: "active" | "paused";
        };
        /** @description How a new secret replaces a stream's secret. */
        AuditRotateAuditStreamSecret: {
            /**
             * @description The time for which the old secret signs in addition to the new one.
             * @default 86400
             */
            overlap_seconds: number;
        };
        /** @description The result of a test request. */
        AuditStreamTest: {
            /** @description Whether the receiver responded with a 2xx status. */
            delivered: boolean;
            /** @description The status code of the receiver's response. */
            status: number | null;
            /** @description The reason why the test request failed. */
            error: string | null;
            /** @description The duration of the test request. */
            duration_ms: number;
        };
        /** @description A page of usage. */
        AuditUsageList: {
            /** @description The items of this page. */
            usage: components["schemas"]["AuditUsage"][];
            /** @description Whether another page follows. */
            has_more: boolean;
            /** @description Gateways whose reports for the requested time may be incomplete. At most 100, oldest first. */
            gaps: components["schemas"]["AuditUsageGap"][];
            /** @description Quotas of the organization that were charged in the current day or month, whatever time is requested. At most 100; the quota with the least left comes first. */
            quotas: components["schemas"]["AuditOrganizationQuota"][];
        };
        /** @description An organization's quota in the current period. */
        AuditOrganizationQuota: {
            /** @description The name of the policy, or null for a limit that is written at a route. */
            policy: string | null;
            /** @description The service of the policy, or null for a shared policy and for a limit at a route. */
            service: string | null;
            /** @description The method of the route that has the limit, or null for a policy. */
            method: string | null;
            /** @description The path of the route that has the limit, or null for a policy. */
            route: string | null;
            /**
             * @description The calendar period.
             * @enum {string}
             */
            period: "day" | "month";
            /**
             * Format: date-time
             * @description The start of the period. RFC 3339, UTC, milliseconds.
             */
            from: string;
            /**
             * Format: date-time
             * @description The end of the period, exclusive. RFC 3339, UTC, milliseconds.
             */
            to: string;
            /** @description The number of requests that the quota admits, according to the organization's plan at the last request. Null if unknown. */
            requests: number | null;
            /** @description The number of requests charged so far. Charges that gateways have not reported yet are missing. */
            charged: number;
        };
        /** @description A gateway ended without its final report, or cannot reach the audit service. Requests that it finished after this time may be missing. */
        AuditUsageGap: {
            /**
             * Format: date-time
             * @description The time of the gateway's last report. RFC 3339, UTC, milliseconds.
             */
            after: string;
        };
        /** @description The usage of an organization in an hour or a day, or of a service, a route or a key. */
        AuditUsage: {
            /** @description The id of this item within the list, for `starting_after`. */
            id: string;
            /**
             * Format: date-time
             * @description The start of the counted period. RFC 3339, UTC, milliseconds.
             */
            from: string;
            /**
             * Format: date-time
             * @description The end of the counted period, exclusive. RFC 3339, UTC, milliseconds.
             */
            to: string;
            /** @description The service, if `by` is service or route. */
            service?: string;
            /** @description The method, if `by` is route. */
            method?: string;
            /** @description The path template, if `by` is route. */
            route?: string;
            /** @description The member, if `by` is key. */
            member_id?: string;
            /** @description The first characters of the member's API key, if `by` is key. Null for the member's sessions. */
            key_prefix?: string | null;
            /** @description Whether the service is one of Ostiary's own, such as the portal: do not bill its requests. Present if `by` is service or route. */
            platform?: boolean;
            /** @description Requests of the organization, including refused requests. */
            requests: number;
            /** @description Requests that the gateway refused, for any reason. */
            refused: number;
            /** @description Requests that a limit refused with 429. */
            refused_limit: number;
            /** @description Requests that were refused with 403 for a missing label. */
            refused_labels: number;
            /** @description Requests that the gateway refused for another reason. */
            refused_other: number;
            /** @description Requests that reached a service and ended in a 5xx or without a complete response. */
            failed: number;
            /** @description Bytes of request bodies. */
            bytes_in: number;
            /** @description Bytes of the response bodies of services. */
            bytes_out: number;
            /** @description Sum of the times from the arrival of each request to its end, in milliseconds. */
            duration_ms: number;
        };
        /** @description A page of a list. */
        AuditUserAuditEventList: {
            /** @description The items of this page. */
            audit_events: components["schemas"]["AuditUserAuditEvent"][];
            /** @description Whether another page follows. */
            has_more: boolean;
        };
        /** @description An event of a person's log. */
        AuditUserAuditEvent: {
            /** @description The id of the event, assigned when the event was stored. Lists are sorted by id. */
            id: string;
            /**
             * Format: date-time
             * @description The time when the gateway received the request. RFC 3339, UTC, milliseconds.
             */
            occurred_at: string;
            /** @description The request's X-Request-ID. */
            request_id: string;
            /** @description The id of the organization whose log contains the event. */
            organization_id: string | null;
            /** @description The id of the person whose log contains the event. */
            user_id: string | null;
            actor: components["schemas"]["AuditEventActor"];
            /** @description The service's name in the route configuration. */
            service: string;
            /** @description The HTTP method. */
            method: string;
            /** @description The matched path template, without the values of its params. */
            route: string;
            /** @description The values of the path's params, by name. */
            params: {
                [key: string]: string;
            };
            /** @description The client's address. */
            ip: string;
            /** @description The User-Agent of the request, at most 512 characters, or null without one. */
            user_agent: string | null;
            outcome: components["schemas"]["AuditEventOutcome"];
            /** @description The status of the gateway's response. Null while the outcome is pending, or if the client disconnected before the response. */
            status: number | null;
            /** @description Details of the change, from the service. */
            details: {
                [key: string]: unknown;
            } | null;
            /** @description The id of the created resource. */
            created_id: string | null;
        };
        /** @description An OpenAPI 3.1 document. */
        RegistryEdgeDocument: {
            /** @description The version of OpenAPI. */
            openapi: string;
        } & {
            [key: string]: unknown;
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
    getAuditLogRoot: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The newest signed root. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
        };
    };
    getAuditLogKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The verifier keys. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
        };
    };
    getAuditLogTile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The level of the tile, from 0 to 63, or `entries` for the leaves themselves. */
                level: string;
                /** @description The first part of the index of the tile. */
                first: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tile. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
        };
    };
    getAuditLogTileOfTwo: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The level of the tile, from 0 to 63, or `entries` for the leaves themselves. */
                level: string;
                /** @description The first part of the index of the tile. */
                first: string;
                /** @description The second part of the index of the tile. */
                second: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tile. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
        };
    };
    getAuditLogTileOfThree: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The level of the tile, from 0 to 63, or `entries` for the leaves themselves. */
                level: string;
                /** @description The first part of the index of the tile. */
                first: string;
                /** @description The second part of the index of the tile. */
                second: string;
                /** @description The third part of the index of the tile. */
                third: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tile. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
        };
    };
    getAuditLogTileOfFour: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The level of the tile, from 0 to 63, or `entries` for the leaves themselves. */
                level: string;
                /** @description The first part of the index of the tile. */
                first: string;
                /** @description The second part of the index of the tile. */
                second: string;
                /** @description The third part of the index of the tile. */
                third: string;
                /** @description The fourth part of the index of the tile. */
                fourth: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tile. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
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
                    "application/json": components["schemas"]["RegistryEdgeDocument"];
                };
            };
        };
    };
    getMemberSelf: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The member. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityMember"];
                };
            };
        };
    };
    removeMemberSelf: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Removed. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateMemberSelf: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IdentityUpdateMemberSelfRequest"];
            };
        };
        responses: {
            /** @description The changed member. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityMember"];
                };
            };
        };
    };
    listMemberApiKeys: {
        parameters: {
            query?: {
                /** @description The number of items in a page: 50 by default, at most 100. Larger values count as 100. */
                limit?: number;
                /** @description The id of the last item of the previous page. The page begins after that item. */
                starting_after?: string;
                /** @description Only keys that were not used for this many seconds. For a key that was never used, the time since its creation counts. Revoked and expired keys are left out. */
                unused_for_seconds?: number;
                /** @description Only keys that expire within this many seconds. Revoked and expired keys are left out. */
                expires_within_seconds?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityAPIKeyList"];
                };
            };
        };
    };
    createMemberApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["IdentityCreateAPIKeyRequest"];
            };
        };
        responses: {
            /** @description The key with its secret, which no other response contains. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityCreatedAPIKey"];
                };
            };
        };
    };
    revokeMemberApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The API key. */
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Revoked. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    rotateMemberApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The API key. */
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["IdentityRotateAPIKeyRequest"];
            };
        };
        responses: {
            /** @description The new key with its secret, which no other response contains. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityCreatedAPIKey"];
                };
            };
        };
    };
    getOrganization: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The organization. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityOrganization"];
                };
            };
        };
    };
    deleteOrganization: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateOrganization: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IdentityUpdateOrganizationRequest"];
            };
        };
        responses: {
            /** @description The renamed organization. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityOrganization"];
                };
            };
        };
    };
    listOrganizationAuditEvents: {
        parameters: {
            query?: {
                /** @description The number of items in a page: 50 by default, at most 100. Larger values count as 100. */
                limit?: number;
                /** @description The id of the last item of the previous page. The page begins after that item. */
                starting_after?: string;
                /** @description Events of this member. */
                actor_member_id?: string;
                /** @description Events of this service. */
                service?: string;
                /** @description Events of this HTTP method, in capitals. */
                method?: string;
                /** @description Events of this path template, spelled exactly as in events. */
                route?: string;
                /** @description pending: the outcome is unknown, so the request may or may not have changed something. rejected: the gateway responded without calling the service. responded: the service responded. no_response: the service was called and did not respond. */
                outcome?: components["schemas"]["AuditEventOutcome"];
                /** @description The event of this request. */
                request_id?: string;
                /** @description Events in which this id was created. */
                created_id?: string;
                /** @description Events at or after this time, RFC 3339. */
                occurred_after?: string;
                /** @description Events before this time, RFC 3339. */
                occurred_before?: string;
                /** @description Events with these path params. Each one is a separate query parameter, such as `params[widget_id]=42`. Several combine with AND. */
                path_params?: {
                    [key: string]: string;
                };
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditOrganizationAuditEventList"];
                };
            };
        };
    };
    exportOrganizationAuditEvents: {
        parameters: {
            query: {
                /** @description The format of the export. */
                format: "csv" | "ndjson";
                /** @description The id of the last item of the previous page. The page begins after that item. */
                starting_after?: string;
                /** @description Events of this member. */
                actor_member_id?: string;
                /** @description Events of this service. */
                service?: string;
                /** @description Events of this HTTP method, in capitals. */
                method?: string;
                /** @description Events of this path template, spelled exactly as in events. */
                route?: string;
                /** @description pending: the outcome is unknown, so the request may or may not have changed something. rejected: the gateway responded without calling the service. responded: the service responded. no_response: the service was called and did not respond. */
                outcome?: components["schemas"]["AuditEventOutcome"];
                /** @description The event of this request. */
                request_id?: string;
                /** @description Events in which this id was created. */
                created_id?: string;
                /** @description Events at or after this time, RFC 3339. */
                occurred_after?: string;
                /** @description Events before this time, RFC 3339. */
                occurred_before?: string;
                /** @description true: an NDJSON export of the whole log with its proof, for `bun cli audit verify`. Filters cannot be combined with proof=true. */
                proof?: boolean;
                /** @description The size of a signed root that you kept. The proof then also shows where the log ended under that root. Requires proof=true. */
                root?: number;
                /** @description Events with these path params. Each one is a separate query parameter, such as `params[widget_id]=42`. Several combine with AND. */
                path_params?: {
                    [key: string]: string;
                };
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The export in the requested format. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/csv": string;
                    "application/x-ndjson": string;
                };
            };
        };
    };
    listAuditStreams: {
        parameters: {
            query?: {
                /** @description The number of items in a page: 50 by default, at most 100. Larger values count as 100. */
                limit?: number;
                /** @description The id of the last item of the previous page. The page begins after that item. */
                starting_after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditStreamList"];
                };
            };
        };
    };
    createAuditStream: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AuditCreateAuditStream"];
            };
        };
        responses: {
            /** @description The stream with its secret. No other response contains the secret. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditStreamWithSecret"];
                };
            };
        };
    };
    getAuditStream: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The stream. */
                stream_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The stream. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditStream"];
                };
            };
        };
    };
    deleteAuditStream: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The stream. */
                stream_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateAuditStream: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The stream. */
                stream_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AuditUpdateAuditStream"];
            };
        };
        responses: {
            /** @description The changed stream. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditStream"];
                };
            };
        };
    };
    rotateAuditStreamSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The stream. */
                stream_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["AuditRotateAuditStreamSecret"];
            };
        };
        responses: {
            /** @description The stream with its new secret. No other response contains the secret. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditStreamWithSecret"];
                };
            };
        };
    };
    testAuditStream: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The stream. */
                stream_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result of the test request. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditStreamTest"];
                };
            };
        };
    };
    listInvites: {
        parameters: {
            query?: {
                /** @description The number of items in a page: 50 by default, at most 100. Larger values count as 100. */
                limit?: number;
                /** @description The id of the last item of the previous page. The page begins after that item. */
                starting_after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityInviteList"];
                };
            };
        };
    };
    createInvite: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["IdentityCreateInviteRequest"];
            };
        };
        responses: {
            /** @description The invite with its token. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityInvite"];
                };
            };
        };
    };
    revokeInvite: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The invite. */
                invite_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The invite is revoked, or had already ended. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listMembers: {
        parameters: {
            query?: {
                /** @description The number of items in a page: 50 by default, at most 100. Larger values count as 100. */
                limit?: number;
                /** @description The id of the last item of the previous page. The page begins after that item. */
                starting_after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityMemberList"];
                };
            };
        };
    };
    addMember: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IdentityAddMemberRequest"];
            };
        };
        responses: {
            /** @description The new member. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityMember"];
                };
            };
        };
    };
    getMember: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The member. */
                member_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The member. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityAnyMember"];
                };
            };
        };
    };
    removeMember: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The member. */
                member_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Removed. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateMember: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The member. */
                member_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IdentityUpdateMemberRequest"];
            };
        };
        responses: {
            /** @description The changed member. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityMember"];
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
            /** @description The roles. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityRoleList"];
                };
            };
        };
    };
    listServiceAccounts: {
        parameters: {
            query?: {
                /** @description The number of items in a page: 50 by default, at most 100. Larger values count as 100. */
                limit?: number;
                /** @description The id of the last item of the previous page. The page begins after that item. */
                starting_after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityServiceAccountList"];
                };
            };
        };
    };
    createServiceAccount: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IdentityCreateServiceAccountRequest"];
            };
        };
        responses: {
            /** @description The service account. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityServiceAccount"];
                };
            };
        };
    };
    getServiceAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The service account. */
                service_account_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The service account. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityServiceAccount"];
                };
            };
        };
    };
    removeServiceAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The service account. */
                service_account_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Removed. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateServiceAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The service account. */
                service_account_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IdentityUpdateServiceAccountRequest"];
            };
        };
        responses: {
            /** @description The renamed service account. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityServiceAccount"];
                };
            };
        };
    };
    listServiceAccountApiKeys: {
        parameters: {
            query?: {
                /** @description The number of items in a page: 50 by default, at most 100. Larger values count as 100. */
                limit?: number;
                /** @description The id of the last item of the previous page. The page begins after that item. */
                starting_after?: string;
                /** @description Only keys that were not used for this many seconds. For a key that was never used, the time since its creation counts. Revoked and expired keys are left out. */
                unused_for_seconds?: number;
                /** @description Only keys that expire within this many seconds. Revoked and expired keys are left out. */
                expires_within_seconds?: number;
            };
            header?: never;
            path: {
                /** @description The service account. */
                service_account_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityAPIKeyList"];
                };
            };
        };
    };
    createServiceAccountApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The service account. */
                service_account_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["IdentityCreateAPIKeyRequest"];
            };
        };
        responses: {
            /** @description The key with its secret, which no other response contains. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityCreatedAPIKey"];
                };
            };
        };
    };
    revokeServiceAccountApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The service account. */
                service_account_id: string;
                /** @description The API key. */
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Revoked. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    rotateServiceAccountApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The service account. */
                service_account_id: string;
                /** @description The API key. */
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["IdentityRotateAPIKeyRequest"];
            };
        };
        responses: {
            /** @description The new key with its secret, which no other response contains. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityCreatedAPIKey"];
                };
            };
        };
    };
    listUsage: {
        parameters: {
            query?: {
                /** @description Hours that begin at or after this time, RFC 3339. By default the current month in UTC. */
                from?: string;
                /** @description Hours that begin before this time, RFC 3339. By default the end of the current hour. */
                to?: string;
                /** @description The property that groups the usage. */
                by?: "hour" | "day" | "service" | "route" | "key";
                /** @description `true`: also requests of Ostiary's own services, such as those of the portal. */
                include_platform?: boolean;
                /** @description The number of items in a page: 50 by default, at most 100. Larger values count as 100. */
                limit?: number;
                /** @description The `id` of the last item of the previous page (exclusive). */
                starting_after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditUsageList"];
                };
            };
        };
    };
    getUser: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The person. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityUser"];
                };
            };
        };
    };
    deleteUser: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateUser: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IdentityUpdateUserRequest"];
            };
        };
        responses: {
            /** @description The changed person. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityUser"];
                };
            };
        };
    };
    listUserApiKeys: {
        parameters: {
            query?: {
                /** @description The number of items in a page: 50 by default, at most 100. Larger values count as 100. */
                limit?: number;
                /** @description The id of the last item of the previous page. The page begins after that item. */
                starting_after?: string;
                /** @description Only keys that were not used for this many seconds. For a key that was never used, the time since its creation counts. Revoked and expired keys are left out. */
                unused_for_seconds?: number;
                /** @description Only keys that expire within this many seconds. Revoked and expired keys are left out. */
                expires_within_seconds?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityAPIKeyList"];
                };
            };
        };
    };
    createUserApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["IdentityCreateAPIKeyRequest"];
            };
        };
        responses: {
            /** @description The key with its secret, which no other response contains. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityCreatedAPIKey"];
                };
            };
        };
    };
    revokeUserApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The API key. */
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Revoked. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    rotateUserApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The API key. */
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["IdentityRotateAPIKeyRequest"];
            };
        };
        responses: {
            /** @description The new key with its secret, which no other response contains. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityCreatedAPIKey"];
                };
            };
        };
    };
    listUserAuditEvents: {
        parameters: {
            query?: {
                /** @description The number of items in a page: 50 by default, at most 100. Larger values count as 100. */
                limit?: number;
                /** @description The id of the last item of the previous page. The page begins after that item. */
                starting_after?: string;
                /** @description Events of this member. */
                actor_member_id?: string;
                /** @description Events of this service. */
                service?: string;
                /** @description Events of this HTTP method, in capitals. */
                method?: string;
                /** @description Events of this path template, spelled exactly as in events. */
                route?: string;
                /** @description pending: the outcome is unknown, so the request may or may not have changed something. rejected: the gateway responded without calling the service. responded: the service responded. no_response: the service was called and did not respond. */
                outcome?: components["schemas"]["AuditEventOutcome"];
                /** @description The event of this request. */
                request_id?: string;
                /** @description Events in which this id was created. */
                created_id?: string;
                /** @description Events at or after this time, RFC 3339. */
                occurred_after?: string;
                /** @description Events before this time, RFC 3339. */
                occurred_before?: string;
                /** @description Events with these path params. Each one is a separate query parameter, such as `params[widget_id]=42`. Several combine with AND. */
                path_params?: {
                    [key: string]: string;
                };
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditUserAuditEventList"];
                };
            };
        };
    };
    exportUserAuditEvents: {
        parameters: {
            query: {
                /** @description The format of the export. */
                format: "csv" | "ndjson";
                /** @description The id of the last item of the previous page. The page begins after that item. */
                starting_after?: string;
                /** @description Events of this member. */
                actor_member_id?: string;
                /** @description Events of this service. */
                service?: string;
                /** @description Events of this HTTP method, in capitals. */
                method?: string;
                /** @description Events of this path template, spelled exactly as in events. */
                route?: string;
                /** @description pending: the outcome is unknown, so the request may or may not have changed something. rejected: the gateway responded without calling the service. responded: the service responded. no_response: the service was called and did not respond. */
                outcome?: components["schemas"]["AuditEventOutcome"];
                /** @description The event of this request. */
                request_id?: string;
                /** @description Events in which this id was created. */
                created_id?: string;
                /** @description Events at or after this time, RFC 3339. */
                occurred_after?: string;
                /** @description Events before this time, RFC 3339. */
                occurred_before?: string;
                /** @description true: an NDJSON export of the whole log with its proof, for `bun cli audit verify`. Filters cannot be combined with proof=true. */
                proof?: boolean;
                /** @description The size of a signed root that you kept. The proof then also shows where the log ended under that root. Requires proof=true. */
                root?: number;
                /** @description Events with these path params. Each one is a separate query parameter, such as `params[widget_id]=42`. Several combine with AND. */
                path_params?: {
                    [key: string]: string;
                };
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The export in the requested format. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/csv": string;
                    "application/x-ndjson": string;
                };
            };
        };
    };
    previewInvite: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IdentityRedeemInviteRequest"];
            };
        };
        responses: {
            /** @description The organization and the role that the invite leads to. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityInvitePreview"];
                };
            };
        };
    };
    redeemInvite: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IdentityRedeemInviteRequest"];
            };
        };
        responses: {
            /** @description The existing membership of the person. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityMember"];
                };
            };
            /** @description The new member. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityMember"];
                };
            };
        };
    };
    listMemberships: {
        parameters: {
            query?: {
                /** @description The number of items in a page: 50 by default, at most 100. Larger values count as 100. */
                limit?: number;
                /** @description The id of the last item of the previous page. The page begins after that item. */
                starting_after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityMembershipList"];
                };
            };
        };
    };
    createOrganization: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IdentityCreateOrganizationRequest"];
            };
        };
        responses: {
            /** @description The organization. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityOrganization"];
                };
            };
        };
    };
    mintSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the organization. */
                organization_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["IdentityMintSessionRequest"];
            };
        };
        responses: {
            /** @description The session. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentitySession"];
                };
            };
        };
    };
}
