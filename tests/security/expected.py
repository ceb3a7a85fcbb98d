"""Who may call what, as the product promises it; not derived from the code.

A grid of areas, and the area of each operation. A cell is `+` (it succeeds), `.` (401 TOKEN_MISSING), `x` (401
TOKEN_INVALID), `e` (401 SESSION_ENDED), `-` (403 ROLE_NOT_ALLOWED), `v` (403 EMAIL_NOT_VERIFIED), `0` (404 NOT_FOUND,
so that no id of somebody else is confirmed), or a code of the area's own.
"""

# `other` is somebody with the right role and the wrong things; `new` has the role and an unverified address. The last
# three are the customer, the merchant and the organiser again, whose own the things are, with an unverified address.
CALLERS = (
    "nobody",
    "forged",
    "ended",
    "customer",
    "merchant",
    "other_merchant",
    "new_merchant",
    "organiser",
    "other_organiser",
    "new_organiser",
    "analyst",
    "support",
    "admin",
    "super_admin",
    "unverified_customer",
    "unverified_merchant",
    "unverified_organiser",
)
CODES = {
    ".": (401, "TOKEN_MISSING"),
    "x": (401, "TOKEN_INVALID"),
    "e": (401, "SESSION_ENDED"),
    "-": (403, "ROLE_NOT_ALLOWED"),
    "v": (403, "EMAIL_NOT_VERIFIED"),
    "0": (404, "NOT_FOUND"),
    "B": (403, "BOOTSTRAP_REFUSED"),
    "T": (403, "TIER_TOO_HIGH"),
    "P": (503, "PROVIDER_NOT_CONFIGURED"),
    "C": (401, "CALLBACK_NOT_SIGNED"),
    "W": (409, "PAYOUT_IN_PROGRESS"),
    "M": (409, "BALANCE_NOT_ZERO"),
    "U": (409, "NOTHING_UNCERTAIN"),
    "E": (409, "EVENTS_NOT_OVER"),
    "G": (409, "STALL_FEES_OPEN"),
    "A": (409, "INVITE_FOR_ANOTHER_ADDRESS"),
    "K": (422, "CODE_INVALID"),
    "N": (422, "VALIDATION_FAILED"),
    "F": (409, "SECOND_FACTOR_OFF"),
    "H": (401, "CHALLENGE_INVALID"),
}

#                        guests   merchants  organisers  tiers      unverified
GRID = """
open                     + + +  +  + + +      + + +      + + + +    + + +
open, token counts       + x e  +  + + +      + + +      + + + +    + + +
provider                 P x e  P  P P v      P P v      P P P P    v v v
signed by the rail       C C C  C  C C C      C C C      C C C C    C C C
making admins            B x e  B  B B B      B B B      B B T +    B B B
signed in                . x e  +  + + +      + + +      + + + +    + + +
signed in, verified      . x e  +  + + v      + + v      + + + +    v v v
leaving                  . x e  +  W M +      G E +      + + + +    + W G
thing of a customer      . x e  +  0 0 0      0 0 0      0 0 0 0    + 0 0
own stall                . x e  -  + + +      - - -      - - - -    - + -
own stall, closed        . x e  -  W M +      - - -      - - - -    - W -
own stall, verified      . x e  -  + + v      - - -      - - - -    - v -
thing of a stall         . x e  -  + 0 0      - - -      - - - -    - + -
thing of a stall, mails  . x e  -  + 0 v      - - -      - - - -    - v -
new event                . x e  -  - - -      + + +      - - + +    - - +
event: read              . x e  -  - - -      + 0 0      + + + +    - - +
event: read, verified    . x e  -  - - -      + 0 v      + + + +    - - v
event: write             . x e  -  - - -      + 0 0      - - + +    - - +
event: write, verified   . x e  -  - - -      + 0 v      - - + +    - - v
event: send again        . x e  -  - - -      U 0 v      - - U U    - - v
applications             . x e  -  + + +      + + +      + + + +    - + +
application: read        . x e  -  + 0 0      + 0 0      + + + +    - + +
application: invoice     . x e  -  0 0 0      + 0 0      + + + +    - 0 +
application: decide      . x e  -  - - -      + 0 v      - + + +    - - v
accounts: read           . x e  -  - - -      - - -      - + + +    - - -
accounts: act            . x e  -  - - -      - - -      - - + +    - - -
organisation            . x e  -  - - -      + + +      - - - -    - - +
organisation: profile   . x e  -  - - -      + 0 0      - - - -    - - +
organisation, verified  . x e  -  - - -      + + v      - - - -    - - v
organisation: thing     . x e  -  - - -      + 0 0      - - - -    - - +
organisation: passing   . x e  -  - - -      + 0 v      - - - -    - - v
organisation: audit     . x e  -  - - -      + + +      + + + +    - - +
organisation: invoices  . x e  -  - - -      + N N      N N N N    - - +
organisation: statement . x e  -  - - -      + + v      - - + +    - - v
organisation: file      . x e  -  - - -      + 0 0      0 0 0 0    - - +
admins of every tier    . x e  -  - - -      - - -      + + + +    - - -
invited to a team       . x e  +  A A A      A A A      A A A A    A A A
codes of nobody         . x e  K  K K K      K K K      K K K K    K K K
codes, verified         . x e  K  K K v      K K v      K K K K    v v v
no second factor        . x e  F  F F v      F F v      F F F F    v v v
challenge of nobody     H H H  H  H H H      H H H      H H H H    H H H
membership of others    . x e  0  0 0 0      0 0 0      0 0 0 0    0 0 0
"""

AREAS = {line[:24].strip(): dict(zip(CALLERS, line[24:].split(), strict=True)) for line in GRID.strip().splitlines()}

OPERATIONS = """
open                    GET    /health
open                    GET    /ready
open                    GET    /metrics
open                    GET    /media/{name}
open                    POST   /api/diagnostics/logs
open                    POST   /api/auth/login
open                    POST   /api/auth/logout
open                    POST   /api/auth/refresh
open                    POST   /api/auth/verify-email
open                    POST   /api/auth/resend-verification
open                    POST   /api/auth/password-reset/request
open                    POST   /api/auth/password-reset/verify
open                    POST   /api/auth/password-reset/complete
open                    GET    /api/allocations/allocator/{token}
open                    POST   /api/allocations/allocator/{token}
open                    POST   /api/allocations/allocator/{token}/guests
open                    GET    /api/allocations/claim/{token}
open                    POST   /api/allocations/claim/{token}
open                    GET    /api/allocations/ticket/{token}
open                    POST   /api/allocations/ticket/{token}/give-back
open                    POST   /api/allocations/ticket/{token}/pass-on
open                    GET    /api/events/merchant-invite/{slug}
open                    GET    /api/events/public/discover
open                    GET    /api/events/public/{id}
open                    GET    /api/events/public/{id}/ticket-inventory
open                    GET    /api/events/{eventId}/inventory/reports/files/{token}
open                    GET    /api/merchant-activation/{token}
open                    POST   /api/merchant-activation/{token}
open                    GET    /api/merchant-applications/docs/{token}
open                    POST   /api/merchant-applications/docs/{token}
open                    GET    /api/merchant-applications/files/{token}
open                    GET    /api/merchant-applications/offer/{token}
open                    POST   /api/merchant-applications/offer/{token}
open                    GET    /api/merchant-applications/pay/{token}
open                    PATCH  /api/merchant-applications/pay/{token}
open                    POST   /api/merchant-applications/pay/{token}
open                    POST   /api/merchant-applications/pay/{token}/payrail/verify-otp
open, token counts      POST   /api/auth/register/customer
open, token counts      POST   /api/auth/register/merchant
open, token counts      POST   /api/auth/register/organiser
open, token counts      GET    /api/events
open, token counts      POST   /api/merchant-applications
provider                POST   /api/auth/apple
provider                POST   /api/auth/google
signed by the rail      POST   /api/payrail/callbacks
making admins           POST   /api/auth/register/admin
signed in               GET    /api/auth/me
signed in               PATCH  /api/auth/me
signed in               POST   /api/auth/change-password
signed in               POST   /api/auth/change-email
codes of nobody         POST   /api/auth/change-email/confirm
signed in               GET    /api/auth/second-factor
signed in, verified     POST   /api/auth/second-factor
signed in               DELETE /api/auth/second-factor
codes, verified         POST   /api/auth/second-factor/confirm
no second factor        POST   /api/auth/second-factor/recovery-codes
challenge of nobody     POST   /api/auth/login/second-factor
signed in               GET    /api/auth/identities
signed in               DELETE /api/auth/identities/{provider}
organisation: profile   GET    /api/organisations/me
organisation: profile   PATCH  /api/organisations/me
organisation: passing   POST   /api/organisations/me/contact-link
organisation            GET    /api/organisations/me/members
organisation, verified  POST   /api/organisations/me/members
organisation: thing     PATCH  /api/organisations/me/members/{memberId}
organisation: thing     DELETE /api/organisations/me/members/{memberId}
organisation: passing   POST   /api/organisations/me/members/{memberId}/offer-ownership
organisation            GET    /api/organisations/me/api-keys
organisation, verified  POST   /api/organisations/me/api-keys
organisation: thing     DELETE /api/organisations/me/api-keys/{keyId}
own stall               GET    /api/merchants/me/members
own stall, verified     POST   /api/merchants/me/members
thing of a stall        PATCH  /api/merchants/me/members/{memberId}
thing of a stall        DELETE /api/merchants/me/members/{memberId}
open                    GET    /api/team-invites/{token}
invited to a team       POST   /api/team-invites/{token}/accept
signed in               GET    /api/auth/memberships
membership of others    DELETE /api/auth/memberships/{membershipId}
event: write            GET    /api/events/{eventId}/devices
event: write            POST   /api/events/{eventId}/devices
event: write            DELETE /api/events/{eventId}/devices/{deviceId}
open                    POST   /api/devices/pair
signed in               GET    /api/auth/sessions
signed in               DELETE /api/auth/sessions/others
thing of a customer     DELETE /api/auth/sessions/{sessionId}
signed in, verified     POST   /api/auth/me/export
leaving                 DELETE /api/auth/me
signed in               POST   /api/auth/me/keep
accounts: read          GET    /api/admin/accounts
accounts: read          GET    /api/admin/accounts/{accountId}
accounts: act           POST   /api/admin/accounts/{accountId}/suspend
accounts: act           POST   /api/admin/accounts/{accountId}/restore
accounts: act           DELETE /api/admin/accounts/{accountId}/sessions
new event               POST   /api/events
new event               POST   /api/events/upload-cover
event: read             GET    /api/events/{id}
event: write            PATCH  /api/events/{id}
event: write            DELETE /api/events/{id}
event: write            POST   /api/events/{id}/copy
event: read             GET    /api/events/{id}/ticket-stats
event: read             GET    /api/events/{id}/missing-facts
event: read             GET    /api/events/{eventId}/stall-types
event: read             GET    /api/events/{eventId}/tickets
event: write, verified  POST   /api/events/{eventId}/tickets/import
event: read             GET    /api/events/{eventId}/tickets/imports
event: read             GET    /api/events/{eventId}/tickets/imports/{importId}
event: write, verified  POST   /api/events/{eventId}/tickets/imports/{importId}/undo
event: read             GET    /api/events/{eventId}/stalls
event: write            PATCH  /api/events/{eventId}/stalls/{merchantId}
event: read             GET    /api/events/{id}/merchant-directory
event: write, verified  POST   /api/events/{id}/merchant-invite
event: write, verified  POST   /api/events/{id}/directory-invites
event: write            GET    /api/events/{eventId}/admissions
event: write            POST   /api/events/{eventId}/admissions
event: write            POST   /api/events/{eventId}/admissions/batch
event: write            GET    /api/events/{eventId}/admissions/conflicts
event: write            GET    /api/events/{eventId}/admissions/places
event: write            GET    /api/events/{eventId}/admissions/refused
event: write            GET    /api/events/{eventId}/admissions/snapshot
event: read             GET    /api/events/{eventId}/admissions/stats
event: write            GET    /api/events/{eventId}/admissions/stream
event: write            POST   /api/events/{eventId}/admissions/{admissionId}/undo
event: read             GET    /api/events/{eventId}/allocations
event: write            POST   /api/events/{eventId}/allocations
event: read             POST   /api/events/{eventId}/allocations/quote
event: read             GET    /api/events/{eventId}/allocations/will-call
event: write            POST   /api/events/{eventId}/allocations/will-call/{slotId}/admit
event: read             GET    /api/events/{eventId}/allocations/{blockId}
event: write            PATCH  /api/events/{eventId}/allocations/{blockId}
event: write, verified  POST   /api/events/{eventId}/allocations/{blockId}/allocator-link
event: write            GET    /api/events/{eventId}/allocations/{blockId}/codes
event: write, verified  POST   /api/events/{eventId}/allocations/{blockId}/codes
event: write, verified  POST   /api/events/{eventId}/allocations/{blockId}/invite
event: read             GET    /api/events/{eventId}/allocations/{blockId}/invoice
event: read             GET    /api/events/{eventId}/allocations/{blockId}/invoice.pdf
event: write, verified  POST   /api/events/{eventId}/allocations/{blockId}/invoice/credit
event: write, verified  POST   /api/events/{eventId}/allocations/{blockId}/invoice/email
event: read             GET    /api/events/{eventId}/allocations/{blockId}/invoice/preview
event: write            PATCH  /api/events/{eventId}/allocations/{blockId}/invoice/buyer
event: write, verified  POST   /api/events/{eventId}/allocations/{blockId}/invoice/received
event: write, verified  POST   /api/events/{eventId}/allocations/{blockId}/invoice/received/take-back
event: write            POST   /api/events/{eventId}/allocations/{blockId}/move
event: write, verified  POST   /api/events/{eventId}/allocations/{blockId}/open-link
event: read             GET    /api/events/{eventId}/allocations/{blockId}/packs
event: write            POST   /api/events/{eventId}/allocations/{blockId}/packs
event: read             GET    /api/events/{eventId}/allocations/{blockId}/packs/{packId}
event: write            GET    /api/events/{eventId}/allocations/{blockId}/packs/{packId}/tickets.pdf
event: write            POST   /api/events/{eventId}/allocations/{blockId}/release-unused
event: read             GET    /api/events/{eventId}/allocations/{blockId}/report
event: write, verified  POST   /api/events/{eventId}/allocations/{blockId}/report/email
event: write, verified  POST   /api/events/{eventId}/allocations/{blockId}/remind
event: write            POST   /api/events/{eventId}/allocations/{blockId}/slots/{slotId}/revoke
event: read             GET    /api/events/{eventId}/inventory
event: read             GET    /api/events/{eventId}/inventory/export.csv
event: write            POST   /api/events/{eventId}/inventory/import
event: write            POST   /api/events/{eventId}/inventory/items
event: read             GET    /api/events/{eventId}/inventory/items/{itemId}
event: write            PATCH  /api/events/{eventId}/inventory/items/{itemId}
event: write            POST   /api/events/{eventId}/inventory/items/{itemId}/adjust
event: read             GET    /api/events/{eventId}/inventory/items/{itemId}/movements
event: read             GET    /api/events/{eventId}/inventory/orders
event: read             GET    /api/events/{eventId}/inventory/orders/{orderId}
event: write            POST   /api/events/{eventId}/inventory/orders/{orderId}/cancel
event: write            POST   /api/events/{eventId}/inventory/orders/{orderId}/receive
event: read             GET    /api/events/{eventId}/inventory/orders/{orderId}/sheet.pdf
event: read             GET    /api/events/{eventId}/inventory/reminder
event: write, verified  PATCH  /api/events/{eventId}/inventory/reminder
event: write, verified  POST   /api/events/{eventId}/inventory/reminder/trigger
event: write            POST   /api/events/{eventId}/inventory/reorder/apply
event: read             GET    /api/events/{eventId}/inventory/reports
event: read, verified   GET    /api/events/{eventId}/inventory/stream
event: read             GET    /api/events/{eventId}/inventory/variance
event: read             GET    /api/events/{eventId}/inventory/variance.csv
event: read             POST   /api/events/{id}/notifications/audience-preview
event: write, verified  POST   /api/events/{id}/notifications/broadcast
event: read             GET    /api/events/{id}/notifications/campaigns
event: write, verified  POST   /api/events/{id}/notifications/campaigns/{campaignId}/duplicate
event: read             GET    /api/events/{id}/notifications/campaigns/{campaignId}
event: write, verified  PATCH  /api/events/{id}/notifications/campaigns/{campaignId}
event: write            POST   /api/events/{id}/notifications/campaigns/{campaignId}/cancel
event: read             GET    /api/events/{id}/notifications/campaigns/{campaignId}/recipients
event: read             GET    /api/events/{id}/notifications/campaigns/{campaignId}/uncertain
event: send again       POST   /api/events/{id}/notifications/campaigns/{campaignId}/resend-uncertain
event: write, verified  POST   /api/events/{id}/notifications/test
signed in, verified     GET    /api/notifications/preferences
signed in, verified     PATCH  /api/notifications/preferences
signed in, verified     POST   /api/notifications/devices
signed in, verified     DELETE /api/notifications/devices
event: write            GET    /api/events/{id}/notifications/suppressions
event: write            POST   /api/events/{id}/notifications/suppressions
event: write            POST   /api/events/{id}/notifications/suppressions/remove
event: read             GET    /api/events/{id}/notifications/campaigns/{campaignId}/preview
event: read             GET    /api/events/{id}/notifications/undelivered
event: read             GET    /api/events/{id}/notifications/failed-mails
event: write            POST   /api/events/{id}/notifications/failed-mails/clear
event: read             GET    /api/events/{id}/notifications/templates
event: write            POST   /api/events/{id}/notifications/upload-image
event: read             GET    /api/events/{id}/notifications/users/search
applications            GET    /api/merchant-applications
application: read       GET    /api/merchant-applications/{applicationId}
application: invoice    GET    /api/merchant-applications/{applicationId}/invoice
application: decide     PATCH  /api/merchant-applications/{applicationId}
application: decide     PATCH  /api/merchant-applications/{applicationId}/contact
application: decide     POST   /api/merchant-applications/{applicationId}/documents/ask-again
application: decide     POST   /api/merchant-applications/{applicationId}/documents/accept
application: decide     POST   /api/merchant-applications/{applicationId}/offer-place
application: decide     POST   /api/merchant-applications/{applicationId}/links
event: write, verified  POST   /api/merchant-applications/{applicationId}/fee/received
event: write, verified  POST   /api/merchant-applications/{applicationId}/fee/waive
event: write, verified  POST   /api/merchant-applications/{applicationId}/fee/refund
event: read             GET    /api/events/{eventId}/money
event: read             GET    /api/events/{eventId}/money/documents
event: read             GET    /api/events/{eventId}/money/documents/{documentId}
organisation: file      POST   /api/events/{eventId}/money/settlement
organisation: audit     GET    /api/organisations/me/money
organisation: invoices  POST   /api/organisations/me/money/invoices
organisation: statement POST   /api/organisations/me/money/statement
organisation: audit     GET    /api/organisations/me/journal.csv
organisation: audit     GET    /api/organisations/me/vat
organisation: audit     GET    /api/organisations/me/tasks
organisation: audit     GET    /api/organisations/me/search
organisation: audit     GET    /api/organisations/me/files
organisation: file      GET    /api/organisations/me/files/{fileId}
organisation: file      GET    /api/organisations/me/files/{fileId}/content
organisation: file      DELETE /api/organisations/me/files/{fileId}
event: read             GET    /api/events/{eventId}/stall-fees
event: read             GET    /api/events/{eventId}/stall-fees.csv
event: write, verified  POST   /api/events/{eventId}/stall-fees/statement
thing of a stall        POST   /api/merchant-applications/{applicationId}/withdraw
own stall               GET    /api/merchants/me
own stall               PATCH  /api/merchants/me
own stall, closed       POST   /api/merchants/me/delete
own stall               POST   /api/merchants/me/pause
own stall               POST   /api/merchants/me/resume
own stall               POST   /api/merchants/change-password
own stall               PATCH  /api/merchants/me/pos-floor-status
own stall               GET    /api/merchants/me/events
own stall               GET    /api/merchants/me/event-invites
thing of a stall        GET    /api/merchants/me/event-invites/{inviteId}
thing of a stall, mails PATCH  /api/merchants/me/event-invites/{inviteId}
thing of a stall        GET    /api/merchants/me/events/{eventId}/crew
thing of a stall        PUT    /api/merchants/me/events/{eventId}/crew
thing of a stall        GET    /api/merchants/me/events/{eventId}/crew/at-risk
thing of a stall        GET    /api/merchants/me/events/{eventId}/crew/hours.csv
thing of a stall        GET    /api/merchants/me/events/{eventId}/crew/hours.pdf
thing of a stall        GET    /api/merchants/me/events/{eventId}/crew/planned-shifts
thing of a stall        PUT    /api/merchants/me/events/{eventId}/crew/planned-shifts
thing of a stall        GET    /api/merchants/me/events/{eventId}/crew/rotating-code
thing of a stall        PUT    /api/merchants/me/events/{eventId}/crew/rotating-code
thing of a stall        POST   /api/merchants/me/events/{eventId}/crew/shift-checkout
thing of a stall        POST   /api/merchants/me/events/{eventId}/crew/shift-verify
thing of a stall        GET    /api/merchants/me/events/{eventId}/crew/{crewMemberId}/stats
own stall               GET    /api/merchants/me/payout-requests
own stall, verified     POST   /api/merchants/me/payout-requests
own stall               GET    /api/merchants/me/payout-requests/availability
thing of a stall        GET    /api/merchants/me/payout-requests/{id}
thing of a stall        POST   /api/merchants/me/payout-requests/{id}/cancel
organisation: audit     GET    /api/organisations/me/audit
organisation: audit     GET    /api/organisations/me/audit.csv
event: read             GET    /api/events/{eventId}/audit
event: read             GET    /api/events/{eventId}/audit.csv
admins of every tier    GET    /api/admin/audit
admins of every tier    GET    /api/admin/audit.csv
"""

EXPECTED = {" ".join(line[24:].split()): line[:24].strip() for line in OPERATIONS.strip().splitlines()}


def expectation(operation: str, caller: str) -> tuple[int, str] | None:
    """The refusal that the rules name for this caller; None where it has to succeed."""
    cell = AREAS[EXPECTED[operation]][caller]
    return None if cell == "+" else CODES[cell]
