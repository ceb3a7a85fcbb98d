"""Made from the OpenAPI document; `make clients` writes it anew. Do not edit."""

from typing import Any

from event_commerce.transport import OMITTED, Transport


class Operations(Transport):
    """A method for each operation. Fields are keywords in snake_case; what is left out is not sent."""

    def login(
        self,
        *,
        email: Any,
        password: Any,
        refresh_token: Any = OMITTED,
    ) -> dict[str, Any]:
        """Sign in with a password. For anybody."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/auth/login",
            body={
                "email": email,
                "password": password,
                "refreshToken": refresh_token,
            },
        )

    def logout(
        self,
        *,
        refresh_token: Any,
    ) -> dict[str, Any]:
        """End the session of a refresh token. For anybody."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/auth/logout",
            body={
                "refreshToken": refresh_token,
            },
        )

    def refresh(
        self,
        *,
        refresh_token: Any,
    ) -> dict[str, Any]:
        """Exchange a refresh token for a new pair. For anybody."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/auth/refresh",
            body={
                "refreshToken": refresh_token,
            },
        )

    def me(
        self,
    ) -> dict[str, Any]:
        """Read the signed-in account. For anybody signed in."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/auth/me",
        )

    def list_identities(
        self,
    ) -> dict[str, Any]:
        """List the providers that sign in to the account. For anybody signed in."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/auth/identities",
        )

    def unlink_identity(
        self,
        provider: str,
    ) -> dict[str, Any]:
        """Unlink a provider: `apple` or `google`. For anybody signed in."""
        return self._call(  # type: ignore[no-any-return]
            "DELETE",
            "/api/auth/identities/{provider}",
            path={
                "provider": provider,
            },
        )

    def apple(
        self,
        *,
        identity_token: Any,
        email: Any = OMITTED,
        full_name: Any = OMITTED,
        nonce: Any = OMITTED,
    ) -> dict[str, Any]:
        """Sign in, or link the account, with Apple. For anybody; a token adds to the account it belongs to."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/auth/apple",
            body={
                "identity_token": identity_token,
                "email": email,
                "full_name": full_name,
                "nonce": nonce,
            },
        )

    def google(
        self,
        *,
        id_token: Any,
        nonce: Any = OMITTED,
    ) -> dict[str, Any]:
        """Sign in, or link the account, with Google. For anybody; a token adds to the account it belongs to."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/auth/google",
            body={
                "id_token": id_token,
                "nonce": nonce,
            },
        )

    def register_customer(
        self,
        *,
        email: Any,
        password: Any,
        first_name: Any,
        last_name: Any,
        phone: Any = OMITTED,
        idempotency_key: Any = OMITTED,
    ) -> dict[str, Any]:
        """Register as a customer. For anybody; a token adds to the account it belongs to."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/auth/register/customer",
            body={
                "email": email,
                "password": password,
                "firstName": first_name,
                "lastName": last_name,
                "phone": phone,
                "idempotencyKey": idempotency_key,
            },
        )

    def register_merchant(
        self,
        *,
        email: Any,
        password: Any,
        name: Any,
        business_name: Any,
        stall_name: Any = OMITTED,
        phone: Any = OMITTED,
        idempotency_key: Any = OMITTED,
    ) -> dict[str, Any]:
        """Register as a merchant. For anybody; a token adds to the account it belongs to."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/auth/register/merchant",
            body={
                "email": email,
                "password": password,
                "name": name,
                "businessName": business_name,
                "stallName": stall_name,
                "phone": phone,
                "idempotencyKey": idempotency_key,
            },
        )

    def register_organiser(
        self,
        *,
        email: Any,
        password: Any,
        name: Any,
        org_name: Any,
        phone: Any = OMITTED,
        idempotency_key: Any = OMITTED,
    ) -> dict[str, Any]:
        """Register as an organiser. For anybody; a token adds to the account it belongs to."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/auth/register/organiser",
            body={
                "email": email,
                "password": password,
                "name": name,
                "orgName": org_name,
                "phone": phone,
                "idempotencyKey": idempotency_key,
            },
        )

    def register_admin(
        self,
        *,
        email: Any,
        password: Any,
        name: Any,
        title: Any = OMITTED,
        bootstrap_secret: Any = OMITTED,
        assigned_tier: Any = OMITTED,
        idempotency_key: Any = OMITTED,
    ) -> dict[str, Any]:
        """Register an admin. For anybody; a token adds to the account it belongs to."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/auth/register/admin",
            body={
                "email": email,
                "password": password,
                "name": name,
                "title": title,
                "bootstrapSecret": bootstrap_secret,
                "assignedTier": assigned_tier,
                "idempotencyKey": idempotency_key,
            },
        )

    def verify_email(
        self,
        *,
        email: Any,
        code: Any,
    ) -> dict[str, Any]:
        """Confirm an address with the code that was mailed to it. For anybody."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/auth/verify-email",
            body={
                "email": email,
                "code": code,
            },
        )

    def resend_verification(
        self,
        *,
        email: Any,
    ) -> dict[str, Any]:
        """Mail a new verification code. For anybody."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/auth/resend-verification",
            body={
                "email": email,
            },
        )

    def request_reset(
        self,
        *,
        email: Any,
    ) -> dict[str, Any]:
        """Mail a code to set a new password. For anybody."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/auth/password-reset/request",
            body={
                "email": email,
            },
        )

    def verify_reset(
        self,
        *,
        email: Any,
        code: Any,
    ) -> dict[str, Any]:
        """Exchange the code for a reset token. For anybody."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/auth/password-reset/verify",
            body={
                "email": email,
                "code": code,
            },
        )

    def complete_reset(
        self,
        *,
        email: Any,
        reset_token: Any,
        password: Any,
    ) -> dict[str, Any]:
        """Set a new password with the reset token; every session ends, and every provider is unlinked. For anybody."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/auth/password-reset/complete",
            body={
                "email": email,
                "resetToken": reset_token,
                "password": password,
            },
        )

    def activation_of(
        self,
        token: str,
        *,
        name: Any = OMITTED,
        password: Any = OMITTED,
        confirm_password: Any = OMITTED,
        message: Any = OMITTED,
        path: Any = OMITTED,
    ) -> dict[str, Any]:
        """Read the account that an activation is for; reading does not use the link. For anybody."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/merchant-activation/{token}",
            path={
                "token": token,
            },
            query={
                "name": name,
                "password": password,
                "confirmPassword": confirm_password,
                "message": message,
                "path": path,
            },
        )

    def activate(
        self,
        token: str,
        *,
        name: Any,
        password: Any,
        confirm_password: Any,
        message: Any,
        path: Any,
        email: Any = OMITTED,
    ) -> dict[str, Any]:
        """Activate the merchant's account and sign in. For anybody."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/merchant-activation/{token}",
            path={
                "token": token,
            },
            body={
                "name": name,
                "password": password,
                "confirmPassword": confirm_password,
                "message": message,
                "path": path,
                "email": email,
            },
        )

    def invoice_pdf(
        self,
        event_id: str,
        block_id: str,
        *,
        number: Any = OMITTED,
    ) -> bytes:
        """Get the invoice of a block as a PDF. For organisers, for their own events, and admins of every tier."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/events/{eventId}/allocations/{blockId}/invoice.pdf",
            path={
                "eventId": event_id,
                "blockId": block_id,
            },
            query={
                "number": number,
            },
        )

    def mail_invoice(
        self,
        event_id: str,
        block_id: str,
        *,
        to: Any = OMITTED,
        idempotency_key: Any = OMITTED,
    ) -> dict[str, Any]:
        """Send the invoice of a block to its holder, or to another address. It is issued if it was not before. For organisers, for their own events, and admins."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/events/{eventId}/allocations/{blockId}/invoice/email",
            path={
                "eventId": event_id,
                "blockId": block_id,
            },
            body={
                "to": to,
                "idempotencyKey": idempotency_key,
            },
        )

    def invoice(
        self,
        event_id: str,
        block_id: str,
    ) -> dict[str, Any]:
        """Read the number and the amounts of a block's invoice, and its credit notes. For organisers, for their own events, and admins of every tier."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/events/{eventId}/allocations/{blockId}/invoice",
            path={
                "eventId": event_id,
                "blockId": block_id,
            },
        )

    def list_packs(
        self,
        event_id: str,
        block_id: str,
    ) -> dict[str, Any]:
        """List the ticket packs of a block, the newest first. For organisers, for their own events, and admins of every tier."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/events/{eventId}/allocations/{blockId}/packs",
            path={
                "eventId": event_id,
                "blockId": block_id,
            },
        )

    def make_pack(
        self,
        event_id: str,
        block_id: str,
        *,
        count: Any,
        idempotency_key: Any = OMITTED,
    ) -> dict[str, Any]:
        """Create a pack of unnamed tickets to print. For organisers, for their own events, and admins."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/events/{eventId}/allocations/{blockId}/packs",
            path={
                "eventId": event_id,
                "blockId": block_id,
            },
            body={
                "count": count,
                "idempotencyKey": idempotency_key,
            },
        )

    def read_pack(
        self,
        event_id: str,
        block_id: str,
        pack_id: str,
    ) -> dict[str, Any]:
        """Read the progress of a pack. For organisers, for their own events, and admins of every tier."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/events/{eventId}/allocations/{blockId}/packs/{packId}",
            path={
                "eventId": event_id,
                "blockId": block_id,
                "packId": pack_id,
            },
        )

    def print_pack(
        self,
        event_id: str,
        block_id: str,
        pack_id: str,
    ) -> bytes:
        """Get the tickets of a pack as one PDF; every download has the same bytes. For organisers, for their own events, and admins of every tier."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/events/{eventId}/allocations/{blockId}/packs/{packId}/tickets.pdf",
            path={
                "eventId": event_id,
                "blockId": block_id,
                "packId": pack_id,
            },
        )

    def will_call(
        self,
        event_id: str,
        *,
        limit: Any = OMITTED,
        cursor: Any = OMITTED,
        with_total: Any = OMITTED,
        q: Any = OMITTED,
        status: Any = OMITTED,
        block_id: Any = OMITTED,
    ) -> dict[str, Any]:
        """List the guests of an event by name, admitted or not. `q` is the beginning of a name, an address or a code. For organisers, for their own events, and admins of every tier."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/events/{eventId}/allocations/will-call",
            path={
                "eventId": event_id,
            },
            query={
                "limit": limit,
                "cursor": cursor,
                "withTotal": with_total,
                "q": q,
                "status": status,
                "blockId": block_id,
            },
        )

    def admit(
        self,
        event_id: str,
        slot_id: str,
        *,
        nonce: Any = OMITTED,
        gate: Any = OMITTED,
        occurred_at: Any = OMITTED,
        count: Any = OMITTED,
        idempotency_key: Any = OMITTED,
    ) -> dict[str, Any]:
        """Admit a guest exactly once. The same `nonce` gets the same response; `count` admits so many of a party. For organisers, for their own events, and admins."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/events/{eventId}/allocations/will-call/{slotId}/admit",
            path={
                "eventId": event_id,
                "slotId": slot_id,
            },
            body={
                "nonce": nonce,
                "gate": gate,
                "occurredAt": occurred_at,
                "count": count,
                "idempotencyKey": idempotency_key,
            },
        )

    def read_claim(
        self,
        token: str,
    ) -> dict[str, Any]:
        """Read the offer of a claim link, a claim code or an open link. For anybody."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/allocations/claim/{token}",
            path={
                "token": token,
            },
        )

    def claim(
        self,
        token: str,
        *,
        name: Any = OMITTED,
        email: Any = OMITTED,
        phone: Any = OMITTED,
        delivery: Any = OMITTED,
        quantity: Any = OMITTED,
        idempotency_key: Any = OMITTED,
    ) -> dict[str, Any]:
        """Claim a place with a claim link, a claim code or an open link. An e-ticket is sent by email. For anybody."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/allocations/claim/{token}",
            path={
                "token": token,
            },
            body={
                "name": name,
                "email": email,
                "phone": phone,
                "delivery": delivery,
                "quantity": quantity,
                "idempotencyKey": idempotency_key,
            },
        )

    def read_allocator(
        self,
        token: str,
        *,
        limit: Any = OMITTED,
        cursor: Any = OMITTED,
        with_total: Any = OMITTED,
    ) -> dict[str, Any]:
        """Read the block of an allocator link, and the places that were handed out by it. For anybody."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/allocations/allocator/{token}",
            path={
                "token": token,
            },
            query={
                "limit": limit,
                "cursor": cursor,
                "withTotal": with_total,
            },
        )

    def use_allocator(
        self,
        token: str,
        *,
        name: Any = OMITTED,
        email: Any = OMITTED,
        phone: Any = OMITTED,
        delivery: Any = OMITTED,
        quantity: Any = OMITTED,
        allow_duplicates: Any = OMITTED,
        slot_id: Any = OMITTED,
        action: Any = OMITTED,
        idempotency_key: Any = OMITTED,
    ) -> dict[str, Any]:
        """Hand out a place with `name` and `email`; with `slotId`, give it to another guest or take it back. For anybody."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/allocations/allocator/{token}",
            path={
                "token": token,
            },
            body={
                "name": name,
                "email": email,
                "phone": phone,
                "delivery": delivery,
                "quantity": quantity,
                "allowDuplicates": allow_duplicates,
                "slotId": slot_id,
                "action": action,
                "idempotencyKey": idempotency_key,
            },
        )

    def quote(
        self,
        event_id: str,
        *,
        ticket_type_id: Any = OMITTED,
        quantity: Any = OMITTED,
        name: Any = OMITTED,
        kind: Any = OMITTED,
        holder: Any = OMITTED,
        unit_price_minor: Any = OMITTED,
        promo_code: Any = OMITTED,
        release_at: Any = OMITTED,
        notes: Any = OMITTED,
    ) -> dict[str, Any]:
        """Calculate what a block would cost, and whether that many places are free. Nothing is stored. For organisers, for their own events, and admins of every tier."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/events/{eventId}/allocations/quote",
            path={
                "eventId": event_id,
            },
            body={
                "ticketTypeId": ticket_type_id,
                "quantity": quantity,
                "name": name,
                "kind": kind,
                "holder": holder,
                "unitPriceMinor": unit_price_minor,
                "promoCode": promo_code,
                "releaseAt": release_at,
                "notes": notes,
            },
        )

    def list_blocks(
        self,
        event_id: str,
        *,
        status: Any = OMITTED,
        kind: Any = OMITTED,
        ticket_type_id: Any = OMITTED,
        limit: Any = OMITTED,
        cursor: Any = OMITTED,
        sort: Any = OMITTED,
        with_total: Any = OMITTED,
    ) -> dict[str, Any]:
        """List an event's blocks. For organisers, for their own events, and admins of every tier."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/events/{eventId}/allocations",
            path={
                "eventId": event_id,
            },
            query={
                "status": status,
                "kind": kind,
                "ticketTypeId": ticket_type_id,
                "limit": limit,
                "cursor": cursor,
                "sort": sort,
                "withTotal": with_total,
            },
        )

    def create_block(
        self,
        event_id: str,
        *,
        ticket_type_id: Any = OMITTED,
        quantity: Any = OMITTED,
        name: Any = OMITTED,
        kind: Any = OMITTED,
        holder: Any = OMITTED,
        unit_price_minor: Any = OMITTED,
        promo_code: Any = OMITTED,
        release_at: Any = OMITTED,
        notes: Any = OMITTED,
        idempotency_key: Any = OMITTED,
    ) -> dict[str, Any]:
        """Create a block of places for a holder. For organisers, for their own events, and admins."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/events/{eventId}/allocations",
            path={
                "eventId": event_id,
            },
            body={
                "ticketTypeId": ticket_type_id,
                "quantity": quantity,
                "name": name,
                "kind": kind,
                "holder": holder,
                "unitPriceMinor": unit_price_minor,
                "promoCode": promo_code,
                "releaseAt": release_at,
                "notes": notes,
                "idempotencyKey": idempotency_key,
            },
        )

    def read_block(
        self,
        event_id: str,
        block_id: str,
        *,
        limit: Any = OMITTED,
        cursor: Any = OMITTED,
        with_total: Any = OMITTED,
        status: Any = OMITTED,
    ) -> dict[str, Any]:
        """Read a block, with a page of its slots. For organisers, for their own events, and admins of every tier."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/events/{eventId}/allocations/{blockId}",
            path={
                "eventId": event_id,
                "blockId": block_id,
            },
            query={
                "limit": limit,
                "cursor": cursor,
                "withTotal": with_total,
                "status": status,
            },
        )

    def list_codes(
        self,
        event_id: str,
        block_id: str,
    ) -> dict[str, Any]:
        """List a block's claim codes and who has used them. As CSV with `Accept: text/csv`. For organisers, for their own events, and admins of every tier."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/events/{eventId}/allocations/{blockId}/codes",
            path={
                "eventId": event_id,
                "blockId": block_id,
            },
        )

    def make_codes(
        self,
        event_id: str,
        block_id: str,
        *,
        count: Any = OMITTED,
        idempotency_key: Any = OMITTED,
    ) -> dict[str, Any]:
        """Create single-use claim codes: `count` of them, or one for each free place. As CSV with `Accept: text/csv`. For organisers, for their own events, and admins."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/events/{eventId}/allocations/{blockId}/codes",
            path={
                "eventId": event_id,
                "blockId": block_id,
            },
            body={
                "count": count,
                "idempotencyKey": idempotency_key,
            },
        )

    def invite(
        self,
        event_id: str,
        block_id: str,
        *,
        recipients: Any = OMITTED,
        name: Any = OMITTED,
        email: Any = OMITTED,
        phone: Any = OMITTED,
        allow_duplicates: Any = OMITTED,
        dry_run: Any = OMITTED,
        idempotency_key: Any = OMITTED,
    ) -> dict[str, Any]:
        """Invite people: each gets a claim link by email. For organisers, for their own events, and admins."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/events/{eventId}/allocations/{blockId}/invite",
            path={
                "eventId": event_id,
                "blockId": block_id,
            },
            body={
                "recipients": recipients,
                "name": name,
                "email": email,
                "phone": phone,
                "allowDuplicates": allow_duplicates,
                "dryRun": dry_run,
                "idempotencyKey": idempotency_key,
            },
        )

    def allocator_link(
        self,
        event_id: str,
        block_id: str,
        *,
        rotate: Any = OMITTED,
        revoke: Any = OMITTED,
    ) -> dict[str, Any]:
        """Get the link by which the holder hands out places. A repeated call returns the same link. For organisers, for their own events, and admins."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/events/{eventId}/allocations/{blockId}/allocator-link",
            path={
                "eventId": event_id,
                "blockId": block_id,
            },
            body={
                "rotate": rotate,
                "revoke": revoke,
            },
        )

    def open_link(
        self,
        event_id: str,
        block_id: str,
        *,
        rotate: Any = OMITTED,
        revoke: Any = OMITTED,
        max_claims: Any = OMITTED,
        max_per_claim: Any = OMITTED,
        expires_at: Any = OMITTED,
    ) -> dict[str, Any]:
        """Get the link by which anybody claims a place, once per address. A repeated call returns the same link. For organisers, for their own events, and admins."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/events/{eventId}/allocations/{blockId}/open-link",
            path={
                "eventId": event_id,
                "blockId": block_id,
            },
            body={
                "rotate": rotate,
                "revoke": revoke,
                "maxClaims": max_claims,
                "maxPerClaim": max_per_claim,
                "expiresAt": expires_at,
            },
        )

    def remind(
        self,
        event_id: str,
        block_id: str,
        *,
        slot_ids: Any = OMITTED,
        idempotency_key: Any = OMITTED,
    ) -> dict[str, Any]:
        """Remind guests who have not claimed, once a day. The response lists who was skipped and why. For organisers, for their own events, and admins."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/events/{eventId}/allocations/{blockId}/remind",
            path={
                "eventId": event_id,
                "blockId": block_id,
            },
            body={
                "slotIds": slot_ids,
                "idempotencyKey": idempotency_key,
            },
        )

    def release_unused(
        self,
        event_id: str,
        block_id: str,
        *,
        quantity: Any = OMITTED,
        dry_run: Any = OMITTED,
        idempotency_key: Any = OMITTED,
    ) -> dict[str, Any]:
        """Release unclaimed places to the public. Their links and codes end. For organisers, for their own events, and admins."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/events/{eventId}/allocations/{blockId}/release-unused",
            path={
                "eventId": event_id,
                "blockId": block_id,
            },
            body={
                "quantity": quantity,
                "dryRun": dry_run,
                "idempotencyKey": idempotency_key,
            },
        )

    def revoke(
        self,
        event_id: str,
        block_id: str,
        slot_id: str,
        *,
        return_to: Any = OMITTED,
        idempotency_key: Any = OMITTED,
    ) -> dict[str, Any]:
        """Revoke a place: its ticket ends immediately, and the place returns to the block or to the public. For organisers, for their own events, and admins."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/events/{eventId}/allocations/{blockId}/slots/{slotId}/revoke",
            path={
                "eventId": event_id,
                "blockId": block_id,
                "slotId": slot_id,
            },
            body={
                "returnTo": return_to,
                "idempotencyKey": idempotency_key,
            },
        )

    def move(
        self,
        event_id: str,
        block_id: str,
        *,
        to_block_id: Any = OMITTED,
        quantity: Any = OMITTED,
        idempotency_key: Any = OMITTED,
    ) -> dict[str, Any]:
        """Move free places to another block of the same ticket type. For organisers, for their own events, and admins."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/events/{eventId}/allocations/{blockId}/move",
            path={
                "eventId": event_id,
                "blockId": block_id,
            },
            body={
                "toBlockId": to_block_id,
                "quantity": quantity,
                "idempotencyKey": idempotency_key,
            },
        )

    def list_applications(
        self,
        *,
        decision: Any = OMITTED,
        decline_reason: Any = OMITTED,
        reviewer_notes: Any = OMITTED,
        risk_level: Any = OMITTED,
        status: Any = OMITTED,
        event_id: Any = OMITTED,
        q: Any = OMITTED,
        limit: Any = OMITTED,
        cursor: Any = OMITTED,
        sort: Any = OMITTED,
        with_total: Any = OMITTED,
    ) -> dict[str, Any]:
        """List applications: a merchant's own, those for an organiser's events, all for admins. For merchants for their own, organisers for those to their events, and admins of every tier."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/merchant-applications",
            query={
                "decision": decision,
                "declineReason": decline_reason,
                "reviewerNotes": reviewer_notes,
                "riskLevel": risk_level,
                "status": status,
                "eventId": event_id,
                "q": q,
                "limit": limit,
                "cursor": cursor,
                "sort": sort,
                "withTotal": with_total,
            },
        )

    def submit(
        self,
        *,
        amount_minor: Any,
        destination: Any,
        mode: Any,
        scheduled_for: Any = OMITTED,
        payrail_msisdn: Any = OMITTED,
        idempotency_key: Any = OMITTED,
        event_id: Any = OMITTED,
        invite_slug: Any = OMITTED,
        business_name: Any = OMITTED,
        contact_name: Any = OMITTED,
        email: Any = OMITTED,
        phone: Any = OMITTED,
        stall_type: Any = OMITTED,
        products: Any = OMITTED,
        description: Any = OMITTED,
        website: Any = OMITTED,
    ) -> dict[str, Any]:
        """Apply for a stall. For anybody; a token adds to the account it belongs to."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/merchant-applications",
            body={
                "amountMinor": amount_minor,
                "destination": destination,
                "mode": mode,
                "scheduledFor": scheduled_for,
                "payrailMsisdn": payrail_msisdn,
                "idempotencyKey": idempotency_key,
                "eventId": event_id,
                "inviteSlug": invite_slug,
                "businessName": business_name,
                "contactName": contact_name,
                "email": email,
                "phone": phone,
                "stallType": stall_type,
                "products": products,
                "description": description,
                "website": website,
            },
        )

    def read_application(
        self,
        application_id: str,
    ) -> dict[str, Any]:
        """Read one application. For merchants for their own, organisers for those to their events, and admins of every tier."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/merchant-applications/{applicationId}",
            path={
                "applicationId": application_id,
            },
        )

    def decide(
        self,
        application_id: str,
        *,
        decision: Any,
        decline_reason: Any = OMITTED,
        reviewer_notes: Any = OMITTED,
        risk_level: Any = OMITTED,
        documents_required: Any = OMITTED,
    ) -> dict[str, Any]:
        """Approve or decline an application. For organisers, for their own events, and admins from support on."""
        return self._call(  # type: ignore[no-any-return]
            "PATCH",
            "/api/merchant-applications/{applicationId}",
            path={
                "applicationId": application_id,
            },
            body={
                "decision": decision,
                "declineReason": decline_reason,
                "reviewerNotes": reviewer_notes,
                "riskLevel": risk_level,
                "documentsRequired": documents_required,
            },
        )

    def withdraw(
        self,
        application_id: str,
    ) -> dict[str, Any]:
        """Withdraw one's own application; not while a payment is processing. For merchants."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/merchant-applications/{applicationId}/withdraw",
            path={
                "applicationId": application_id,
            },
        )

    def send_link(
        self,
        application_id: str,
        *,
        purpose: Any,
        idempotency_key: Any = OMITTED,
    ) -> dict[str, Any]:
        """Make a new link in place of the old one, and mail it. For organisers, for their own events, and admins from support on."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/merchant-applications/{applicationId}/links",
            path={
                "applicationId": application_id,
            },
            body={
                "purpose": purpose,
                "idempotencyKey": idempotency_key,
            },
        )

    def documents(
        self,
        token: str,
    ) -> dict[str, Any]:
        """Read which documents are required, and which are uploaded. For anybody."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/merchant-applications/docs/{token}",
            path={
                "token": token,
            },
        )

    def hand_in(
        self,
        token: str,
        *,
        identity: Any = OMITTED,
        business_registration: Any = OMITTED,
        tax_clearance: Any = OMITTED,
        food_safety: Any = OMITTED,
        submit: Any = OMITTED,
    ) -> dict[str, Any]:
        """Upload documents; the name of a field is the kind. An empty body hands all documents in. For anybody."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/merchant-applications/docs/{token}",
            path={
                "token": token,
            },
            files={
                "identity": identity,
                "business_registration": business_registration,
                "tax_clearance": tax_clearance,
                "food_safety": food_safety,
                "submit": submit,
            },
        )

    def read_document(
        self,
        token: str,
    ) -> bytes:
        """Read a document by the link in the application, which is valid for five minutes. For anybody."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/merchant-applications/files/{token}",
            path={
                "token": token,
            },
        )

    def fee(
        self,
        token: str,
    ) -> dict[str, Any]:
        """Read the stall fee: amount, state and due date. For anybody."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/merchant-applications/pay/{token}",
            path={
                "token": token,
            },
        )

    def pay(
        self,
        token: str,
        *,
        payrail_msisdn: Any = OMITTED,
    ) -> dict[str, Any]:
        """Start the payment of the stall fee: the rail sends a code to the wallet's owner. For anybody."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/merchant-applications/pay/{token}",
            path={
                "token": token,
            },
            body={
                "payrailMsisdn": payrail_msisdn,
            },
        )

    def verify_otp(
        self,
        token: str,
        *,
        code: Any = OMITTED,
        otp: Any = OMITTED,
    ) -> dict[str, Any]:
        """Confirm the payment with the code; `processing` until the outcome is final. For anybody."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/merchant-applications/pay/{token}/payrail/verify-otp",
            path={
                "token": token,
            },
            body={
                "code": code,
                "otp": otp,
            },
        )

    def preview_audience(
        self,
        id: str,
        *,
        name: Any = OMITTED,
        template_id: Any = OMITTED,
        title: Any = OMITTED,
        body: Any = OMITTED,
        href: Any = OMITTED,
        image_url: Any = OMITTED,
        banner_url: Any = OMITTED,
        channels: Any = OMITTED,
        ab_test_enabled: Any = OMITTED,
        variant_btitle: Any = OMITTED,
        variant_bbody: Any = OMITTED,
        ab_split_percent: Any = OMITTED,
        scheduled_at: Any = OMITTED,
        send_now: Any = OMITTED,
        audience_type: Any = OMITTED,
        user_ids: Any = OMITTED,
        respect_preferences: Any = OMITTED,
    ) -> dict[str, Any]:
        """Count the people who would get a campaign, and those who would not by the reason. Nothing is stored or sent. For organisers, for their own events, and admins of every tier."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/events/{id}/notifications/audience-preview",
            path={
                "id": id,
            },
            body={
                "name": name,
                "templateId": template_id,
                "title": title,
                "body": body,
                "href": href,
                "imageUrl": image_url,
                "bannerUrl": banner_url,
                "channels": channels,
                "abTestEnabled": ab_test_enabled,
                "variantBTitle": variant_btitle,
                "variantBBody": variant_bbody,
                "abSplitPercent": ab_split_percent,
                "scheduledAt": scheduled_at,
                "sendNow": send_now,
                "audienceType": audience_type,
                "userIds": user_ids,
                "respectPreferences": respect_preferences,
            },
        )

    def broadcast(
        self,
        id: str,
        *,
        name: Any,
        template_id: Any,
        title: Any,
        body: Any,
        channels: Any,
        send_now: Any,
        audience_type: Any,
        respect_preferences: Any,
        href: Any = OMITTED,
        image_url: Any = OMITTED,
        banner_url: Any = OMITTED,
        ab_test_enabled: Any = OMITTED,
        variant_btitle: Any = OMITTED,
        variant_bbody: Any = OMITTED,
        ab_split_percent: Any = OMITTED,
        scheduled_at: Any = OMITTED,
        user_ids: Any = OMITTED,
        idempotency_key: Any = OMITTED,
    ) -> dict[str, Any]:
        """Send a campaign now, schedule it, or store it as a draft. For organisers, for their own events, and admins."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/events/{id}/notifications/broadcast",
            path={
                "id": id,
            },
            body={
                "name": name,
                "templateId": template_id,
                "title": title,
                "body": body,
                "href": href,
                "imageUrl": image_url,
                "bannerUrl": banner_url,
                "channels": channels,
                "abTestEnabled": ab_test_enabled,
                "variantBTitle": variant_btitle,
                "variantBBody": variant_bbody,
                "abSplitPercent": ab_split_percent,
                "scheduledAt": scheduled_at,
                "sendNow": send_now,
                "audienceType": audience_type,
                "userIds": user_ids,
                "respectPreferences": respect_preferences,
                "idempotencyKey": idempotency_key,
            },
        )

    def list_campaigns(
        self,
        id: str,
        *,
        status: Any = OMITTED,
        limit: Any = OMITTED,
        cursor: Any = OMITTED,
        sort: Any = OMITTED,
        with_total: Any = OMITTED,
    ) -> dict[str, Any]:
        """List an event's campaigns with the figures of their messages. For organisers, for their own events, and admins of every tier."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/events/{id}/notifications/campaigns",
            path={
                "id": id,
            },
            query={
                "status": status,
                "limit": limit,
                "cursor": cursor,
                "sort": sort,
                "withTotal": with_total,
            },
        )

    def read_campaign(
        self,
        id: str,
        campaign_id: str,
        *,
        fields: Any = OMITTED,
    ) -> dict[str, Any]:
        """Read a campaign and its history: who did what. For organisers, for their own events, and admins of every tier."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/events/{id}/notifications/campaigns/{campaignId}",
            path={
                "id": id,
                "campaignId": campaign_id,
            },
            query={
                "fields": fields,
            },
        )

    def change_campaign(
        self,
        id: str,
        campaign_id: str,
        *,
        name: Any = OMITTED,
        template_id: Any = OMITTED,
        title: Any = OMITTED,
        body: Any = OMITTED,
        href: Any = OMITTED,
        image_url: Any = OMITTED,
        banner_url: Any = OMITTED,
        channels: Any = OMITTED,
        ab_test_enabled: Any = OMITTED,
        variant_btitle: Any = OMITTED,
        variant_bbody: Any = OMITTED,
        ab_split_percent: Any = OMITTED,
        scheduled_at: Any = OMITTED,
        send_now: Any = OMITTED,
        audience_type: Any = OMITTED,
        user_ids: Any = OMITTED,
        respect_preferences: Any = OMITTED,
    ) -> dict[str, Any]:
        """Change a draft or a scheduled campaign; `sendNow` sends it, `scheduledAt` schedules it, null makes it a draft. For organisers, for their own events, and admins."""
        return self._call(  # type: ignore[no-any-return]
            "PATCH",
            "/api/events/{id}/notifications/campaigns/{campaignId}",
            path={
                "id": id,
                "campaignId": campaign_id,
            },
            body={
                "name": name,
                "templateId": template_id,
                "title": title,
                "body": body,
                "href": href,
                "imageUrl": image_url,
                "bannerUrl": banner_url,
                "channels": channels,
                "abTestEnabled": ab_test_enabled,
                "variantBTitle": variant_btitle,
                "variantBBody": variant_bbody,
                "abSplitPercent": ab_split_percent,
                "scheduledAt": scheduled_at,
                "sendNow": send_now,
                "audienceType": audience_type,
                "userIds": user_ids,
                "respectPreferences": respect_preferences,
            },
        )

    def cancel_campaign(
        self,
        id: str,
        campaign_id: str,
    ) -> dict[str, Any]:
        """Cancel a campaign that is not being sent yet. For organisers, for their own events, and admins."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/events/{id}/notifications/campaigns/{campaignId}/cancel",
            path={
                "id": id,
                "campaignId": campaign_id,
            },
        )

    def duplicate_campaign(
        self,
        id: str,
        campaign_id: str,
        *,
        name: Any = OMITTED,
        template_id: Any = OMITTED,
        title: Any = OMITTED,
        body: Any = OMITTED,
        href: Any = OMITTED,
        image_url: Any = OMITTED,
        banner_url: Any = OMITTED,
        channels: Any = OMITTED,
        ab_test_enabled: Any = OMITTED,
        variant_btitle: Any = OMITTED,
        variant_bbody: Any = OMITTED,
        ab_split_percent: Any = OMITTED,
        scheduled_at: Any = OMITTED,
        send_now: Any = OMITTED,
        audience_type: Any = OMITTED,
        user_ids: Any = OMITTED,
        respect_preferences: Any = OMITTED,
        idempotency_key: Any = OMITTED,
    ) -> dict[str, Any]:
        """Copy a campaign as a draft; the fields in the body replace its own. For organisers, for their own events, and admins."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/events/{id}/notifications/campaigns/{campaignId}/duplicate",
            path={
                "id": id,
                "campaignId": campaign_id,
            },
            body={
                "name": name,
                "templateId": template_id,
                "title": title,
                "body": body,
                "href": href,
                "imageUrl": image_url,
                "bannerUrl": banner_url,
                "channels": channels,
                "abTestEnabled": ab_test_enabled,
                "variantBTitle": variant_btitle,
                "variantBBody": variant_bbody,
                "abSplitPercent": ab_split_percent,
                "scheduledAt": scheduled_at,
                "sendNow": send_now,
                "audienceType": audience_type,
                "userIds": user_ids,
                "respectPreferences": respect_preferences,
                "idempotencyKey": idempotency_key,
            },
        )

    def list_uncertain(
        self,
        id: str,
        campaign_id: str,
        *,
        limit: Any = OMITTED,
        cursor: Any = OMITTED,
        sort: Any = OMITTED,
        with_total: Any = OMITTED,
    ) -> dict[str, Any]:
        """List recipients whose message may or may not have arrived: the connection broke after it was handed over. For organisers, for their own events, and admins of every tier."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/events/{id}/notifications/campaigns/{campaignId}/uncertain",
            path={
                "id": id,
                "campaignId": campaign_id,
            },
            query={
                "limit": limit,
                "cursor": cursor,
                "sort": sort,
                "withTotal": with_total,
            },
        )

    def resend_uncertain(
        self,
        id: str,
        campaign_id: str,
        *,
        recipient_ids: Any = OMITTED,
        idempotency_key: Any = OMITTED,
    ) -> dict[str, Any]:
        """Send uncertain messages again. Some people may get one twice; the history has who asked for it. For organisers, for their own events, and admins."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/events/{id}/notifications/campaigns/{campaignId}/resend-uncertain",
            path={
                "id": id,
                "campaignId": campaign_id,
            },
            body={
                "recipientIds": recipient_ids,
                "idempotencyKey": idempotency_key,
            },
        )

    def send_test(
        self,
        id: str,
        *,
        title: Any = OMITTED,
        body: Any = OMITTED,
        href: Any = OMITTED,
        image_url: Any = OMITTED,
        banner_url: Any = OMITTED,
        ab_test_enabled: Any = OMITTED,
        variant_btitle: Any = OMITTED,
        variant_bbody: Any = OMITTED,
        channels: Any = OMITTED,
        idempotency_key: Any = OMITTED,
    ) -> dict[str, Any]:
        """Send the texts to yourself as recipients would get them, each variant once. For organisers, for their own events, and admins."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/events/{id}/notifications/test",
            path={
                "id": id,
            },
            body={
                "title": title,
                "body": body,
                "href": href,
                "imageUrl": image_url,
                "bannerUrl": banner_url,
                "abTestEnabled": ab_test_enabled,
                "variantBTitle": variant_btitle,
                "variantBBody": variant_bbody,
                "channels": channels,
                "idempotencyKey": idempotency_key,
            },
        )

    def list_templates(
        self,
        id: str,
    ) -> dict[str, Any]:
        """List the templates of texts, and the placeholders that texts may have. For organisers, for their own events, and admins of every tier."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/events/{id}/notifications/templates",
            path={
                "id": id,
            },
        )

    def upload_image(
        self,
        id: str,
        *,
        file: Any,
    ) -> dict[str, Any]:
        """Upload a picture for a campaign, and get its URL for `imageUrl` or `bannerUrl`. For organisers, for their own events, and admins."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/events/{id}/notifications/upload-image",
            path={
                "id": id,
            },
            files={
                "file": file,
            },
        )

    def search_users(
        self,
        id: str,
        *,
        q: Any = OMITTED,
    ) -> dict[str, Any]:
        """Find people who hold tickets for the event or take part in it; addresses are masked. For organisers, for their own events, and admins of every tier."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/events/{id}/notifications/users/search",
            path={
                "id": id,
            },
            query={
                "q": q,
            },
        )

    def read_crew(
        self,
        event_id: str,
    ) -> dict[str, Any]:
        """Read the crew of one's stall at an event. For merchants."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/merchants/me/events/{eventId}/crew",
            path={
                "eventId": event_id,
            },
        )

    def replace_crew(
        self,
        event_id: str,
        *,
        crew: Any = OMITTED,
    ) -> dict[str, Any]:
        """Replace the crew. For merchants."""
        return self._call(  # type: ignore[no-any-return]
            "PUT",
            "/api/merchants/me/events/{eventId}/crew",
            path={
                "eventId": event_id,
            },
            body={
                "crew": crew,
            },
        )

    def crew_stats(
        self,
        event_id: str,
        crew_member_id: str,
    ) -> dict[str, Any]:
        """Read what a member has worked, per day of the event's time zone. For merchants."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/merchants/me/events/{eventId}/crew/{crewMemberId}/stats",
            path={
                "eventId": event_id,
                "crewMemberId": crew_member_id,
            },
        )

    def shift_verify(
        self,
        event_id: str,
        *,
        crew_member_id: Any = OMITTED,
        code: Any = OMITTED,
        occurred_at: Any = OMITTED,
    ) -> dict[str, Any]:
        """Start a shift with its code, or get the one that is open already. For merchants."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/merchants/me/events/{eventId}/crew/shift-verify",
            path={
                "eventId": event_id,
            },
            body={
                "crewMemberId": crew_member_id,
                "code": code,
                "occurredAt": occurred_at,
            },
        )

    def shift_checkout(
        self,
        event_id: str,
        *,
        status: Any,
        crew_member_id: Any = OMITTED,
        occurred_at: Any = OMITTED,
    ) -> dict[str, Any]:
        """End shifts, or start and end breaks, of one member or of everybody at work. For merchants."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/merchants/me/events/{eventId}/crew/shift-checkout",
            path={
                "eventId": event_id,
            },
            body={
                "status": status,
                "crewMemberId": crew_member_id,
                "occurredAt": occurred_at,
            },
        )

    def record_logs(
        self,
        *,
        events: Any,
        client: Any = OMITTED,
    ) -> dict[str, Any]:
        """Report client-side events. For anybody."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/diagnostics/logs",
            body={
                "client": client,
                "events": events,
            },
        )

    def list_events(
        self,
        *,
        q: Any = OMITTED,
        city: Any = OMITTED,
        category: Any = OMITTED,
        from_: Any = OMITTED,
        to: Any = OMITTED,
        cashless: Any = OMITTED,
        lat: Any = OMITTED,
        lng: Any = OMITTED,
        radius_km: Any = OMITTED,
        mine: Any = OMITTED,
        visibility: Any = OMITTED,
        limit: Any = OMITTED,
        cursor: Any = OMITTED,
        sort: Any = OMITTED,
        with_total: Any = OMITTED,
    ) -> dict[str, Any]:
        """List published events; with `mine=true` and a token, own events in every state. For anybody; a token adds to the account it belongs to."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/events",
            query={
                "q": q,
                "city": city,
                "category": category,
                "from": from_,
                "to": to,
                "cashless": cashless,
                "lat": lat,
                "lng": lng,
                "radiusKm": radius_km,
                "mine": mine,
                "visibility": visibility,
                "limit": limit,
                "cursor": cursor,
                "sort": sort,
                "withTotal": with_total,
            },
        )

    def create_event(
        self,
        *,
        name: Any,
        city: Any,
        venue: Any,
        country: Any,
        start_date: Any,
        end_date: Any,
        description: Any = OMITTED,
        cover_image_url: Any = OMITTED,
        poster_image_url: Any = OMITTED,
        latitude: Any = OMITTED,
        longitude: Any = OMITTED,
        timezone: Any = OMITTED,
        starts_at: Any = OMITTED,
        ends_at: Any = OMITTED,
        sales_end_at: Any = OMITTED,
        visibility: Any = OMITTED,
        publish_at: Any = OMITTED,
        capacity: Any = OMITTED,
        category: Any = OMITTED,
        keywords: Any = OMITTED,
        is_cashless: Any = OMITTED,
        allowed_payment_option_slugs: Any = OMITTED,
        ticket_types: Any = OMITTED,
        promo_codes: Any = OMITTED,
        bulk_discounts: Any = OMITTED,
        payment_method_discounts: Any = OMITTED,
        sponsors: Any = OMITTED,
        stall_types: Any = OMITTED,
        tables: Any = OMITTED,
        lineup: Any = OMITTED,
        promotion: Any = OMITTED,
        idempotency_key: Any = OMITTED,
    ) -> dict[str, Any]:
        """Create an event. For organisers, for their own events, and admins."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/events",
            body={
                "name": name,
                "description": description,
                "coverImageUrl": cover_image_url,
                "posterImageUrl": poster_image_url,
                "city": city,
                "venue": venue,
                "country": country,
                "latitude": latitude,
                "longitude": longitude,
                "timezone": timezone,
                "startsAt": starts_at,
                "endsAt": ends_at,
                "startDate": start_date,
                "endDate": end_date,
                "salesEndAt": sales_end_at,
                "visibility": visibility,
                "publishAt": publish_at,
                "capacity": capacity,
                "category": category,
                "keywords": keywords,
                "isCashless": is_cashless,
                "allowedPaymentOptionSlugs": allowed_payment_option_slugs,
                "ticketTypes": ticket_types,
                "promoCodes": promo_codes,
                "bulkDiscounts": bulk_discounts,
                "paymentMethodDiscounts": payment_method_discounts,
                "sponsors": sponsors,
                "stallTypes": stall_types,
                "tables": tables,
                "lineup": lineup,
                "promotion": promotion,
                "idempotencyKey": idempotency_key,
            },
        )

    def upload_cover(
        self,
        *,
        file: Any,
    ) -> dict[str, Any]:
        """Upload a picture for an event, and get its URL for `coverImageUrl`. For organisers, for their own events, and admins."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/events/upload-cover",
            files={
                "file": file,
            },
        )

    def read_event(
        self,
        id: str,
        *,
        fields: Any = OMITTED,
    ) -> dict[str, Any]:
        """Read an own event. For organisers, for their own events, and admins of every tier."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/events/{id}",
            path={
                "id": id,
            },
            query={
                "fields": fields,
            },
        )

    def change_event(
        self,
        id: str,
        *,
        name: Any = OMITTED,
        description: Any = OMITTED,
        cover_image_url: Any = OMITTED,
        poster_image_url: Any = OMITTED,
        city: Any = OMITTED,
        venue: Any = OMITTED,
        country: Any = OMITTED,
        latitude: Any = OMITTED,
        longitude: Any = OMITTED,
        timezone: Any = OMITTED,
        starts_at: Any = OMITTED,
        ends_at: Any = OMITTED,
        start_date: Any = OMITTED,
        end_date: Any = OMITTED,
        sales_end_at: Any = OMITTED,
        visibility: Any = OMITTED,
        publish_at: Any = OMITTED,
        capacity: Any = OMITTED,
        category: Any = OMITTED,
        keywords: Any = OMITTED,
        is_cashless: Any = OMITTED,
        allowed_payment_option_slugs: Any = OMITTED,
        ticket_types: Any = OMITTED,
        promo_codes: Any = OMITTED,
        bulk_discounts: Any = OMITTED,
        payment_method_discounts: Any = OMITTED,
        sponsors: Any = OMITTED,
        stall_types: Any = OMITTED,
        tables: Any = OMITTED,
        lineup: Any = OMITTED,
        promotion: Any = OMITTED,
    ) -> dict[str, Any]:
        """Change the fields that are sent. For organisers, for their own events, and admins."""
        return self._call(  # type: ignore[no-any-return]
            "PATCH",
            "/api/events/{id}",
            path={
                "id": id,
            },
            body={
                "name": name,
                "description": description,
                "coverImageUrl": cover_image_url,
                "posterImageUrl": poster_image_url,
                "city": city,
                "venue": venue,
                "country": country,
                "latitude": latitude,
                "longitude": longitude,
                "timezone": timezone,
                "startsAt": starts_at,
                "endsAt": ends_at,
                "startDate": start_date,
                "endDate": end_date,
                "salesEndAt": sales_end_at,
                "visibility": visibility,
                "publishAt": publish_at,
                "capacity": capacity,
                "category": category,
                "keywords": keywords,
                "isCashless": is_cashless,
                "allowedPaymentOptionSlugs": allowed_payment_option_slugs,
                "ticketTypes": ticket_types,
                "promoCodes": promo_codes,
                "bulkDiscounts": bulk_discounts,
                "paymentMethodDiscounts": payment_method_discounts,
                "sponsors": sponsors,
                "stallTypes": stall_types,
                "tables": tables,
                "lineup": lineup,
                "promotion": promotion,
            },
        )

    def remove_event(
        self,
        id: str,
    ) -> dict[str, Any]:
        """Delete an event, or cancel it when tickets or other things belong to it; `outcome` says which. For organisers, for their own events, and admins."""
        return self._call(  # type: ignore[no-any-return]
            "DELETE",
            "/api/events/{id}",
            path={
                "id": id,
            },
        )

    def ticket_stats(
        self,
        id: str,
        *,
        fields: Any = OMITTED,
    ) -> dict[str, Any]:
        """Read the sales of an event, per ticket type and per day for charts. For organisers, for their own events, and admins of every tier."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/events/{id}/ticket-stats",
            path={
                "id": id,
            },
            query={
                "fields": fields,
            },
        )

    def health(
        self,
    ) -> dict[str, Any]:
        """Report that the process runs. It uses no other service. For anybody."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/health",
        )

    def ready(
        self,
    ) -> dict[str, Any]:
        """Report whether the service can do its work. For anybody."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/ready",
        )

    def list_stock(
        self,
        event_id: str,
        *,
        name: Any = OMITTED,
        sku: Any = OMITTED,
        image_url: Any = OMITTED,
        product_type: Any = OMITTED,
        expiry_date: Any = OMITTED,
        category: Any = OMITTED,
        brand: Any = OMITTED,
        supplier: Any = OMITTED,
        barcode: Any = OMITTED,
        storage_location: Any = OMITTED,
        batch_number: Any = OMITTED,
        unit: Any = OMITTED,
        cost_price: Any = OMITTED,
        sell_price: Any = OMITTED,
        tax_rate: Any = OMITTED,
        par_level: Any = OMITTED,
        min_order_qty: Any = OMITTED,
        reorder_level: Any = OMITTED,
        on_hand: Any = OMITTED,
        reserved: Any = OMITTED,
        damaged: Any = OMITTED,
        notes: Any = OMITTED,
        q: Any = OMITTED,
        low_stock: Any = OMITTED,
        expiring_before: Any = OMITTED,
        limit: Any = OMITTED,
        cursor: Any = OMITTED,
        sort: Any = OMITTED,
        with_total: Any = OMITTED,
    ) -> dict[str, Any]:
        """List the stock of an event. For organisers, for their own events, and admins of every tier."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/events/{eventId}/inventory",
            path={
                "eventId": event_id,
            },
            query={
                "name": name,
                "sku": sku,
                "imageUrl": image_url,
                "productType": product_type,
                "expiryDate": expiry_date,
                "category": category,
                "brand": brand,
                "supplier": supplier,
                "barcode": barcode,
                "storageLocation": storage_location,
                "batchNumber": batch_number,
                "unit": unit,
                "costPrice": cost_price,
                "sellPrice": sell_price,
                "taxRate": tax_rate,
                "parLevel": par_level,
                "minOrderQty": min_order_qty,
                "reorderLevel": reorder_level,
                "onHand": on_hand,
                "reserved": reserved,
                "damaged": damaged,
                "notes": notes,
                "q": q,
                "lowStock": low_stock,
                "expiringBefore": expiring_before,
                "limit": limit,
                "cursor": cursor,
                "sort": sort,
                "withTotal": with_total,
            },
        )

    def create_stock_item(
        self,
        event_id: str,
        *,
        name: Any,
        sku: Any,
        par_level: Any,
        min_order_qty: Any,
        reorder_level: Any,
        on_hand: Any,
        reserved: Any,
        damaged: Any,
        image_url: Any = OMITTED,
        product_type: Any = OMITTED,
        expiry_date: Any = OMITTED,
        category: Any = OMITTED,
        brand: Any = OMITTED,
        supplier: Any = OMITTED,
        barcode: Any = OMITTED,
        storage_location: Any = OMITTED,
        batch_number: Any = OMITTED,
        unit: Any = OMITTED,
        cost_price: Any = OMITTED,
        sell_price: Any = OMITTED,
        tax_rate: Any = OMITTED,
        notes: Any = OMITTED,
        idempotency_key: Any = OMITTED,
    ) -> dict[str, Any]:
        """Add an item; what is on hand, reserved and damaged is booked as its opening stock. For organisers, for their own events, and admins."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/events/{eventId}/inventory/items",
            path={
                "eventId": event_id,
            },
            body={
                "name": name,
                "sku": sku,
                "imageUrl": image_url,
                "productType": product_type,
                "expiryDate": expiry_date,
                "category": category,
                "brand": brand,
                "supplier": supplier,
                "barcode": barcode,
                "storageLocation": storage_location,
                "batchNumber": batch_number,
                "unit": unit,
                "costPrice": cost_price,
                "sellPrice": sell_price,
                "taxRate": tax_rate,
                "parLevel": par_level,
                "minOrderQty": min_order_qty,
                "reorderLevel": reorder_level,
                "onHand": on_hand,
                "reserved": reserved,
                "damaged": damaged,
                "notes": notes,
                "idempotencyKey": idempotency_key,
            },
        )

    def read_stock_item(
        self,
        event_id: str,
        item_id: str,
        *,
        fields: Any = OMITTED,
    ) -> dict[str, Any]:
        """Read one item. For organisers, for their own events, and admins of every tier."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/events/{eventId}/inventory/items/{itemId}",
            path={
                "eventId": event_id,
                "itemId": item_id,
            },
            query={
                "fields": fields,
            },
        )

    def change_stock_item(
        self,
        event_id: str,
        item_id: str,
        *,
        name: Any = OMITTED,
        sku: Any = OMITTED,
        image_url: Any = OMITTED,
        product_type: Any = OMITTED,
        expiry_date: Any = OMITTED,
        category: Any = OMITTED,
        brand: Any = OMITTED,
        supplier: Any = OMITTED,
        barcode: Any = OMITTED,
        storage_location: Any = OMITTED,
        batch_number: Any = OMITTED,
        unit: Any = OMITTED,
        cost_price: Any = OMITTED,
        sell_price: Any = OMITTED,
        tax_rate: Any = OMITTED,
        par_level: Any = OMITTED,
        min_order_qty: Any = OMITTED,
        reorder_level: Any = OMITTED,
        on_hand: Any = OMITTED,
        reserved: Any = OMITTED,
        damaged: Any = OMITTED,
        notes: Any = OMITTED,
    ) -> dict[str, Any]:
        """Change the fields that are sent; another quantity is booked as a correction. For organisers, for their own events, and admins."""
        return self._call(  # type: ignore[no-any-return]
            "PATCH",
            "/api/events/{eventId}/inventory/items/{itemId}",
            path={
                "eventId": event_id,
                "itemId": item_id,
            },
            body={
                "name": name,
                "sku": sku,
                "imageUrl": image_url,
                "productType": product_type,
                "expiryDate": expiry_date,
                "category": category,
                "brand": brand,
                "supplier": supplier,
                "barcode": barcode,
                "storageLocation": storage_location,
                "batchNumber": batch_number,
                "unit": unit,
                "costPrice": cost_price,
                "sellPrice": sell_price,
                "taxRate": tax_rate,
                "parLevel": par_level,
                "minOrderQty": min_order_qty,
                "reorderLevel": reorder_level,
                "onHand": on_hand,
                "reserved": reserved,
                "damaged": damaged,
                "notes": notes,
            },
        )

    def list_movements(
        self,
        event_id: str,
        item_id: str,
        *,
        limit: Any = OMITTED,
        cursor: Any = OMITTED,
        sort: Any = OMITTED,
        with_total: Any = OMITTED,
    ) -> dict[str, Any]:
        """List the book of an item. For organisers, for their own events, and admins of every tier."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/events/{eventId}/inventory/items/{itemId}/movements",
            path={
                "eventId": event_id,
                "itemId": item_id,
            },
            query={
                "limit": limit,
                "cursor": cursor,
                "sort": sort,
                "withTotal": with_total,
            },
        )

    def adjust_stock_item(
        self,
        event_id: str,
        item_id: str,
        *,
        delta: Any = OMITTED,
        counted: Any = OMITTED,
        bucket: Any = OMITTED,
        reason: Any = OMITTED,
        note: Any = OMITTED,
        reference: Any = OMITTED,
        occurred_at: Any = OMITTED,
        expected_on_hand: Any = OMITTED,
        idempotency_key: Any = OMITTED,
    ) -> dict[str, Any]:
        """Change how much there is: by a difference, or to what was counted. For organisers, for their own events, and admins."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/events/{eventId}/inventory/items/{itemId}/adjust",
            path={
                "eventId": event_id,
                "itemId": item_id,
            },
            body={
                "delta": delta,
                "counted": counted,
                "bucket": bucket,
                "reason": reason,
                "note": note,
                "reference": reference,
                "occurredAt": occurred_at,
                "expectedOnHand": expected_on_hand,
                "idempotencyKey": idempotency_key,
            },
        )

    def export_stock(
        self,
        event_id: str,
        *,
        template: Any = OMITTED,
    ) -> bytes:
        """Get the stock as a file that spreadsheets open and that imports back unchanged; or its columns alone. For organisers, for their own events, and admins of every tier."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/events/{eventId}/inventory/export.csv",
            path={
                "eventId": event_id,
            },
            query={
                "template": template,
            },
        )

    def import_stock(
        self,
        event_id: str,
        *,
        file: Any = OMITTED,
        mode: Any = OMITTED,
        dry_run: Any = OMITTED,
        again: Any = OMITTED,
    ) -> dict[str, Any]:
        """Import a stock sheet, CSV or XLSX, by SKU. For organisers, for their own events, and admins."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/events/{eventId}/inventory/import",
            path={
                "eventId": event_id,
            },
            query={
                "mode": mode,
                "dryRun": dry_run,
                "again": again,
            },
            files={
                "file": file,
            },
        )

    def read_report(
        self,
        event_id: str,
        *,
        type: Any = OMITTED,
        format: Any = OMITTED,
        from_: Any = OMITTED,
        to: Any = OMITTED,
        within_days: Any = OMITTED,
        job_id: Any = OMITTED,
        download: Any = OMITTED,
    ) -> dict[str, Any]:
        """Report on the stock: what it is worth, what moved, what expires, what to order. For organisers, for their own events, and admins of every tier."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/events/{eventId}/inventory/reports",
            path={
                "eventId": event_id,
            },
            query={
                "type": type,
                "format": format,
                "from": from_,
                "to": to,
                "withinDays": within_days,
                "jobId": job_id,
                "download": download,
            },
        )

    def read_report_file(
        self,
        event_id: str,
        token: str,
    ) -> bytes:
        """Fetch what came of long work through its `downloadUrl`, within five minutes. For anybody."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/events/{eventId}/inventory/reports/files/{token}",
            path={
                "eventId": event_id,
                "token": token,
            },
        )

    def stream_stock(
        self,
        event_id: str,
        *,
        name: Any = OMITTED,
        sku: Any = OMITTED,
        image_url: Any = OMITTED,
        product_type: Any = OMITTED,
        expiry_date: Any = OMITTED,
        category: Any = OMITTED,
        brand: Any = OMITTED,
        supplier: Any = OMITTED,
        barcode: Any = OMITTED,
        storage_location: Any = OMITTED,
        batch_number: Any = OMITTED,
        unit: Any = OMITTED,
        cost_price: Any = OMITTED,
        sell_price: Any = OMITTED,
        tax_rate: Any = OMITTED,
        par_level: Any = OMITTED,
        min_order_qty: Any = OMITTED,
        reorder_level: Any = OMITTED,
        on_hand: Any = OMITTED,
        reserved: Any = OMITTED,
        damaged: Any = OMITTED,
        notes: Any = OMITTED,
        q: Any = OMITTED,
        low_stock: Any = OMITTED,
        expiring_before: Any = OMITTED,
    ) -> bytes:
        """Follow the stock: its items now, then every change as it commits, as server-sent events. For organisers, for their own events, and admins of every tier."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/events/{eventId}/inventory/stream",
            path={
                "eventId": event_id,
            },
            query={
                "name": name,
                "sku": sku,
                "imageUrl": image_url,
                "productType": product_type,
                "expiryDate": expiry_date,
                "category": category,
                "brand": brand,
                "supplier": supplier,
                "barcode": barcode,
                "storageLocation": storage_location,
                "batchNumber": batch_number,
                "unit": unit,
                "costPrice": cost_price,
                "sellPrice": sell_price,
                "taxRate": tax_rate,
                "parLevel": par_level,
                "minOrderQty": min_order_qty,
                "reorderLevel": reorder_level,
                "onHand": on_hand,
                "reserved": reserved,
                "damaged": damaged,
                "notes": notes,
                "q": q,
                "lowStock": low_stock,
                "expiringBefore": expiring_before,
            },
        )

    def read_reminder(
        self,
        event_id: str,
    ) -> dict[str, Any]:
        """Read who is told about the stock, when, and of what. For organisers, for their own events, and admins of every tier."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/events/{eventId}/inventory/reminder",
            path={
                "eventId": event_id,
            },
        )

    def change_reminder(
        self,
        event_id: str,
        *,
        enabled: Any = OMITTED,
        frequency: Any = OMITTED,
        hour: Any = OMITTED,
        weekday: Any = OMITTED,
        recipients: Any = OMITTED,
        expiring_within_days: Any = OMITTED,
        include_low_stock: Any = OMITTED,
        include_expiring: Any = OMITTED,
    ) -> dict[str, Any]:
        """Change who is told about the stock, when, and of what. Hours are those where the event is. For organisers, for their own events, and admins."""
        return self._call(  # type: ignore[no-any-return]
            "PATCH",
            "/api/events/{eventId}/inventory/reminder",
            path={
                "eventId": event_id,
            },
            body={
                "enabled": enabled,
                "frequency": frequency,
                "hour": hour,
                "weekday": weekday,
                "recipients": recipients,
                "expiringWithinDays": expiring_within_days,
                "includeLowStock": include_low_stock,
                "includeExpiring": include_expiring,
            },
        )

    def trigger_reminder(
        self,
        event_id: str,
    ) -> dict[str, Any]:
        """Mail the digest now, twenty times an hour at most. For organisers, for their own events, and admins."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/events/{eventId}/inventory/reminder/trigger",
            path={
                "eventId": event_id,
            },
        )

    def apply_reorder(
        self,
        event_id: str,
        *,
        item_ids: Any = OMITTED,
        dry_run: Any = OMITTED,
        idempotency_key: Any = OMITTED,
    ) -> dict[str, Any]:
        """Order what has run low, one order for each supplier; what is on order already is not ordered twice. For organisers, for their own events, and admins."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/events/{eventId}/inventory/reorder/apply",
            path={
                "eventId": event_id,
            },
            body={
                "itemIds": item_ids,
                "dryRun": dry_run,
                "idempotencyKey": idempotency_key,
            },
        )

    def order_pdf(
        self,
        event_id: str,
        order_id: str,
    ) -> bytes:
        """Get an order as a sheet for its supplier. For organisers, for their own events, and admins of every tier."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/events/{eventId}/inventory/orders/{orderId}/sheet.pdf",
            path={
                "eventId": event_id,
                "orderId": order_id,
            },
        )

    def read_variance(
        self,
        event_id: str,
        *,
        from_: Any = OMITTED,
        to: Any = OMITTED,
        limit: Any = OMITTED,
        cursor: Any = OMITTED,
        sort: Any = OMITTED,
        with_total: Any = OMITTED,
    ) -> dict[str, Any]:
        """Compare what was counted with what the book had expected, item by item. For organisers, for their own events, and admins of every tier."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/events/{eventId}/inventory/variance",
            path={
                "eventId": event_id,
            },
            query={
                "from": from_,
                "to": to,
                "limit": limit,
                "cursor": cursor,
                "sort": sort,
                "withTotal": with_total,
            },
        )

    def variance_csv(
        self,
        event_id: str,
        *,
        from_: Any = OMITTED,
        to: Any = OMITTED,
    ) -> bytes:
        """Get the same as a file. For organisers, for their own events, and admins of every tier."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/events/{eventId}/inventory/variance.csv",
            path={
                "eventId": event_id,
            },
            query={
                "from": from_,
                "to": to,
            },
        )

    def merchant_directory(
        self,
        id: str,
        *,
        q: Any = OMITTED,
        category: Any = OMITTED,
        city: Any = OMITTED,
        limit: Any = OMITTED,
        cursor: Any = OMITTED,
        sort: Any = OMITTED,
        with_total: Any = OMITTED,
    ) -> dict[str, Any]:
        """List merchants who can be invited to an event. For organisers, for their own events, and admins of every tier."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/events/{id}/merchant-directory",
            path={
                "id": id,
            },
            query={
                "q": q,
                "category": category,
                "city": city,
                "limit": limit,
                "cursor": cursor,
                "sort": sort,
                "withTotal": with_total,
            },
        )

    def directory_invites(
        self,
        id: str,
        *,
        message: Any = OMITTED,
        stall_type: Any = OMITTED,
        fee_minor: Any = OMITTED,
        expires_at: Any = OMITTED,
        merchant_ids: Any = OMITTED,
        withdraw: Any = OMITTED,
        idempotency_key: Any = OMITTED,
    ) -> dict[str, Any]:
        """Invite merchants from the directory. For organisers, for their own events, and admins."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/events/{id}/directory-invites",
            path={
                "id": id,
            },
            body={
                "message": message,
                "stallType": stall_type,
                "feeMinor": fee_minor,
                "expiresAt": expires_at,
                "merchantIds": merchant_ids,
                "withdraw": withdraw,
                "idempotencyKey": idempotency_key,
            },
        )

    def merchant_invite(
        self,
        id: str,
        *,
        message: Any = OMITTED,
        stall_type: Any = OMITTED,
        fee_minor: Any = OMITTED,
        expires_at: Any = OMITTED,
        email: Any = OMITTED,
        business_name: Any = OMITTED,
        max_uses: Any = OMITTED,
        slug: Any = OMITTED,
        revoke: Any = OMITTED,
        idempotency_key: Any = OMITTED,
    ) -> dict[str, Any]:
        """Make a link by which a business can apply for a stall; it is mailed if there is an email. For organisers, for their own events, and admins."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/events/{id}/merchant-invite",
            path={
                "id": id,
            },
            body={
                "message": message,
                "stallType": stall_type,
                "feeMinor": fee_minor,
                "expiresAt": expires_at,
                "email": email,
                "businessName": business_name,
                "maxUses": max_uses,
                "slug": slug,
                "revoke": revoke,
                "idempotencyKey": idempotency_key,
            },
        )

    def read_merchant_invite(
        self,
        slug: str,
    ) -> dict[str, Any]:
        """Read the event, terms and state of a link. For anybody."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/events/merchant-invite/{slug}",
            path={
                "slug": slug,
            },
        )

    def my_invites(
        self,
        *,
        status: Any = OMITTED,
        event_id: Any = OMITTED,
        limit: Any = OMITTED,
        cursor: Any = OMITTED,
        sort: Any = OMITTED,
        with_total: Any = OMITTED,
    ) -> dict[str, Any]:
        """List one's own invitations. For merchants."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/merchants/me/event-invites",
            query={
                "status": status,
                "eventId": event_id,
                "limit": limit,
                "cursor": cursor,
                "sort": sort,
                "withTotal": with_total,
            },
        )

    def my_invite(
        self,
        invite_id: str,
    ) -> dict[str, Any]:
        """Read one of one's own invitations. For merchants."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/merchants/me/event-invites/{inviteId}",
            path={
                "inviteId": invite_id,
            },
        )

    def answer_invite(
        self,
        invite_id: str,
        *,
        status: Any = OMITTED,
        message: Any = OMITTED,
    ) -> dict[str, Any]:
        """Accept or decline an invitation; the organiser gets an email. For merchants."""
        return self._call(  # type: ignore[no-any-return]
            "PATCH",
            "/api/merchants/me/event-invites/{inviteId}",
            path={
                "inviteId": invite_id,
            },
            body={
                "status": status,
                "message": message,
            },
        )

    def my_events(
        self,
        *,
        limit: Any = OMITTED,
        cursor: Any = OMITTED,
        sort: Any = OMITTED,
        with_total: Any = OMITTED,
    ) -> dict[str, Any]:
        """List the events one takes part in. For merchants."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/merchants/me/events",
            query={
                "limit": limit,
                "cursor": cursor,
                "sort": sort,
                "withTotal": with_total,
            },
        )

    def change_floor_status(
        self,
        *,
        status: Any,
        event_id: Any = OMITTED,
    ) -> dict[str, Any]:
        """Set one's stall to open, busy, paused or closed. For merchants."""
        return self._call(  # type: ignore[no-any-return]
            "PATCH",
            "/api/merchants/me/pos-floor-status",
            body={
                "status": status,
                "eventId": event_id,
            },
        )

    def picture(
        self,
        name: str,
    ) -> bytes:
        """Get an uploaded picture. For anybody."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/media/{name}",
            path={
                "name": name,
            },
        )

    def read_merchant(
        self,
        *,
        fields: Any = OMITTED,
    ) -> dict[str, Any]:
        """Read your account as a merchant. For merchants."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/merchants/me",
            query={
                "fields": fields,
            },
        )

    def change_merchant(
        self,
        *,
        payout_details: Any,
        settings: Any,
        name: Any = OMITTED,
        phone: Any = OMITTED,
        business_name: Any = OMITTED,
        stall_name: Any = OMITTED,
        category: Any = OMITTED,
        city: Any = OMITTED,
    ) -> dict[str, Any]:
        """Change your account as a merchant. For merchants."""
        return self._call(  # type: ignore[no-any-return]
            "PATCH",
            "/api/merchants/me",
            body={
                "name": name,
                "phone": phone,
                "businessName": business_name,
                "stallName": stall_name,
                "category": category,
                "city": city,
                "payoutDetails": payout_details,
                "settings": settings,
            },
        )

    def change_password(
        self,
        *,
        current_password: Any,
        new_password: Any,
    ) -> dict[str, Any]:
        """Set a new password. Every other session ends, and the owner gets a mail. For merchants."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/merchants/change-password",
            body={
                "currentPassword": current_password,
                "newPassword": new_password,
            },
        )

    def pause_merchant(
        self,
    ) -> dict[str, Any]:
        """Pause the merchant: hide them, close their stalls, and stop invitations and payouts. For merchants."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/merchants/me/pause",
        )

    def resume_merchant(
        self,
        *,
        current_password: Any,
        confirmation: Any,
    ) -> dict[str, Any]:
        """End the pause. Stalls stay closed until they are opened. For merchants."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/merchants/me/resume",
            body={
                "currentPassword": current_password,
                "confirmation": confirmation,
            },
        )

    def delete_merchant(
        self,
        *,
        current_password: Any,
        confirmation: Any,
    ) -> dict[str, Any]:
        """Delete the merchant and their personal data. The ledger keeps its entries. For merchants."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/merchants/me/delete",
            body={
                "currentPassword": current_password,
                "confirmation": confirmation,
            },
        )

    def metrics(
        self,
    ) -> bytes:
        """Read all metrics in the text format of Prometheus. For anybody."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/metrics",
        )

    def list_payouts(
        self,
        *,
        amount_minor: Any = OMITTED,
        destination: Any = OMITTED,
        mode: Any = OMITTED,
        scheduled_for: Any = OMITTED,
        payrail_msisdn: Any = OMITTED,
        idempotency_key: Any = OMITTED,
        status: Any = OMITTED,
        limit: Any = OMITTED,
        cursor: Any = OMITTED,
        sort: Any = OMITTED,
        with_total: Any = OMITTED,
    ) -> dict[str, Any]:
        """List one's own payouts, the newest first. For merchants."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/merchants/me/payout-requests",
            query={
                "amountMinor": amount_minor,
                "destination": destination,
                "mode": mode,
                "scheduledFor": scheduled_for,
                "payrailMsisdn": payrail_msisdn,
                "idempotencyKey": idempotency_key,
                "status": status,
                "limit": limit,
                "cursor": cursor,
                "sort": sort,
                "withTotal": with_total,
            },
        )

    def request_payout(
        self,
        *,
        amount_minor: Any,
        destination: Any,
        mode: Any,
        password: Any = OMITTED,
        scheduled_for: Any = OMITTED,
        payrail_msisdn: Any = OMITTED,
        idempotency_key: Any = OMITTED,
    ) -> dict[str, Any]:
        """Ask to be paid out, now or at a time. For merchants."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/merchants/me/payout-requests",
            body={
                "password": password,
                "amountMinor": amount_minor,
                "destination": destination,
                "mode": mode,
                "scheduledFor": scheduled_for,
                "payrailMsisdn": payrail_msisdn,
                "idempotencyKey": idempotency_key,
            },
        )

    def read_availability(
        self,
        *,
        amount_minor: Any = OMITTED,
        destination: Any = OMITTED,
        mode: Any = OMITTED,
        scheduled_for: Any = OMITTED,
        payrail_msisdn: Any = OMITTED,
        idempotency_key: Any = OMITTED,
    ) -> dict[str, Any]:
        """Read one's balances; with an amount, whether it could be paid out, and if not why. For merchants."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/merchants/me/payout-requests/availability",
            query={
                "amountMinor": amount_minor,
                "destination": destination,
                "mode": mode,
                "scheduledFor": scheduled_for,
                "payrailMsisdn": payrail_msisdn,
                "idempotencyKey": idempotency_key,
            },
        )

    def read_payout(
        self,
        id: str,
    ) -> dict[str, Any]:
        """Read a payout with its history. For merchants."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/merchants/me/payout-requests/{id}",
            path={
                "id": id,
            },
        )

    def cancel_payout(
        self,
        id: str,
    ) -> dict[str, Any]:
        """Cancel a payout that has not been submitted to the rail; its amount is available again. For merchants."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/merchants/me/payout-requests/{id}/cancel",
            path={
                "id": id,
            },
        )

    def hear_callback(
        self,
    ) -> dict[str, Any]:
        """Take an event of the payment rail, signed over its timestamp and raw body. For anybody."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/payrail/callbacks",
        )

    def discover(
        self,
        *,
        q: Any = OMITTED,
        city: Any = OMITTED,
        category: Any = OMITTED,
        from_: Any = OMITTED,
        to: Any = OMITTED,
        cashless: Any = OMITTED,
        lat: Any = OMITTED,
        lng: Any = OMITTED,
        radius_km: Any = OMITTED,
        limit: Any = OMITTED,
        cursor: Any = OMITTED,
        sort: Any = OMITTED,
    ) -> dict[str, Any]:
        """Find published events that are upcoming or running. For anybody."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/events/public/discover",
            query={
                "q": q,
                "city": city,
                "category": category,
                "from": from_,
                "to": to,
                "cashless": cashless,
                "lat": lat,
                "lng": lng,
                "radiusKm": radius_km,
                "limit": limit,
                "cursor": cursor,
                "sort": sort,
            },
        )

    def public_event(
        self,
        id: str,
    ) -> dict[str, Any]:
        """Read a published or unlisted event. For anybody."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/events/public/{id}",
            path={
                "id": id,
            },
        )

    def ticket_inventory(
        self,
        id: str,
    ) -> dict[str, Any]:
        """Read the tickets of an event: how many there are, their present price, and whether they are on sale. For anybody."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/events/public/{id}/ticket-inventory",
            path={
                "id": id,
            },
        )

    def read_preferences(
        self,
    ) -> dict[str, Any]:
        """Read the channels on which organisers may write, and the organisers who may not. For anybody signed in."""
        return self._call(  # type: ignore[no-any-return]
            "GET",
            "/api/notifications/preferences",
        )

    def change_preferences(
        self,
        *,
        email: Any = OMITTED,
        sms: Any = OMITTED,
        push: Any = OMITTED,
        unsubscribed_from_all: Any = OMITTED,
        resubscribe: Any = OMITTED,
    ) -> dict[str, Any]:
        """Switch channels on and off, and let organisers write again. For anybody signed in."""
        return self._call(  # type: ignore[no-any-return]
            "PATCH",
            "/api/notifications/preferences",
            body={
                "email": email,
                "sms": sms,
                "push": push,
                "unsubscribedFromAll": unsubscribed_from_all,
                "resubscribe": resubscribe,
            },
        )

    def register_device(
        self,
        *,
        token: Any,
        platform: Any,
        idempotency_key: Any = OMITTED,
    ) -> dict[str, Any]:
        """Register a device for push messages. For anybody signed in."""
        return self._call(  # type: ignore[no-any-return]
            "POST",
            "/api/notifications/devices",
            body={
                "token": token,
                "platform": platform,
                "idempotencyKey": idempotency_key,
            },
        )

    def remove_device(
        self,
        *,
        token: Any,
    ) -> dict[str, Any]:
        """Remove a device, for example after signing out on it. Repeating it also returns 200. For anybody signed in."""
        return self._call(  # type: ignore[no-any-return]
            "DELETE",
            "/api/notifications/devices",
            body={
                "token": token,
            },
        )
