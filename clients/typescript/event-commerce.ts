// Made from the OpenAPI document; `make clients` writes it anew. Do not edit.
// Every JSON answer is an Envelope; branch on `shortMessage`.

export interface Envelope<Data> {
  status: "success"; success: true; statusCode: "00000"; message: string; shortMessage: "SUCCESS";
  timestamp: string; requestId: string; data: Data;
}

export interface Refusal {
  status: "error"; success: false; statusCode: string; message: string; shortMessage: ErrorCode;
  timestamp: string; requestId: string; data: Record<string, unknown>;
}

export type ErrorCode =
  | "ALREADY_ADMITTED"
  | "ALREADY_CLAIMED"
  | "ALREADY_DECIDED"
  | "ANSWER_TOO_LATE"
  | "APPLICATIONS_CLOSED"
  | "APPLICATION_STATE"
  | "BAD_REQUEST"
  | "BALANCE_NOT_ZERO"
  | "BLOCK_INVOICED"
  | "BLOCK_MISMATCH"
  | "BODY_BROKEN"
  | "BOOTSTRAP_REFUSED"
  | "BUSY"
  | "CALLBACK_NOT_SIGNED"
  | "CALLBACK_UNREADABLE"
  | "CAMPAIGN_FROZEN"
  | "CAMPAIGN_STARTED"
  | "CAPACITY_COMMITTED"
  | "CAPACITY_EXCEEDED"
  | "CODE_INVALID"
  | "CONFIRMATION_REQUIRED"
  | "CONFLICT"
  | "CURRENT_PASSWORD_WRONG"
  | "DATABASE_UNAVAILABLE"
  | "DIAGNOSTICS_LIMIT"
  | "DOCUMENTS_CLOSED"
  | "DOCUMENTS_MISSING"
  | "DOCUMENT_TOO_LARGE"
  | "DOCUMENT_TYPE_UNSUPPORTED"
  | "EMAIL_NOT_VERIFIED"
  | "EMAIL_NOT_VERIFIED_BY_PROVIDER"
  | "EVENT_CLOSED"
  | "FORBIDDEN"
  | "FORM_EXPIRED"
  | "GONE"
  | "HOST_NOT_TRUSTED"
  | "IDEMPOTENCY_IN_PROGRESS"
  | "IDEMPOTENCY_KEYS_DIFFER"
  | "IDEMPOTENCY_KEY_REUSED"
  | "IDENTITY_LINKED_ELSEWHERE"
  | "IDENTITY_REJECTED"
  | "IMAGE_KIND_UNSUPPORTED"
  | "IMAGE_TOO_LARGE"
  | "IMAGE_TOO_MANY_PIXELS"
  | "IMAGE_UNREADABLE"
  | "IMPORT_REJECTED"
  | "IMPORT_TOO_LARGE"
  | "INSUFFICIENT_FUNDS"
  | "INSUFFICIENT_SLOTS"
  | "INSUFFICIENT_STOCK"
  | "INSUFFICIENT_TICKETS"
  | "INTERNAL_ERROR"
  | "INVALID_CREDENTIALS"
  | "INVITE_DECIDED"
  | "INVITE_EXPIRED"
  | "INVITE_USED"
  | "INVITE_WITHDRAWN"
  | "INVOICE_ADDRESS_MISSING"
  | "INVOICE_NOT_ISSUED"
  | "LAST_SIGN_IN_METHOD"
  | "LINK_EXPIRED"
  | "LINK_USED"
  | "MAIL_LIMIT_REACHED"
  | "MALFORMED_JSON"
  | "MERCHANT_DELETED"
  | "MERCHANT_PAUSED"
  | "METHOD_NOT_ALLOWED"
  | "METRICS_CLOSED"
  | "NOTHING_DUE"
  | "NOTHING_TO_INVOICE"
  | "NOTHING_UNCERTAIN"
  | "NOT_A_SPREADSHEET"
  | "NOT_CANCELLABLE"
  | "NOT_CLAIMED"
  | "NOT_FOUND"
  | "NOT_PUBLISHABLE"
  | "NOT_READY"
  | "NOT_WITHDRAWABLE"
  | "NO_ANSWER"
  | "NO_OPEN_SHIFT"
  | "NO_SLOTS_LEFT"
  | "NO_WAY_TO_YOU"
  | "OTP_WRONG"
  | "PACK_NOT_READY"
  | "PARTY_TOO_SMALL"
  | "PAYLOAD_TOO_LARGE"
  | "PAYMENT_DECLINED"
  | "PAYMENT_EXPIRED"
  | "PAYMENT_IN_PROGRESS"
  | "PAYMENT_NOT_STARTED"
  | "PAYOUT_DETAILS_MISSING"
  | "PAYOUT_IN_PROGRESS"
  | "PAYRAIL_DISABLED"
  | "PAYRAIL_UNAVAILABLE"
  | "PROMO_CODE_EXHAUSTED"
  | "PROVIDER_NOT_CONFIGURED"
  | "PROVIDER_UNAVAILABLE"
  | "QUANTITY_TOO_LARGE"
  | "RATE_LIMITED"
  | "REFRESH_INVALID"
  | "REFRESH_REUSED"
  | "RELEASE_TIME_PASSED"
  | "RESET_TOKEN_INVALID"
  | "ROLE_NOT_ALLOWED"
  | "SENDER_NOT_VERIFIED"
  | "SERVICE_UNAVAILABLE"
  | "SESSION_ENDED"
  | "SHIFT_CODE_LOCKED"
  | "SHIFT_CODE_WRONG"
  | "SHIFT_OPEN"
  | "SHIFT_TIMES_CROSS"
  | "SKU_TAKEN"
  | "SLOT_RELEASED"
  | "SLOT_REVOKED"
  | "STALE_VERSION"
  | "STOCK_LINK_EXPIRED"
  | "STORAGE_UNAVAILABLE"
  | "STREAMS_FULL"
  | "TICKETS_COMMITTED"
  | "TIER_TOO_HIGH"
  | "TOKEN_EXPIRED"
  | "TOKEN_INVALID"
  | "TOKEN_MISSING"
  | "TOO_MANY_STREAMS"
  | "TOO_MANY_STREAMS_FROM_NETWORK"
  | "UNAUTHORISED"
  | "UNPROCESSABLE"
  | "UNSUPPORTED_MEDIA_TYPE"
  | "URI_TOO_LONG"
  | "VALIDATION_FAILED"
  | "VISIBILITY_NOT_REACHABLE";

export type Act = { "verb": string; "actorId": string | null; "at": string; "details": Record<string, unknown> };

export type ActivatedData = { "accessToken": string; "refreshToken": string; "expiresIn": number; "tokenType": string; "user": Activator; "path": string };

export type ActivationBody = { "name": string; "password": string; "confirmPassword": string; "message": string; "path": string; "email"?: string };

export type ActivationData = { "id": string; "reference": string; "status": "submitted" | "approved" | "awaiting_documents" | "awaiting_payment" | "ready" | "declined" | "activated" | "withdrawn" | "expired"; "businessName": string | null; "eventName": string | null; "organiserName": string | null; "contactEmail": string | null; "expiresAt": string; "steps": Array<Step>; "email": string | null; "name": string | null; "path": string };

export type Activator = { "id": string; "name": string; "email": string; "roles": Array<string>; "phone"?: string };

export type AdjustBodyWithKey = { "delta"?: number | null; "counted"?: number | null; "bucket"?: "onHand" | "reserved" | "damaged"; "reason"?: "received" | "sold" | "waste" | "damage" | "transfer" | "count" | "return" | "correction"; "note"?: string | null; "reference"?: string | null; "occurredAt"?: string | null; "expectedOnHand"?: number | null; "idempotencyKey"?: string };

export type Adjusted = { "name"?: string; "sku"?: string; "imageUrl"?: string | null; "productType"?: string | null; "expiryDate"?: string | null; "category"?: string | null; "brand"?: string | null; "supplier"?: string | null; "barcode"?: string | null; "storageLocation"?: string | null; "batchNumber"?: string | null; "unit"?: string | null; "costPrice"?: number | null; "sellPrice"?: number | null; "taxRate"?: number | null; "parLevel"?: number; "minOrderQty"?: number; "reorderLevel"?: number; "onHand"?: number; "reserved"?: number; "damaged"?: number; "notes"?: string | null; "id": string; "available": number; "onOrder": number; "lowStock": boolean; "version": number; "createdAt": string; "updatedAt": string; "movement": MovementRow };

export type AdminBodyWithKey = { "email": string; "password": string; "name": string; "title"?: string; "bootstrapSecret"?: string; "assignedTier"?: "analyst" | "support" | "admin" | "super_admin"; "idempotencyKey"?: string };

export type AdminData = { "tier": "analyst" | "support" | "admin" | "super_admin"; "title"?: string | null };

export type AdmitBodyWithKey = { "nonce"?: string | null; "gate"?: string | null; "occurredAt"?: string | null; "count"?: number | null; "idempotencyKey"?: string };

export type AdmittedData = { "slotId": string; "status": "available" | "invited" | "claimed" | "admitted" | "revoked" | "released"; "name": string | null; "email": string | null; "phone": string | null; "code": string | null; "ticketTypeId": string; "blockId": string; "partyId": string | null; "partySize": number; "version": number; "admittedAt": string; "gate": string | null; "admittedBy": string | null; "count": number; "slotIds": Array<string> };

export type AllocationData = { "id": string; "eventId": string; "ticketTypeId": string; "ticketTypeName": string; "name": string | null; "kind": "sponsor" | "artist" | "press" | "staff" | "group"; "status": "open" | "released" | "cancelled" | "exhausted"; "holder": HolderData; "quantity": number; "held": number; "available": number; "invited": number; "claimed": number; "admitted": number; "revoked": number; "released": number; "currency": string; "unitPriceMinor": number; "subtotalMinor": number; "discountMinor": number; "vatMinor": number; "totalMinor": number; "promoCode": string | null; "releaseAt": string | null; "notes": string | null; "allocatorLink": AllocationLinkData; "openLink": AllocationLinkData; "invoice": InvoiceShort | null; "version": number; "createdAt": string; "updatedAt": string; "slots": Array<SlotData>; "pagination": Pagination };

export type AllocationLinkData = { "url": string | null; "status": "active" | "expired" | "used_up" | "revoked" | "none"; "remaining": number; "expiresAt"?: string | null; "maxClaims"?: number | null; "maxPerClaim"?: number; "claims"?: number };

export type AllocationPage = { "allocations": Array<AllocationRow>; "pagination": Pagination };

export type AllocationRow = { "id": string; "eventId": string; "ticketTypeId": string; "ticketTypeName": string; "name": string | null; "kind": "sponsor" | "artist" | "press" | "staff" | "group"; "status": "open" | "released" | "cancelled" | "exhausted"; "holder": HolderData; "quantity": number; "held": number; "available": number; "invited": number; "claimed": number; "admitted": number; "revoked": number; "released": number; "currency": string; "unitPriceMinor": number; "subtotalMinor": number; "discountMinor": number; "vatMinor": number; "totalMinor": number; "promoCode": string | null; "releaseAt": string | null; "notes": string | null; "allocatorLink": AllocationLinkData; "openLink": AllocationLinkData; "invoice": InvoiceShort | null; "version": number; "createdAt": string; "updatedAt": string };

export type AllocatorBodyWithKey = { "name"?: string; "email"?: string; "phone"?: string | null; "delivery"?: "e_ticket" | "will_call"; "quantity"?: number; "allowDuplicates"?: boolean; "slotId"?: string; "action"?: "hand_out" | "rename" | "take_back"; "idempotencyKey"?: string };

export type AllocatorData = { "eventName": string; "venue": string; "city": string; "startsAt": string; "endsAt": string; "timezone": string; "organiserName": string; "contactEmail": string; "ticketTypeName": string; "holderOrganisation": string | null; "releaseAt": string | null; "id": string; "name": string | null; "quantity": number; "available": number; "invited": number; "claimed": number; "admitted": number; "slots": Array<SlotData>; "pagination": Pagination };

export type AnswerBody = { "status"?: "accepted" | "declined"; "message"?: string | null };

export type AppleBody = { "identity_token": string; "email"?: string; "full_name"?: string; "nonce"?: string };

export type ApplicationBody = { "amountMinor": number; "destination": "payrail" | "bank"; "mode": "now" | "schedule"; "scheduledFor"?: string; "payrailMsisdn"?: string; "idempotencyKey"?: string; "eventId"?: string; "inviteSlug"?: string; "businessName"?: string; "contactName"?: string; "email"?: string; "phone"?: string; "stallType"?: string; "products"?: string; "description"?: string; "website"?: string };

export type ApplicationLinkData = { "purpose": "documents" | "payment" | "activation"; "url": string; "expiresAt": string; "mailedTo": string | null };

export type ApplicationPage = { "applications": Array<ApplicationRow>; "pagination": Pagination };

export type ApplicationRow = { "id": string; "reference": string; "version": number; "status": "submitted" | "approved" | "awaiting_documents" | "awaiting_payment" | "ready" | "declined" | "activated" | "withdrawn" | "expired"; "eventId": string | null; "eventName": string | null; "inviteSlug": string | null; "businessName": string | null; "contactName": string | null; "email": string | null; "phone": string | null; "stallType": string | null; "products": string | null; "description": string | null; "website": string | null; "amountMinor": number; "destination": string; "mode": string; "scheduledFor": string | null; "payrailMsisdn": string | null; "decision": "approved" | "declined" | null; "declineReason": string | null; "decidedAt": string | null; "documents": Array<DocumentData>; "documentsSubmittedAt": string | null; "payment": FeeData; "requirements": Array<Requirement>; "activatedAt": string | null; "createdAt": string; "updatedAt": string; "reviewerNotes"?: string | null; "riskLevel"?: "low" | "medium" | "high" | null; "decidedBy"?: string | null; "activationMessage"?: string | null };

export type AudienceBody = { "name"?: string; "templateId"?: string; "title"?: string; "body"?: string; "href"?: string | null; "imageUrl"?: string | null; "bannerUrl"?: string | null; "channels"?: Array<"email" | "sms" | "push"> | string; "abTestEnabled"?: boolean; "variantBTitle"?: string | null; "variantBBody"?: string | null; "abSplitPercent"?: number; "scheduledAt"?: string | null; "sendNow"?: boolean; "audienceType"?: "event_ticket_holders" | "specific_users"; "userIds"?: Array<string> | string; "respectPreferences"?: boolean };

export type AudienceData = { "type": string; "total": number; "people": number | null; "reachable": Reachable | null; "excluded": Excluded | null; "variants": Split | null };

export type AvailabilityData = { "balanceMinor": number; "heldMinor": number; "availableMinor": number; "currency": string; "nextPayoutAt": string | null; "payable"?: boolean; "reasons"?: Array<"EMAIL_NOT_VERIFIED" | "MERCHANT_PAUSED" | "PAYOUT_DETAILS_MISSING" | "INSUFFICIENT_FUNDS" | "PAYRAIL_DISABLED"> };

export type BlockBodyWithKey = { "ticketTypeId"?: string; "quantity"?: number; "name"?: string | null; "kind"?: "sponsor" | "artist" | "press" | "staff" | "group"; "holder"?: Holder | null; "unitPriceMinor"?: number | null; "promoCode"?: string | null; "releaseAt"?: string | null; "notes"?: string | null; "idempotencyKey"?: string };

export type BroadcastData = { "campaignId": string; "status": string; "scheduledAt": string | null; "audience": AudienceData; "version": number };

export type BulkDiscount = { "minQuantity": number; "percentOff": number };

export type CampaignChanges = { "name"?: string; "templateId"?: string; "title"?: string; "body"?: string; "href"?: string | null; "imageUrl"?: string | null; "bannerUrl"?: string | null; "channels"?: Array<"email" | "sms" | "push"> | string; "abTestEnabled"?: boolean; "variantBTitle"?: string | null; "variantBBody"?: string | null; "abSplitPercent"?: number; "scheduledAt"?: string | null; "sendNow"?: boolean; "audienceType"?: "event_ticket_holders" | "specific_users"; "userIds"?: Array<string> | string; "respectPreferences"?: boolean };

export type CampaignChangesWithKey = { "name"?: string; "templateId"?: string; "title"?: string; "body"?: string; "href"?: string | null; "imageUrl"?: string | null; "bannerUrl"?: string | null; "channels"?: Array<"email" | "sms" | "push"> | string; "abTestEnabled"?: boolean; "variantBTitle"?: string | null; "variantBBody"?: string | null; "abSplitPercent"?: number; "scheduledAt"?: string | null; "sendNow"?: boolean; "audienceType"?: "event_ticket_holders" | "specific_users"; "userIds"?: Array<string> | string; "respectPreferences"?: boolean; "idempotencyKey"?: string };

export type CampaignDataChosen = { "id": string; "eventId"?: string; "name"?: string; "status"?: string; "templateId"?: string; "title"?: string; "body"?: string; "href"?: string | null; "imageUrl"?: string | null; "bannerUrl"?: string | null; "channels"?: Array<string>; "abTestEnabled"?: boolean; "variantBTitle"?: string | null; "variantBBody"?: string | null; "abSplitPercent"?: number; "audienceType"?: string; "userIds"?: Array<string>; "respectPreferences"?: boolean; "scheduledAt"?: string | null; "startedAt"?: string | null; "finishedAt"?: string | null; "audience"?: AudienceData | null; "progress"?: Figures; "variants"?: Variants; "copiedFrom"?: string | null; "version"?: number; "createdAt"?: string; "updatedAt"?: string; "history"?: Array<Act> };

export type CampaignPage = { "campaigns": Array<CampaignRow>; "pagination": Pagination };

export type CampaignRow = { "id": string; "eventId": string; "name": string; "status": string; "templateId": string; "title": string; "body": string; "href": string | null; "imageUrl": string | null; "bannerUrl": string | null; "channels": Array<string>; "abTestEnabled": boolean; "variantBTitle": string | null; "variantBBody": string | null; "abSplitPercent": number; "audienceType": string; "userIds": Array<string>; "respectPreferences": boolean; "scheduledAt": string | null; "startedAt": string | null; "finishedAt": string | null; "audience": AudienceData | null; "progress": Figures; "variants": Variants; "copiedFrom": string | null; "version": number; "createdAt": string; "updatedAt": string };

export type ChangePasswordBody = { "currentPassword": string; "newPassword": string };

export type Channels = { "email"?: boolean; "sms"?: boolean; "push"?: boolean };

export type CheckoutBody = { "status": "checked_in" | "on_break" | "checked_out"; "crewMemberId"?: string | null; "occurredAt"?: string | null };

export type CheckoutData = { "status": "checked_in" | "on_break" | "checked_out"; "shifts": Array<ShiftData> };

export type ClaimBodyWithKey = { "name"?: string; "email"?: string; "phone"?: string | null; "delivery"?: "e_ticket" | "will_call"; "quantity"?: number; "idempotencyKey"?: string };

export type ClaimOffer = { "eventName": string; "venue": string; "city": string; "startsAt": string; "endsAt": string; "timezone": string; "organiserName": string; "contactEmail": string; "ticketTypeName": string; "holderOrganisation": string | null; "releaseAt": string | null; "status": "invited" | "available"; "via": "code" | "invite" | "allocator" | "open" | "pack"; "name"?: string | null; "email"?: string | null; "phone"?: string | null; "remaining": number; "maxPerClaim": number; "expiresAt"?: string | null };

export type ClaimedData = { "slotId": string; "status": "available" | "invited" | "claimed" | "admitted" | "revoked" | "released"; "code"?: string | null; "name": string | null; "email": string | null; "phone": string | null; "delivery"?: "e_ticket" | "will_call" | null; "quantity"?: number; "slots"?: Array<ClaimedSlot>; "claimedAt"?: string | null; "eventName"?: string; "ticketTypeName"?: string };

export type ClaimedSlot = { "slotId": string; "code": string };

export type CodeBody = { "email": string; "code": string };

export type CodeData = { "slotId": string; "code": string; "status"?: "available" | "invited" | "claimed" | "admitted" | "revoked" | "released"; "name"?: string | null; "email"?: string | null };

export type CodesBodyWithKey = { "count"?: number | null; "idempotencyKey"?: string };

export type CodesData = { "codes": Array<CodeData>; "claimUrl": string };

export type CompleteResetBody = { "email": string; "resetToken": string; "password": string };

export type CreditNote = { "number": string; "issuedAt": string; "totalMinor": number };

export type CrewBody = { "crew"?: Array<CrewEntry> };

export type CrewData = { "crew": Array<CrewRow>; "version": number };

export type CrewEntry = { "id"?: string | null; "name": string; "phone"?: string | null; "email"?: string | null; "role"?: string | null; "pin"?: string | null; "rotateCode"?: boolean };

export type CrewRow = { "id": string; "name": string; "phone": string | null; "email": string | null; "role": string | null; "shiftCode"?: string; "shiftCodeQr"?: string };

export type CustomerBodyWithKey = { "email": string; "password": string; "firstName": string; "lastName": string; "phone"?: string; "idempotencyKey"?: string };

export type Day = { "date": string; "shifts": number; "workedMinutes": number; "breakMinutes": number };

export type DayStats = { "sold": number; "allocated": number; "invited": number; "claimed": number; "admitted": number; "revoked": number; "released": number; "revenueMinor": number; "day": string; "ticketTypeId": string };

export type DecisionBody = { "decision": "approved" | "declined"; "declineReason"?: string; "reviewerNotes"?: string; "riskLevel"?: "low" | "medium" | "high"; "documentsRequired"?: Array<"identity" | "business_registration" | "tax_clearance" | "food_safety"> };

export type DeleteBody = { "currentPassword": string; "confirmation": unknown };

export type DeletedData = { "status": "active" | "paused" | "deleted"; "moneyMayReturnUntil": string | null };

export type DeviceBodyWithKey = { "token": string; "platform": "android" | "ios" | "web"; "idempotencyKey"?: string };

export type DeviceData = { "id": string; "platform": string; "createdAt": string; "seenAt": string };

export type DeviceGoneBody = { "token": string };

export type DirectoryInvitesBodyWithKey = { "message"?: string | null; "stallType"?: string | null; "feeMinor"?: number | null; "expiresAt"?: string | null; "merchantIds"?: Array<string>; "withdraw"?: boolean; "idempotencyKey"?: string };

export type DirectoryPage = { "merchants": Array<DirectoryRow>; "pagination": Pagination };

export type DirectoryRow = { "id": string; "businessName": string; "stallName": string | null; "category": string | null; "city": string | null; "inviteStatus": "pending" | "accepted" | "declined" | "withdrawn" | "expired"; "takesPart": boolean };

export type DiscoverPagination = { "limit": number; "nextCursor": string | null };

export type Discovered = { "events": Array<EventSummary>; "pagination": DiscoverPagination; "suggestions"?: Array<string> };

export type DocumentData = { "kind": "identity" | "business_registration" | "tax_clearance" | "food_safety"; "label": string; "required": boolean; "status": "missing" | "uploaded"; "fileName"?: string; "contentType"?: string; "bytes"?: number; "uploadedAt"?: string; "url"?: string; "urlExpiresAt"?: string };

export type DocumentsBody = { "identity"?: string; "business_registration"?: string; "tax_clearance"?: string; "food_safety"?: string; "submit"?: boolean };

export type DocumentsData = { "id": string; "reference": string; "status": "submitted" | "approved" | "awaiting_documents" | "awaiting_payment" | "ready" | "declined" | "activated" | "withdrawn" | "expired"; "businessName": string | null; "eventName": string | null; "organiserName": string | null; "contactEmail": string | null; "expiresAt": string; "steps": Array<Step>; "documents": Array<DocumentData>; "submittedAt": string | null };

export type EmailBody = { "email": string };

export type Empty = Record<string, never>;

export type Ended = { "organiserId": string; "name": string; "since": string };

export type EventChanges = { "name"?: string; "description"?: string | null; "coverImageUrl"?: string | null; "posterImageUrl"?: string | null; "city"?: string; "venue"?: string; "country"?: string; "latitude"?: number | null; "longitude"?: number | null; "timezone"?: string; "startsAt"?: string; "endsAt"?: string; "startDate"?: string; "endDate"?: string; "salesEndAt"?: string | null; "visibility"?: "draft" | "published" | "unlisted" | "archived" | "cancelled"; "publishAt"?: string | null; "capacity"?: number | null; "category"?: "music" | "food" | "arts" | "sport" | "business" | "community" | "family" | "other" | null; "keywords"?: Array<string> | string | null; "isCashless"?: boolean; "allowedPaymentOptionSlugs"?: Array<string> | string | null; "ticketTypes"?: Array<TicketTypeShape> | null; "promoCodes"?: Array<PromoCode> | null; "bulkDiscounts"?: Array<BulkDiscount> | null; "paymentMethodDiscounts"?: Array<PaymentMethodDiscount> | null; "sponsors"?: Array<Sponsor> | null; "stallTypes"?: Array<StallType> | null; "tables"?: Array<Table> | null; "lineup"?: Array<LineupEntry> | null; "promotion"?: Promotion | null };

export type EventData = { "id": string; "version": number; "organiserId": string; "name": string; "description": string | null; "coverImageUrl": string | null; "posterImageUrl": string | null; "venue": string; "city": string; "country": string; "latitude": number | null; "longitude": number | null; "timezone": string; "startsAt": string; "endsAt": string; "salesEndAt": string | null; "visibility": "draft" | "published" | "unlisted" | "archived" | "cancelled"; "publishAt": string | null; "capacity": number | null; "category": "music" | "food" | "arts" | "sport" | "business" | "community" | "family" | "other" | null; "keywords": Array<string>; "isCashless": boolean; "allowedPaymentOptionSlugs": Array<string>; "currency": "NAD"; "ticketTypes": Array<OwnTicketTypeData>; "promoCodes": Array<PromoCode>; "bulkDiscounts": Array<BulkDiscount>; "paymentMethodDiscounts": Array<PaymentMethodDiscount>; "sponsors": Array<Sponsor>; "stallTypes": Array<StallType>; "tables": Array<Table>; "lineup": Array<LineupEntry>; "promotion": Record<string, unknown> | null; "createdAt": string; "updatedAt": string };

export type EventDataChosen = { "id": string; "version"?: number; "organiserId"?: string; "name"?: string; "description"?: string | null; "coverImageUrl"?: string | null; "posterImageUrl"?: string | null; "venue"?: string; "city"?: string; "country"?: string; "latitude"?: number | null; "longitude"?: number | null; "timezone"?: string; "startsAt"?: string; "endsAt"?: string; "salesEndAt"?: string | null; "visibility"?: "draft" | "published" | "unlisted" | "archived" | "cancelled"; "publishAt"?: string | null; "capacity"?: number | null; "category"?: "music" | "food" | "arts" | "sport" | "business" | "community" | "family" | "other" | null; "keywords"?: Array<string>; "isCashless"?: boolean; "allowedPaymentOptionSlugs"?: Array<string>; "currency"?: "NAD"; "ticketTypes"?: Array<OwnTicketTypeData>; "promoCodes"?: Array<PromoCode>; "bulkDiscounts"?: Array<BulkDiscount>; "paymentMethodDiscounts"?: Array<PaymentMethodDiscount>; "sponsors"?: Array<Sponsor>; "stallTypes"?: Array<StallType>; "tables"?: Array<Table>; "lineup"?: Array<LineupEntry>; "promotion"?: Record<string, unknown> | null; "createdAt"?: string; "updatedAt"?: string };

export type EventPage = { "events": Array<EventRow>; "pagination": Pagination };

export type EventRow = { "id": string; "name": string; "city": string; "venue": string; "startsAt": string; "coverImageUrl": string; "isCashless": boolean; "country": string; "timezone": string; "endsAt": string; "category": "music" | "food" | "arts" | "sport" | "business" | "community" | "family" | "other" | null; "visibility": "draft" | "published" | "unlisted" | "archived" | "cancelled"; "publishAt": string | null; "version": number };

export type EventSummary = { "id": string; "name": string; "city": string; "venue": string; "startsAt": string; "coverImageUrl": string; "isCashless": boolean };

export type Excluded = { "optedOut": number; "noAddress": number; "suppressed": number; "duplicate": number; "notRelated": number };

export type FeeData = { "amountMinor": number; "currency": string; "status": string; "paymentId"?: string | null; "dueAt"?: string | null; "paidAt"?: string | null };

export type Figures = { "total": number; "sent": number; "failed": number; "suppressed": number; "uncertain": number; "pending": number; "clicked": number };

export type FloorStatusBody = { "status": "open" | "busy" | "paused" | "closed"; "eventId"?: string };

export type FloorStatusData = { "status": "open" | "busy" | "paused" | "closed"; "eventIds": Array<string> };

export type GoogleBody = { "id_token": string; "nonce"?: string };

export type Health = { "ok": boolean };

export type Holder = { "name"?: string | null; "email"?: string | null; "phone"?: string | null; "organisation"?: string | null };

export type HolderData = { "name": string | null; "email": string | null; "phone": string | null; "organisation": string | null };

export type IdentitiesData = { "identities": Array<IdentityData> };

export type IdentityData = { "provider": "apple" | "google"; "linkedAt": string };

export type ImportData = { "created"?: number; "updated"?: number; "unchanged"?: number; "errors"?: Array<RowErrorData>; "errorCount"?: number; "errorsUrl"?: string; "alreadyImportedAt"?: string; "jobId"?: string; "status"?: string; "progress"?: number };

export type Inventory = { "eventId": string; "currency": "NAD"; "salesEndAt": string; "ticketTypes": Array<TypeInventory> };

export type InviteBodyWithKey = { "recipients"?: Array<Recipient>; "name"?: string; "email"?: string; "phone"?: string | null; "allowDuplicates"?: boolean; "dryRun"?: boolean; "idempotencyKey"?: string };

export type InvitePage = { "invites": Array<InviteRow>; "pagination": Pagination };

export type InviteRow = { "stallType": string | null; "feeMinor": number | null; "message": string | null; "expiresAt": string; "organiserName": string; "city": string; "venue": string; "country": string; "timezone": string; "startsAt": string; "endsAt": string; "eventId": string; "eventName": string; "id": string; "status": "pending" | "accepted" | "declined" | "withdrawn" | "expired"; "reply": string | null; "automatic": boolean; "createdAt": string; "decidedAt": string | null; "version": number };

export type Invited = { "merchantId": string; "inviteId": string | null; "status": "pending" | "accepted" | "declined" | "withdrawn" | "expired" };

export type InvitedData = { "invited"?: Array<Invited>; "alreadyInvited"?: Array<Invited>; "unavailable"?: Array<string>; "withdrawn"?: Array<Invited> };

export type InvitedGuest = { "slotId"?: string; "name": string; "email": string; "url"?: string; "reason"?: "ALREADY_INVITED" | "LISTED_TWICE" };

export type InvitesData = { "invited": Array<InvitedGuest>; "duplicates": Array<InvitedGuest>; "available": number; "dryRun": boolean };

export type InvoiceData = { "number": string; "status": "issued" | "credited"; "issuedAt": string; "totalMinor": number; "creditedMinor": number; "creditNotes": Array<CreditNote> };

export type InvoiceShort = { "number": string; "status": string; "totalMinor": number };

export type ItemChanges = { "name"?: string; "sku"?: string; "imageUrl"?: string | null; "productType"?: string | null; "expiryDate"?: string | null; "category"?: string | null; "brand"?: string | null; "supplier"?: string | null; "barcode"?: string | null; "storageLocation"?: string | null; "batchNumber"?: string | null; "unit"?: string | null; "costPrice"?: number | null; "sellPrice"?: number | null; "taxRate"?: number | null; "parLevel"?: number; "minOrderQty"?: number; "reorderLevel"?: number; "onHand"?: number; "reserved"?: number; "damaged"?: number; "notes"?: string | null };

export type ItemPage = { "items": Array<ItemRow>; "pagination": Pagination };

export type ItemRow = { "name"?: string; "sku"?: string; "imageUrl"?: string | null; "productType"?: string | null; "expiryDate"?: string | null; "category"?: string | null; "brand"?: string | null; "supplier"?: string | null; "barcode"?: string | null; "storageLocation"?: string | null; "batchNumber"?: string | null; "unit"?: string | null; "costPrice"?: number | null; "sellPrice"?: number | null; "taxRate"?: number | null; "parLevel"?: number; "minOrderQty"?: number; "reorderLevel"?: number; "onHand"?: number; "reserved"?: number; "damaged"?: number; "notes"?: string | null; "id": string; "available": number; "onOrder": number; "lowStock": boolean; "version": number; "createdAt": string; "updatedAt": string };

export type ItemRowChosen = { "name"?: string; "sku"?: string; "imageUrl"?: string | null; "productType"?: string | null; "expiryDate"?: string | null; "category"?: string | null; "brand"?: string | null; "supplier"?: string | null; "barcode"?: string | null; "storageLocation"?: string | null; "batchNumber"?: string | null; "unit"?: string | null; "costPrice"?: number | null; "sellPrice"?: number | null; "taxRate"?: number | null; "parLevel"?: number; "minOrderQty"?: number; "reorderLevel"?: number; "onHand"?: number; "reserved"?: number; "damaged"?: number; "notes"?: string | null; "id": string; "available"?: number; "onOrder"?: number; "lowStock"?: boolean; "version"?: number; "createdAt"?: string; "updatedAt"?: string };

export type LineData = { "description": string; "quantity": number; "unitPriceMinor": number; "amountMinor": number };

export type LineupEntry = { "name": string; "stage"?: string | null; "startsAt"?: string | null; "endsAt"?: string | null; "imageUrl"?: string | null };

export type LinkBody = { "rotate"?: boolean; "revoke"?: boolean };

export type LinkBodyWithKey = { "purpose": "documents" | "payment" | "activation"; "idempotencyKey"?: string };

export type LinkData = { "stallType": string | null; "feeMinor": number | null; "message": string | null; "expiresAt": string; "id": string; "eventId": string; "slug": string; "url": string; "state": "open" | "expired" | "used_up" | "withdrawn"; "email": string | null; "businessName": string | null; "maxUses": number | null; "uses": number; "mailed"?: boolean; "alreadyInvited"?: boolean };

export type LoginBody = { "email": string; "password": string; "refreshToken"?: string };

export type LogsBody = { "client"?: string; "events": Array<Record<string, unknown>> };

export type MailInvoiceBodyWithKey = { "to"?: string; "idempotencyKey"?: string };

export type MailedInvoice = { "number": string; "to": string };

export type Me = { "id": string; "name": string; "email": string; "roles": Array<string>; "phone"?: string; "emailVerified": boolean; "organiser"?: OrganiserData; "merchant"?: MerchantData; "admin"?: AdminData };

export type MerchantAccount = { "id": string; "name": string; "email": string; "roles": Array<string>; "phone"?: string; "emailVerified": boolean; "status": "active" | "paused" | "deleted"; "businessName": string | null; "stallName": string | null; "category": string | null; "city": string | null; "payoutDetails": PayoutDetails; "settings": SettingsBody; "floorStatus": "open" | "busy" | "paused" | "closed"; "version": number };

export type MerchantAccountChosen = { "id": string; "name"?: string; "email"?: string; "roles"?: Array<string>; "phone"?: string; "emailVerified"?: boolean; "status"?: "active" | "paused" | "deleted"; "businessName"?: string | null; "stallName"?: string | null; "category"?: string | null; "city"?: string | null; "payoutDetails"?: PayoutDetails; "settings"?: SettingsBody; "floorStatus"?: "open" | "busy" | "paused" | "closed"; "version"?: number };

export type MerchantBodyWithKey = { "email": string; "password": string; "name": string; "businessName": string; "stallName"?: string; "phone"?: string; "idempotencyKey"?: string };

export type MerchantChanges = { "name"?: string; "phone"?: string | null; "businessName"?: string; "stallName"?: string | null; "category"?: string | null; "city"?: string | null; "payoutDetails": PayoutDetails; "settings": SettingsBody };

export type MerchantData = { "businessName": string; "stallName"?: string | null };

export type MerchantInviteBodyWithKey = { "message"?: string | null; "stallType"?: string | null; "feeMinor"?: number | null; "expiresAt"?: string | null; "email"?: string | null; "businessName"?: string | null; "maxUses"?: number | null; "slug"?: string; "revoke"?: boolean; "idempotencyKey"?: string };

export type MoveBodyWithKey = { "toBlockId"?: string; "quantity"?: number; "idempotencyKey"?: string };

export type MoveData = { "from": AllocationRow; "to": AllocationRow };

export type MovementPage = { "movements": Array<MovementRow>; "pagination": Pagination };

export type MovementRow = { "id": string; "itemId": string; "bucket": string; "delta": number; "onHandAfter": number; "reason": string; "note": string | null; "reference": string | null; "counted": number | null; "occurredAt": string; "recordedAt": string; "actor": string | null };

export type NewCampaignWithKey = { "name": string; "templateId": string; "title": string; "body": string; "href"?: string | null; "imageUrl"?: string | null; "bannerUrl"?: string | null; "channels": Array<"email" | "sms" | "push"> | string; "abTestEnabled"?: boolean; "variantBTitle"?: string | null; "variantBBody"?: string | null; "abSplitPercent"?: number; "scheduledAt"?: string | null; "sendNow": boolean; "audienceType": "event_ticket_holders" | "specific_users"; "userIds"?: Array<string> | string; "respectPreferences": boolean; "idempotencyKey"?: string };

export type NewEvent = { "name": string; "description"?: string | null; "coverImageUrl"?: string | null; "posterImageUrl"?: string | null; "city": string; "venue": string; "country": string; "latitude"?: number | null; "longitude"?: number | null; "timezone"?: string; "startsAt"?: string; "endsAt"?: string; "startDate": string; "endDate": string; "salesEndAt"?: string | null; "visibility"?: "draft" | "published" | "unlisted" | "archived" | "cancelled"; "publishAt"?: string | null; "capacity"?: number | null; "category"?: "music" | "food" | "arts" | "sport" | "business" | "community" | "family" | "other" | null; "keywords"?: Array<string> | string | null; "isCashless"?: boolean; "allowedPaymentOptionSlugs"?: Array<string> | string | null; "ticketTypes"?: Array<TicketTypeShape> | null; "promoCodes"?: Array<PromoCode> | null; "bulkDiscounts"?: Array<BulkDiscount> | null; "paymentMethodDiscounts"?: Array<PaymentMethodDiscount> | null; "sponsors"?: Array<Sponsor> | null; "stallTypes"?: Array<StallType> | null; "tables"?: Array<Table> | null; "lineup"?: Array<LineupEntry> | null; "promotion"?: Promotion | null; "idempotencyKey"?: string };

export type NewItemWithKey = { "name": string; "sku": string; "imageUrl"?: string | null; "productType"?: string | null; "expiryDate"?: string | null; "category"?: string | null; "brand"?: string | null; "supplier"?: string | null; "barcode"?: string | null; "storageLocation"?: string | null; "batchNumber"?: string | null; "unit"?: string | null; "costPrice"?: number | null; "sellPrice"?: number | null; "taxRate"?: number | null; "parLevel": number; "minOrderQty": number; "reorderLevel": number; "onHand": number; "reserved": number; "damaged": number; "notes"?: string | null; "idempotencyKey"?: string };

export type OpenLinkBody = { "rotate"?: boolean; "revoke"?: boolean; "maxClaims"?: number | null; "maxPerClaim"?: number | null; "expiresAt"?: string | null };

export type OpenShift = { "id": string; "status": "checked_in" | "on_break" | "checked_out"; "startedAt": string; "onBreakSince": string | null };

export type OrderData = { "id": string | null; "supplier": string | null; "lines": Array<OrderLine>; "totalValue": number; "sheetUrl": string | null };

export type OrderLine = { "itemId": string; "sku": string; "name": string; "unit": string | null; "quantity": number; "costPrice": number | null; "value": number | null };

export type OrganiserBodyWithKey = { "email": string; "password": string; "name": string; "orgName": string; "phone"?: string; "idempotencyKey"?: string };

export type OrganiserData = { "orgName": string };

export type OtpBody = { "code"?: string; "otp"?: string };

export type OwnTicketTypeData = { "id": string; "name": string; "description": string | null; "priceMinor": number; "minPerOrder": number | null; "maxPerOrder": number | null; "phases": Array<PhaseData>; "quantity": number };

export type PackBodyWithKey = { "count": number; "idempotencyKey"?: string };

export type PackData = { "id": string; "count": number; "status": "queued" | "running" | "done"; "progress": number; "url": string; "createdAt"?: string };

export type PacksData = { "packs": Array<PackData> };

export type Pagination = { "limit": number; "nextCursor": string | null; "total"?: number };

export type PayBody = { "payrailMsisdn"?: string };

export type PaymentData = { "id": string; "reference": string; "status": "not_required" | "due" | "starting" | "otp_required" | "processing" | "paid"; "businessName": string | null; "eventName": string | null; "organiserName": string | null; "contactEmail": string | null; "expiresAt": string; "steps": Array<Step>; "amountMinor": number; "currency": string; "dueAt": string | null; "paidAt": string | null; "payrailMsisdn": string | null; "paymentId"?: string; "expiresIn"?: number; "triesLeft"?: number; "lastFailure"?: "expired" | "declined" };

export type PaymentMethodDiscount = { "slug": string; "percentOff": number };

export type PayoutBody = { "password"?: string; "amountMinor": number; "destination": "payrail" | "bank"; "mode": "now" | "schedule"; "scheduledFor"?: string; "payrailMsisdn"?: string; "idempotencyKey"?: string };

export type PayoutData = { "id": string; "version": number; "status": "scheduled" | "requested" | "processing" | "paid" | "failed" | "returned" | "cancelled" | "needs_review"; "conclusive": boolean; "onHold": boolean; "amountMinor": number; "currency": string; "destination": "payrail" | "bank"; "destinationShown": string; "mode": "now" | "schedule"; "scheduledFor": string | null; "reason": string | null; "heldUntil": string | null; "createdAt": string; "updatedAt": string; "submittedAt": string | null; "settledAt": string | null; "history": Array<PayoutStep> };

export type PayoutDetails = { "destination"?: "payrail" | "bank" | null; "accountName"?: string | null; "accountNumber"?: string | null; "bankName"?: string | null; "branchCode"?: string | null; "msisdn"?: string | null };

export type PayoutPage = { "payoutRequests": Array<PayoutRow>; "pagination": Pagination };

export type PayoutRow = { "id": string; "version": number; "status": "scheduled" | "requested" | "processing" | "paid" | "failed" | "returned" | "cancelled" | "needs_review"; "conclusive": boolean; "onHold": boolean; "amountMinor": number; "currency": string; "destination": "payrail" | "bank"; "destinationShown": string; "mode": "now" | "schedule"; "scheduledFor": string | null; "reason": string | null; "heldUntil": string | null; "createdAt": string; "updatedAt": string; "submittedAt": string | null; "settledAt": string | null };

export type PayoutStep = { "status": "scheduled" | "requested" | "processing" | "paid" | "failed" | "returned" | "cancelled" | "needs_review"; "at": string; "actor": "merchant" | "service" | "rail" | "operator"; "reason": string | null };

export type Phase = { "name": string; "startsAt"?: string | null; "endsAt"?: string | null; "priceMinor": number; "quantity"?: number | null };

export type PhaseData = { "name": string; "startsAt": string | null; "endsAt": string | null; "priceMinor": number; "quantity": number | null };

export type Picture = { "url": string; "width": number; "height": number; "bytes": number };

export type PictureFile = { "file": string };

export type Placeholder = { "name": string; "description": string };

export type PreferencesBody = { "email"?: boolean; "sms"?: boolean; "push"?: boolean; "unsubscribedFromAll"?: boolean; "resubscribe"?: Array<string> };

export type PreferencesData = { "email": boolean; "sms": boolean; "push": boolean; "unsubscribedFromAll": boolean; "unsubscribedFrom": Array<Ended>; "version": number };

export type PreviewData = { "type": string; "total": number; "people": number | null; "reachable": Reachable | null; "excluded": Excluded | null; "variants": Split | null; "sample": Array<Sampled> };

export type PromoCode = { "code": string; "percentOff"?: number | null; "amountOffMinor"?: number | null; "maxUses"?: number | null; "startsAt"?: string | null; "endsAt"?: string | null; "ticketTypeIds"?: Array<string> | null };

export type PromoCodeData = { "code": string; "maxUses": number | null; "used": number; "remaining": number | null };

export type Promotion = { "headline"?: string | null; "body"?: string | null; "href"?: string | null; "imageUrl"?: string | null; "startsAt"?: string | null; "endsAt"?: string | null };

export type PublicEvent = { "id": string; "name": string; "description": string | null; "coverImageUrl": string; "posterImageUrl": string; "venue": string; "city": string; "country": string; "latitude": number | null; "longitude": number | null; "timezone": string; "startsAt": string; "endsAt": string; "salesEndAt": string | null; "category": "music" | "food" | "arts" | "sport" | "business" | "community" | "family" | "other" | null; "keywords": Array<string>; "isCashless": boolean; "allowedPaymentOptionSlugs": Array<string>; "organiserName": string; "currency": "NAD"; "ticketTypes": Array<TicketTypeData>; "bulkDiscounts": Array<BulkDiscount>; "paymentMethodDiscounts": Array<PaymentMethodDiscount>; "sponsors": Array<Sponsor>; "stallTypes": Array<StallType>; "tables": Array<Table>; "lineup": Array<LineupEntry>; "promotion": Record<string, unknown> | null };

export type PublicLinkData = { "stallType": string | null; "feeMinor": number | null; "message": string | null; "expiresAt": string; "organiserName": string; "city": string; "venue": string; "country": string; "timezone": string; "startsAt": string; "endsAt": string; "eventId": string; "eventName": string; "slug": string; "state": "open" | "expired" | "used_up" | "withdrawn"; "businessName": string | null };

export type QuoteBody = { "ticketTypeId"?: string; "quantity"?: number; "name"?: string | null; "kind"?: "sponsor" | "artist" | "press" | "staff" | "group"; "holder"?: Holder | null; "unitPriceMinor"?: number | null; "promoCode"?: string | null; "releaseAt"?: string | null; "notes"?: string | null };

export type QuoteData = { "ticketTypeId": string; "quantity": number; "currency": string; "unitPriceMinor": number; "lines": Array<LineData>; "subtotalMinor": number; "discountMinor": number; "vatMinor": number; "vatPercent": number; "totalMinor": number; "available": number; "fits": boolean; "promoCode": PromoCodeData | null };

export type Reachable = { "email": number; "sms": number; "push": number };

export type Readiness = { "ready": boolean; "database": "up" | "down"; "migrations": "current" | "pending" | "unknown"; "payrail": "live" | "mock" | "disabled"; "payrailLink"?: "up" | "down"; "redis": "up" | "down"; "relay": "up" | "down"; "workers": number };

export type Recipient = { "name": string; "email"?: string | null; "phone"?: string | null };

export type RecipientPage = { "recipients": Array<RecipientRow>; "pagination": Pagination };

export type RecipientRow = { "id": string; "channel": string; "name": string | null; "address": string; "variant": string; "state": string; "reason": string | null; "settledAt": string | null };

export type RefreshBody = { "refreshToken": string };

export type ReleaseBodyWithKey = { "quantity"?: number | null; "dryRun"?: boolean; "idempotencyKey"?: string };

export type ReleaseData = { "released": number; "publicAvailableBefore": number; "publicAvailableAfter": number; "dryRun": boolean };

export type RemindBodyWithKey = { "slotIds"?: Array<string>; "idempotencyKey"?: string };

export type RemindData = { "reminded": Array<RemindedRow>; "skipped": Array<RemindedRow> };

export type RemindedRow = { "slotId": string; "name"?: string | null; "email"?: string | null; "reason"?: string; "remindedAt"?: string };

export type ReminderChanges = { "enabled"?: boolean; "frequency"?: "daily" | "weekly"; "hour"?: number; "weekday"?: "monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday" | "sunday"; "recipients"?: Array<string>; "expiringWithinDays"?: number; "includeLowStock"?: boolean; "includeExpiring"?: boolean };

export type ReminderData = { "enabled": boolean; "frequency": string; "hour": number; "weekday": string; "recipients": Array<string>; "expiringWithinDays": number; "includeLowStock": boolean; "includeExpiring": boolean; "nextAt": string | null; "version": number };

export type Removed = { "id": string; "outcome": "deleted" | "cancelled" };

export type RemovedData = { "removed": boolean };

export type ReorderBodyWithKey = { "itemIds"?: Array<string> | null; "dryRun"?: boolean; "idempotencyKey"?: string };

export type Reordered = { "dryRun": boolean; "items": number; "more": boolean; "orders": Array<OrderData> };

export type ReportData = { "type"?: "summary" | "valuation" | "movements" | "expiry" | "reorder"; "currency"?: string; "generatedAt"?: string; "bookedUntil"?: string | null; "eventId"?: string; "eventName"?: string; "from"?: string; "to"?: string; "withinDays"?: number; "totals"?: Record<string, unknown>; "rowCount"?: number; "items"?: Array<Record<string, unknown>>; "categories"?: Array<Record<string, unknown>>; "suppliers"?: Array<Record<string, unknown>>; "days"?: Array<Record<string, unknown>>; "reasons"?: Array<Record<string, unknown>>; "variances"?: Array<Record<string, unknown>>; "periods"?: Array<Record<string, unknown>>; "jobId"?: string; "kind"?: string; "status"?: "queued" | "running" | "done" | "failed"; "progress"?: number; "result"?: Record<string, unknown>; "downloadUrl"?: string; "error"?: string };

export type Requirement = { "code": string; "kind"?: "identity" | "business_registration" | "tax_clearance" | "food_safety"; "message": string };

export type ResendBodyWithKey = { "recipientIds"?: Array<string>; "idempotencyKey"?: string };

export type Resent = { "campaignId": string; "resent": number };

export type ResetTokenData = { "resetToken": string; "expiresIn": number };

export type ResumeBody = { "currentPassword": string; "confirmation": unknown };

export type RevokeBodyWithKey = { "returnTo"?: "block" | "public"; "idempotencyKey"?: string };

export type RevokedData = { "id": string; "status": "available" | "invited" | "claimed" | "admitted" | "revoked" | "released"; "via": "code" | "invite" | "allocator" | "open" | "pack" | null; "name": string | null; "email": string | null; "phone": string | null; "code": string | null; "delivery": "e_ticket" | "will_call" | null; "partyId": string | null; "partySize": number; "version": number; "remindedAt": string | null; "claimedAt": string | null; "admittedAt": string | null; "gate": string | null; "endedAt": string | null; "returnTo": "block" | "public" };

export type RowErrorData = { "row": number; "column": string; "code": string; "message": string; "value": string };

export type Sampled = { "name": string | null; "email": string; "tickets": number; "channels": Array<string> };

export type SettingsBody = { "language"?: string; "notifications"?: Channels; "timezone"?: string; "autoAcceptInvites"?: boolean };

export type ShiftData = { "id": string; "crewMemberId": string; "name": string; "status": "checked_in" | "on_break" | "checked_out"; "startedAt": string; "onBreakSince": string | null; "endedAt": string | null; "automatic": boolean };

export type SignedInData = { "accessToken": string; "refreshToken": string; "expiresIn": number; "tokenType": string; "user": User };

export type SlotData = { "id": string; "status": "available" | "invited" | "claimed" | "admitted" | "revoked" | "released"; "via": "code" | "invite" | "allocator" | "open" | "pack" | null; "name": string | null; "email": string | null; "phone": string | null; "code": string | null; "delivery": "e_ticket" | "will_call" | null; "partyId": string | null; "partySize": number; "version": number; "remindedAt": string | null; "claimedAt": string | null; "admittedAt": string | null; "gate": string | null; "endedAt": string | null };

export type Split = { "A": number; "B": number };

export type Sponsor = { "name": string; "tier"?: string | null; "logoUrl"?: string | null; "href"?: string | null };

export type StallType = { "name": string; "feeMinor": number; "quantity"?: number | null };

export type StartedData = { "paymentId": string; "status": "otp_required" | "processing" | "paid"; "expiresIn"?: number; "triesLeft"?: number };

export type StatsChosen = { "id": string; "name"?: string; "city"?: string; "venue"?: string; "timezone"?: string; "startsAt"?: string; "endsAt"?: string; "salesEndAt"?: string | null; "visibility"?: "draft" | "published" | "unlisted" | "archived" | "cancelled"; "capacity"?: number | null; "currency"?: "NAD"; "totals"?: Totals; "ticketTypes"?: Array<TypeStats>; "series"?: Array<DayStats> };

export type StatsData = { "id": string; "name": string; "role": string | null; "active": boolean; "timezone": string; "shifts": number; "workedMinutes": number; "breakMinutes": number; "firstSeenAt": string | null; "lastSeenAt": string | null; "automatic": number; "perDay": Array<Day>; "openShift"?: OpenShift };

export type StatusData = { "status": "active" | "paused" | "deleted"; "pausedAt"?: string | null };

export type Step = { "step": "documents" | "payment" | "activation"; "state": "done" | "now" | "later" };

export type Submitted = { "id": string; "reference": string; "status": "submitted" | "approved" | "awaiting_documents" | "awaiting_payment" | "ready" | "declined" | "activated" | "withdrawn" | "expired"; "amountMinor": number; "version": number };

export type Table = { "name": string; "seats": number; "priceMinor": number; "quantity"?: number | null };

export type TakenPartPage = { "events": Array<TakenPartRow>; "pagination": Pagination };

export type TakenPartRow = { "organiserName": string; "city": string; "venue": string; "country": string; "timezone": string; "startsAt": string; "endsAt": string; "id": string; "name": string; "visibility": string; "stallType": string | null; "feeMinor": number | null; "floorStatus": "open" | "busy" | "paused" | "closed"; "joinedAt": string };

export type TemplateRow = { "id": string; "name": string; "description": string; "title": string; "body": string; "placeholders": Array<string> };

export type TemplatesData = { "templates": Array<TemplateRow>; "placeholders": Array<Placeholder> };

export type TestBodyWithKey = { "title"?: string; "body"?: string; "href"?: string | null; "imageUrl"?: string | null; "bannerUrl"?: string | null; "abTestEnabled"?: boolean; "variantBTitle"?: string | null; "variantBBody"?: string | null; "channels"?: Array<"email" | "sms" | "push"> | string; "idempotencyKey"?: string };

export type TestData = { "channels": Array<string>; "to": string; "messages": number };

export type TicketTypeData = { "id": string; "name": string; "description": string | null; "priceMinor": number; "minPerOrder": number | null; "maxPerOrder": number | null; "phases": Array<PhaseData> };

export type TicketTypeShape = { "id"?: string; "name": string; "description"?: string | null; "priceMinor": number; "quantity": number; "minPerOrder"?: number | null; "maxPerOrder"?: number | null; "phases"?: Array<Phase> | null };

export type Totals = { "sold": number; "allocated": number; "invited": number; "claimed": number; "admitted": number; "revoked": number; "released": number; "revenueMinor": number; "total": number; "oversold": number; "available": number };

export type Triggered = { "recipients": Array<string>; "queued": number };

export type TypeInventory = { "id": string; "name": string; "phase": string | null; "phaseEndsAt": string | null; "priceMinor": number; "total": number; "sold": number; "allocated": number; "available": number; "status": "on_sale" | "not_started" | "ended" | "sold_out" | "low" };

export type TypeStats = { "sold": number; "allocated": number; "invited": number; "claimed": number; "admitted": number; "revoked": number; "released": number; "revenueMinor": number; "id": string; "name": string; "total": number; "oversold": number; "available": number };

export type User = { "id": string; "name": string; "email": string; "roles": Array<string>; "phone"?: string };

export type UserRow = { "id": string; "name": string | null; "email": string | null; "participates": boolean; "tickets": number };

export type UsersData = { "users": Array<UserRow> };

export type VariancePage = { "items": Array<VarianceRow>; "pagination": Pagination };

export type VarianceRow = { "id": string; "sku": string; "name": string; "unit": string | null; "category": string | null; "storageLocation": string | null; "counts": number; "countedAt": string; "expected": number; "counted": number; "variance": number; "costPrice": number | null; "value": number | null };

export type Variants = { "A": Figures; "B": Figures };

export type VerifyBody = { "crewMemberId"?: string | null; "code"?: string; "occurredAt"?: string | null };

export type WillCallPage = { "slots": Array<WillCallRow>; "pagination": Pagination };

export type WillCallRow = { "slotId": string; "name": string | null; "email": string | null; "phone": string | null; "code": string | null; "status": "claimed" | "admitted"; "delivery": "e_ticket" | "will_call" | null; "partyId": string | null; "partySize": number; "version": number; "claimedAt": string; "admittedAt": string | null; "gate": string | null; "blockId": string; "ticketTypeId": string; "ticketTypeName": string; "blockName": string | null; "kind": "sponsor" | "artist" | "press" | "staff" | "group"; "organisation": string | null };

export interface Operations {
  /** Sign in with a password. For anybody. */
  "POST /api/auth/login": {
    path: {};
    query: {};
    body: LoginBody;
    data: SignedInData;
  };
  /** End the session of a refresh token. For anybody. */
  "POST /api/auth/logout": {
    path: {};
    query: {};
    body: RefreshBody;
    data: Empty;
  };
  /** Exchange a refresh token for a new pair. For anybody. */
  "POST /api/auth/refresh": {
    path: {};
    query: {};
    body: RefreshBody;
    data: SignedInData;
  };
  /** Read the signed-in account. For anybody signed in. */
  "GET /api/auth/me": {
    path: {};
    query: {};
    body: undefined;
    data: Me;
  };
  /** List the providers that sign in to the account. For anybody signed in. */
  "GET /api/auth/identities": {
    path: {};
    query: {};
    body: undefined;
    data: IdentitiesData;
  };
  /** Unlink a provider: `apple` or `google`. For anybody signed in. */
  "DELETE /api/auth/identities/{provider}": {
    path: { "provider": string };
    query: {};
    body: undefined;
    data: Empty;
  };
  /** Sign in, or link the account, with Apple. For anybody; a token adds to the account it belongs to. */
  "POST /api/auth/apple": {
    path: {};
    query: {};
    body: AppleBody;
    data: SignedInData;
  };
  /** Sign in, or link the account, with Google. For anybody; a token adds to the account it belongs to. */
  "POST /api/auth/google": {
    path: {};
    query: {};
    body: GoogleBody;
    data: SignedInData;
  };
  /** Register as a customer. For anybody; a token adds to the account it belongs to. */
  "POST /api/auth/register/customer": {
    path: {};
    query: {};
    body: CustomerBodyWithKey;
    data: Empty;
  };
  /** Register as a merchant. For anybody; a token adds to the account it belongs to. */
  "POST /api/auth/register/merchant": {
    path: {};
    query: {};
    body: MerchantBodyWithKey;
    data: Empty;
  };
  /** Register as an organiser. For anybody; a token adds to the account it belongs to. */
  "POST /api/auth/register/organiser": {
    path: {};
    query: {};
    body: OrganiserBodyWithKey;
    data: Empty;
  };
  /** Register an admin. For anybody; a token adds to the account it belongs to. */
  "POST /api/auth/register/admin": {
    path: {};
    query: {};
    body: AdminBodyWithKey;
    data: Empty;
  };
  /** Confirm an address with the code that was mailed to it. For anybody. */
  "POST /api/auth/verify-email": {
    path: {};
    query: {};
    body: CodeBody;
    data: Empty;
  };
  /** Mail a new verification code. For anybody. */
  "POST /api/auth/resend-verification": {
    path: {};
    query: {};
    body: EmailBody;
    data: Empty;
  };
  /** Mail a code to set a new password. For anybody. */
  "POST /api/auth/password-reset/request": {
    path: {};
    query: {};
    body: EmailBody;
    data: Empty;
  };
  /** Exchange the code for a reset token. For anybody. */
  "POST /api/auth/password-reset/verify": {
    path: {};
    query: {};
    body: CodeBody;
    data: ResetTokenData;
  };
  /** Set a new password with the reset token; every session ends, and every provider is unlinked. For anybody. */
  "POST /api/auth/password-reset/complete": {
    path: {};
    query: {};
    body: CompleteResetBody;
    data: Empty;
  };
  /** Read the account that an activation is for; reading does not use the link. For anybody. */
  "GET /api/merchant-activation/{token}": {
    path: { "token": string };
    query: { "name"?: string; "password"?: string; "confirmPassword"?: string; "message"?: string; "path"?: string };
    body: undefined;
    data: ActivationData;
  };
  /** Activate the merchant's account and sign in. For anybody. */
  "POST /api/merchant-activation/{token}": {
    path: { "token": string };
    query: {};
    body: ActivationBody;
    data: ActivatedData;
  };
  /** Get the invoice of a block as a PDF. For organisers, for their own events, and admins of every tier. */
  "GET /api/events/{eventId}/allocations/{blockId}/invoice.pdf": {
    path: { "eventId": string; "blockId": string };
    query: { "number"?: string };
    body: undefined;
    data: Blob;
  };
  /** Send the invoice of a block to its holder, or to another address. It is issued if it was not before. For organisers, for their own events, and admins. */
  "POST /api/events/{eventId}/allocations/{blockId}/invoice/email": {
    path: { "eventId": string; "blockId": string };
    query: {};
    body: MailInvoiceBodyWithKey;
    data: MailedInvoice;
  };
  /** Read the number and the amounts of a block's invoice, and its credit notes. For organisers, for their own events, and admins of every tier. */
  "GET /api/events/{eventId}/allocations/{blockId}/invoice": {
    path: { "eventId": string; "blockId": string };
    query: {};
    body: undefined;
    data: InvoiceData;
  };
  /** List the ticket packs of a block, the newest first. For organisers, for their own events, and admins of every tier. */
  "GET /api/events/{eventId}/allocations/{blockId}/packs": {
    path: { "eventId": string; "blockId": string };
    query: {};
    body: undefined;
    data: PacksData;
  };
  /** Create a pack of unnamed tickets to print. For organisers, for their own events, and admins. */
  "POST /api/events/{eventId}/allocations/{blockId}/packs": {
    path: { "eventId": string; "blockId": string };
    query: {};
    body: PackBodyWithKey;
    data: PackData;
  };
  /** Read the progress of a pack. For organisers, for their own events, and admins of every tier. */
  "GET /api/events/{eventId}/allocations/{blockId}/packs/{packId}": {
    path: { "eventId": string; "blockId": string; "packId": string };
    query: {};
    body: undefined;
    data: PackData;
  };
  /** Get the tickets of a pack as one PDF; every download has the same bytes. For organisers, for their own events, and admins of every tier. */
  "GET /api/events/{eventId}/allocations/{blockId}/packs/{packId}/tickets.pdf": {
    path: { "eventId": string; "blockId": string; "packId": string };
    query: {};
    body: undefined;
    data: Blob;
  };
  /** List the guests of an event by name, admitted or not. `q` is the beginning of a name, an address or a code. For organisers, for their own events, and admins of every tier. */
  "GET /api/events/{eventId}/allocations/will-call": {
    path: { "eventId": string };
    query: { "limit"?: number; "cursor"?: string; "withTotal"?: boolean; "q"?: string; "status"?: "claimed" | "admitted"; "blockId"?: string };
    body: undefined;
    data: WillCallPage;
  };
  /** Admit a guest exactly once. The same `nonce` gets the same response; `count` admits so many of a party. For organisers, for their own events, and admins. */
  "POST /api/events/{eventId}/allocations/will-call/{slotId}/admit": {
    path: { "eventId": string; "slotId": string };
    query: {};
    body: AdmitBodyWithKey;
    data: AdmittedData;
  };
  /** Read the offer of a claim link, a claim code or an open link. For anybody. */
  "GET /api/allocations/claim/{token}": {
    path: { "token": string };
    query: {};
    body: undefined;
    data: ClaimOffer;
  };
  /** Claim a place with a claim link, a claim code or an open link. An e-ticket is sent by email. For anybody. */
  "POST /api/allocations/claim/{token}": {
    path: { "token": string };
    query: {};
    body: ClaimBodyWithKey;
    data: ClaimedData;
  };
  /** Read the block of an allocator link, and the places that were handed out by it. For anybody. */
  "GET /api/allocations/allocator/{token}": {
    path: { "token": string };
    query: { "limit"?: number; "cursor"?: string; "withTotal"?: boolean };
    body: undefined;
    data: AllocatorData;
  };
  /** Hand out a place with `name` and `email`; with `slotId`, give it to another guest or take it back. For anybody. */
  "POST /api/allocations/allocator/{token}": {
    path: { "token": string };
    query: {};
    body: AllocatorBodyWithKey;
    data: ClaimedData;
  };
  /** Calculate what a block would cost, and whether that many places are free. Nothing is stored. For organisers, for their own events, and admins of every tier. */
  "POST /api/events/{eventId}/allocations/quote": {
    path: { "eventId": string };
    query: {};
    body: QuoteBody;
    data: QuoteData;
  };
  /** List an event's blocks. For organisers, for their own events, and admins of every tier. */
  "GET /api/events/{eventId}/allocations": {
    path: { "eventId": string };
    query: { "status"?: "open" | "released" | "cancelled" | "exhausted"; "kind"?: "sponsor" | "artist" | "press" | "staff" | "group"; "ticketTypeId"?: string; "limit"?: number; "cursor"?: string; "sort"?: "createdAt" | "-createdAt"; "withTotal"?: boolean };
    body: undefined;
    data: AllocationPage;
  };
  /** Create a block of places for a holder. For organisers, for their own events, and admins. */
  "POST /api/events/{eventId}/allocations": {
    path: { "eventId": string };
    query: {};
    body: BlockBodyWithKey;
    data: AllocationRow;
  };
  /** Read a block, with a page of its slots. For organisers, for their own events, and admins of every tier. */
  "GET /api/events/{eventId}/allocations/{blockId}": {
    path: { "eventId": string; "blockId": string };
    query: { "limit"?: number; "cursor"?: string; "withTotal"?: boolean; "status"?: "available" | "invited" | "claimed" | "admitted" | "revoked" | "released" };
    body: undefined;
    data: AllocationData;
  };
  /** List a block's claim codes and who has used them. As CSV with `Accept: text/csv`. For organisers, for their own events, and admins of every tier. */
  "GET /api/events/{eventId}/allocations/{blockId}/codes": {
    path: { "eventId": string; "blockId": string };
    query: {};
    body: undefined;
    data: CodesData;
  };
  /** Create single-use claim codes: `count` of them, or one for each free place. As CSV with `Accept: text/csv`. For organisers, for their own events, and admins. */
  "POST /api/events/{eventId}/allocations/{blockId}/codes": {
    path: { "eventId": string; "blockId": string };
    query: {};
    body: CodesBodyWithKey;
    data: CodesData;
  };
  /** Invite people: each gets a claim link by email. For organisers, for their own events, and admins. */
  "POST /api/events/{eventId}/allocations/{blockId}/invite": {
    path: { "eventId": string; "blockId": string };
    query: {};
    body: InviteBodyWithKey;
    data: InvitesData;
  };
  /** Get the link by which the holder hands out places. A repeated call returns the same link. For organisers, for their own events, and admins. */
  "POST /api/events/{eventId}/allocations/{blockId}/allocator-link": {
    path: { "eventId": string; "blockId": string };
    query: {};
    body: LinkBody;
    data: AllocationLinkData;
  };
  /** Get the link by which anybody claims a place, once per address. A repeated call returns the same link. For organisers, for their own events, and admins. */
  "POST /api/events/{eventId}/allocations/{blockId}/open-link": {
    path: { "eventId": string; "blockId": string };
    query: {};
    body: OpenLinkBody;
    data: AllocationLinkData;
  };
  /** Remind guests who have not claimed, once a day. The response lists who was skipped and why. For organisers, for their own events, and admins. */
  "POST /api/events/{eventId}/allocations/{blockId}/remind": {
    path: { "eventId": string; "blockId": string };
    query: {};
    body: RemindBodyWithKey;
    data: RemindData;
  };
  /** Release unclaimed places to the public. Their links and codes end. For organisers, for their own events, and admins. */
  "POST /api/events/{eventId}/allocations/{blockId}/release-unused": {
    path: { "eventId": string; "blockId": string };
    query: {};
    body: ReleaseBodyWithKey;
    data: ReleaseData;
  };
  /** Revoke a place: its ticket ends immediately, and the place returns to the block or to the public. For organisers, for their own events, and admins. */
  "POST /api/events/{eventId}/allocations/{blockId}/slots/{slotId}/revoke": {
    path: { "eventId": string; "blockId": string; "slotId": string };
    query: {};
    body: RevokeBodyWithKey;
    data: RevokedData;
  };
  /** Move free places to another block of the same ticket type. For organisers, for their own events, and admins. */
  "POST /api/events/{eventId}/allocations/{blockId}/move": {
    path: { "eventId": string; "blockId": string };
    query: {};
    body: MoveBodyWithKey;
    data: MoveData;
  };
  /** List applications: a merchant's own, those for an organiser's events, all for admins. For merchants for their own, organisers for those to their events, and admins of every tier. */
  "GET /api/merchant-applications": {
    path: {};
    query: { "decision"?: "approved" | "declined"; "declineReason"?: string; "reviewerNotes"?: string; "riskLevel"?: "low" | "medium" | "high"; "status"?: "submitted" | "approved" | "awaiting_documents" | "awaiting_payment" | "ready" | "declined" | "activated" | "withdrawn" | "expired"; "eventId"?: string; "q"?: string; "limit"?: number; "cursor"?: string; "sort"?: "createdAt" | "-createdAt" | "updatedAt" | "-updatedAt" | "amountMinor" | "-amountMinor"; "withTotal"?: boolean };
    body: undefined;
    data: ApplicationPage;
  };
  /** Apply for a stall. For anybody; a token adds to the account it belongs to. */
  "POST /api/merchant-applications": {
    path: {};
    query: {};
    body: ApplicationBody;
    data: Submitted;
  };
  /** Read one application. For merchants for their own, organisers for those to their events, and admins of every tier. */
  "GET /api/merchant-applications/{applicationId}": {
    path: { "applicationId": string };
    query: {};
    body: undefined;
    data: ApplicationRow;
  };
  /** Approve or decline an application. For organisers, for their own events, and admins from support on. */
  "PATCH /api/merchant-applications/{applicationId}": {
    path: { "applicationId": string };
    query: {};
    body: DecisionBody;
    data: ApplicationRow;
  };
  /** Withdraw one's own application; not while a payment is processing. For merchants. */
  "POST /api/merchant-applications/{applicationId}/withdraw": {
    path: { "applicationId": string };
    query: {};
    body: undefined;
    data: ApplicationRow;
  };
  /** Make a new link in place of the old one, and mail it. For organisers, for their own events, and admins from support on. */
  "POST /api/merchant-applications/{applicationId}/links": {
    path: { "applicationId": string };
    query: {};
    body: LinkBodyWithKey;
    data: ApplicationLinkData;
  };
  /** Read which documents are required, and which are uploaded. For anybody. */
  "GET /api/merchant-applications/docs/{token}": {
    path: { "token": string };
    query: {};
    body: undefined;
    data: DocumentsData;
  };
  /** Upload documents; the name of a field is the kind. An empty body hands all documents in. For anybody. */
  "POST /api/merchant-applications/docs/{token}": {
    path: { "token": string };
    query: {};
    body: FormData;
    data: DocumentsData;
  };
  /** Read a document by the link in the application, which is valid for five minutes. For anybody. */
  "GET /api/merchant-applications/files/{token}": {
    path: { "token": string };
    query: {};
    body: undefined;
    data: Blob;
  };
  /** Read the stall fee: amount, state and due date. For anybody. */
  "GET /api/merchant-applications/pay/{token}": {
    path: { "token": string };
    query: {};
    body: undefined;
    data: PaymentData;
  };
  /** Start the payment of the stall fee: the rail sends a code to the wallet's owner. For anybody. */
  "POST /api/merchant-applications/pay/{token}": {
    path: { "token": string };
    query: {};
    body: PayBody;
    data: StartedData;
  };
  /** Confirm the payment with the code; `processing` until the outcome is final. For anybody. */
  "POST /api/merchant-applications/pay/{token}/payrail/verify-otp": {
    path: { "token": string };
    query: {};
    body: OtpBody;
    data: StartedData;
  };
  /** Count the people who would get a campaign, and those who would not by the reason. Nothing is stored or sent. For organisers, for their own events, and admins of every tier. */
  "POST /api/events/{id}/notifications/audience-preview": {
    path: { "id": string };
    query: {};
    body: AudienceBody;
    data: PreviewData;
  };
  /** Send a campaign now, schedule it, or store it as a draft. For organisers, for their own events, and admins. */
  "POST /api/events/{id}/notifications/broadcast": {
    path: { "id": string };
    query: {};
    body: NewCampaignWithKey;
    data: BroadcastData;
  };
  /** List an event's campaigns with the figures of their messages. For organisers, for their own events, and admins of every tier. */
  "GET /api/events/{id}/notifications/campaigns": {
    path: { "id": string };
    query: { "status"?: "draft" | "scheduled" | "sending" | "sent" | "failed" | "canceled"; "limit"?: number; "cursor"?: string; "sort"?: "createdAt" | "-createdAt"; "withTotal"?: boolean };
    body: undefined;
    data: CampaignPage;
  };
  /** Read a campaign and its history: who did what. For organisers, for their own events, and admins of every tier. */
  "GET /api/events/{id}/notifications/campaigns/{campaignId}": {
    path: { "id": string; "campaignId": string };
    query: { "fields"?: string };
    body: undefined;
    data: CampaignDataChosen;
  };
  /** Change a draft or a scheduled campaign; `sendNow` sends it, `scheduledAt` schedules it, null makes it a draft. For organisers, for their own events, and admins. */
  "PATCH /api/events/{id}/notifications/campaigns/{campaignId}": {
    path: { "id": string; "campaignId": string };
    query: {};
    body: CampaignChanges;
    data: CampaignRow;
  };
  /** Cancel a campaign that is not being sent yet. For organisers, for their own events, and admins. */
  "POST /api/events/{id}/notifications/campaigns/{campaignId}/cancel": {
    path: { "id": string; "campaignId": string };
    query: {};
    body: undefined;
    data: CampaignRow;
  };
  /** Copy a campaign as a draft; the fields in the body replace its own. For organisers, for their own events, and admins. */
  "POST /api/events/{id}/notifications/campaigns/{campaignId}/duplicate": {
    path: { "id": string; "campaignId": string };
    query: {};
    body: CampaignChangesWithKey;
    data: CampaignRow;
  };
  /** List recipients whose message may or may not have arrived: the connection broke after it was handed over. For organisers, for their own events, and admins of every tier. */
  "GET /api/events/{id}/notifications/campaigns/{campaignId}/uncertain": {
    path: { "id": string; "campaignId": string };
    query: { "limit"?: number; "cursor"?: string; "sort"?: "id" | "-id"; "withTotal"?: boolean };
    body: undefined;
    data: RecipientPage;
  };
  /** Send uncertain messages again. Some people may get one twice; the history has who asked for it. For organisers, for their own events, and admins. */
  "POST /api/events/{id}/notifications/campaigns/{campaignId}/resend-uncertain": {
    path: { "id": string; "campaignId": string };
    query: {};
    body: ResendBodyWithKey;
    data: Resent;
  };
  /** Send the texts to yourself as recipients would get them, each variant once. For organisers, for their own events, and admins. */
  "POST /api/events/{id}/notifications/test": {
    path: { "id": string };
    query: {};
    body: TestBodyWithKey;
    data: TestData;
  };
  /** List the templates of texts, and the placeholders that texts may have. For organisers, for their own events, and admins of every tier. */
  "GET /api/events/{id}/notifications/templates": {
    path: { "id": string };
    query: {};
    body: undefined;
    data: TemplatesData;
  };
  /** Upload a picture for a campaign, and get its URL for `imageUrl` or `bannerUrl`. For organisers, for their own events, and admins. */
  "POST /api/events/{id}/notifications/upload-image": {
    path: { "id": string };
    query: {};
    body: FormData;
    data: Picture;
  };
  /** Find people who hold tickets for the event or take part in it; addresses are masked. For organisers, for their own events, and admins of every tier. */
  "GET /api/events/{id}/notifications/users/search": {
    path: { "id": string };
    query: { "q": string };
    body: undefined;
    data: UsersData;
  };
  /** Read the crew of one's stall at an event. For merchants. */
  "GET /api/merchants/me/events/{eventId}/crew": {
    path: { "eventId": string };
    query: {};
    body: undefined;
    data: CrewData;
  };
  /** Replace the crew. For merchants. */
  "PUT /api/merchants/me/events/{eventId}/crew": {
    path: { "eventId": string };
    query: {};
    body: CrewBody;
    data: CrewData;
  };
  /** Read what a member has worked, per day of the event's time zone. For merchants. */
  "GET /api/merchants/me/events/{eventId}/crew/{crewMemberId}/stats": {
    path: { "eventId": string; "crewMemberId": string };
    query: {};
    body: undefined;
    data: StatsData;
  };
  /** Start a shift with its code, or get the one that is open already. For merchants. */
  "POST /api/merchants/me/events/{eventId}/crew/shift-verify": {
    path: { "eventId": string };
    query: {};
    body: VerifyBody;
    data: ShiftData;
  };
  /** End shifts, or start and end breaks, of one member or of everybody at work. For merchants. */
  "POST /api/merchants/me/events/{eventId}/crew/shift-checkout": {
    path: { "eventId": string };
    query: {};
    body: CheckoutBody;
    data: CheckoutData;
  };
  /** Report client-side events. For anybody. */
  "POST /api/diagnostics/logs": {
    path: {};
    query: {};
    body: LogsBody;
    data: Empty;
  };
  /** List published events; with `mine=true` and a token, own events in every state. For anybody; a token adds to the account it belongs to. */
  "GET /api/events": {
    path: {};
    query: { "q"?: string; "city"?: string; "category"?: "music" | "food" | "arts" | "sport" | "business" | "community" | "family" | "other"; "from"?: string; "to"?: string; "cashless"?: boolean; "lat"?: number; "lng"?: number; "radiusKm"?: number; "mine"?: boolean; "visibility"?: "draft" | "published" | "unlisted" | "archived" | "cancelled"; "limit"?: number; "cursor"?: string; "sort"?: "startsAt" | "-startsAt" | "createdAt" | "-createdAt" | "name" | "-name"; "withTotal"?: boolean };
    body: undefined;
    data: EventPage;
  };
  /** Create an event. For organisers, for their own events, and admins. */
  "POST /api/events": {
    path: {};
    query: {};
    body: NewEvent;
    data: EventData;
  };
  /** Upload a picture for an event, and get its URL for `coverImageUrl`. For organisers, for their own events, and admins. */
  "POST /api/events/upload-cover": {
    path: {};
    query: {};
    body: FormData;
    data: Picture;
  };
  /** Read an own event. For organisers, for their own events, and admins of every tier. */
  "GET /api/events/{id}": {
    path: { "id": string };
    query: { "fields"?: string };
    body: undefined;
    data: EventDataChosen;
  };
  /** Change the fields that are sent. For organisers, for their own events, and admins. */
  "PATCH /api/events/{id}": {
    path: { "id": string };
    query: {};
    body: EventChanges;
    data: EventData;
  };
  /** Delete an event, or cancel it when tickets or other things belong to it; `outcome` says which. For organisers, for their own events, and admins. */
  "DELETE /api/events/{id}": {
    path: { "id": string };
    query: {};
    body: undefined;
    data: Removed;
  };
  /** Read the sales of an event, per ticket type and per day for charts. For organisers, for their own events, and admins of every tier. */
  "GET /api/events/{id}/ticket-stats": {
    path: { "id": string };
    query: { "fields"?: string };
    body: undefined;
    data: StatsChosen;
  };
  /** Report that the process runs. It uses no other service. For anybody. */
  "GET /health": {
    path: {};
    query: {};
    body: undefined;
    data: Health;
  };
  /** Report whether the service can do its work. For anybody. */
  "GET /ready": {
    path: {};
    query: {};
    body: undefined;
    data: Readiness;
  };
  /** List the stock of an event. For organisers, for their own events, and admins of every tier. */
  "GET /api/events/{eventId}/inventory": {
    path: { "eventId": string };
    query: { "name"?: string; "sku"?: string; "imageUrl"?: string | null; "productType"?: string | null; "expiryDate"?: string | null; "category"?: string | null; "brand"?: string | null; "supplier"?: string | null; "barcode"?: string | null; "storageLocation"?: string | null; "batchNumber"?: string | null; "unit"?: string | null; "costPrice"?: number | null; "sellPrice"?: number | null; "taxRate"?: number | null; "parLevel"?: number; "minOrderQty"?: number; "reorderLevel"?: number; "onHand"?: number; "reserved"?: number; "damaged"?: number; "notes"?: string | null; "q"?: string; "lowStock"?: boolean; "expiringBefore"?: string; "limit"?: number; "cursor"?: string; "sort"?: "name" | "-name" | "sku" | "-sku" | "expiryDate" | "-expiryDate"; "withTotal"?: boolean };
    body: undefined;
    data: ItemPage;
  };
  /** Add an item; what is on hand, reserved and damaged is booked as its opening stock. For organisers, for their own events, and admins. */
  "POST /api/events/{eventId}/inventory/items": {
    path: { "eventId": string };
    query: {};
    body: NewItemWithKey;
    data: ItemRow;
  };
  /** Read one item. For organisers, for their own events, and admins of every tier. */
  "GET /api/events/{eventId}/inventory/items/{itemId}": {
    path: { "eventId": string; "itemId": string };
    query: { "fields"?: string };
    body: undefined;
    data: ItemRowChosen;
  };
  /** Change the fields that are sent; another quantity is booked as a correction. For organisers, for their own events, and admins. */
  "PATCH /api/events/{eventId}/inventory/items/{itemId}": {
    path: { "eventId": string; "itemId": string };
    query: {};
    body: ItemChanges;
    data: ItemRow;
  };
  /** List the book of an item. For organisers, for their own events, and admins of every tier. */
  "GET /api/events/{eventId}/inventory/items/{itemId}/movements": {
    path: { "eventId": string; "itemId": string };
    query: { "limit"?: number; "cursor"?: string; "sort"?: "occurredAt" | "-occurredAt"; "withTotal"?: boolean };
    body: undefined;
    data: MovementPage;
  };
  /** Change how much there is: by a difference, or to what was counted. For organisers, for their own events, and admins. */
  "POST /api/events/{eventId}/inventory/items/{itemId}/adjust": {
    path: { "eventId": string; "itemId": string };
    query: {};
    body: AdjustBodyWithKey;
    data: Adjusted;
  };
  /** Get the stock as a file that spreadsheets open and that imports back unchanged; or its columns alone. For organisers, for their own events, and admins of every tier. */
  "GET /api/events/{eventId}/inventory/export.csv": {
    path: { "eventId": string };
    query: { "template"?: boolean };
    body: undefined;
    data: Blob;
  };
  /** Import a stock sheet, CSV or XLSX, by SKU. For organisers, for their own events, and admins. */
  "POST /api/events/{eventId}/inventory/import": {
    path: { "eventId": string };
    query: { "mode"?: "atomic" | "partial"; "dryRun"?: boolean; "again"?: boolean };
    body: FormData;
    data: ImportData;
  };
  /** Report on the stock: what it is worth, what moved, what expires, what to order. For organisers, for their own events, and admins of every tier. */
  "GET /api/events/{eventId}/inventory/reports": {
    path: { "eventId": string };
    query: { "type"?: "summary" | "valuation" | "movements" | "expiry" | "reorder"; "format"?: "json" | "csv" | "pdf"; "from"?: string | null; "to"?: string | null; "withinDays"?: number; "jobId"?: string | null; "download"?: boolean };
    body: undefined;
    data: ReportData;
  };
  /** Fetch what came of long work through its `downloadUrl`, within five minutes. For anybody. */
  "GET /api/events/{eventId}/inventory/reports/files/{token}": {
    path: { "eventId": string; "token": string };
    query: {};
    body: undefined;
    data: Blob;
  };
  /** Follow the stock: its items now, then every change as it commits, as server-sent events. For organisers, for their own events, and admins of every tier. */
  "GET /api/events/{eventId}/inventory/stream": {
    path: { "eventId": string };
    query: { "name"?: string; "sku"?: string; "imageUrl"?: string | null; "productType"?: string | null; "expiryDate"?: string | null; "category"?: string | null; "brand"?: string | null; "supplier"?: string | null; "barcode"?: string | null; "storageLocation"?: string | null; "batchNumber"?: string | null; "unit"?: string | null; "costPrice"?: number | null; "sellPrice"?: number | null; "taxRate"?: number | null; "parLevel"?: number; "minOrderQty"?: number; "reorderLevel"?: number; "onHand"?: number; "reserved"?: number; "damaged"?: number; "notes"?: string | null; "q"?: string; "lowStock"?: boolean; "expiringBefore"?: string };
    body: undefined;
    data: Blob;
  };
  /** Read who is told about the stock, when, and of what. For organisers, for their own events, and admins of every tier. */
  "GET /api/events/{eventId}/inventory/reminder": {
    path: { "eventId": string };
    query: {};
    body: undefined;
    data: ReminderData;
  };
  /** Change who is told about the stock, when, and of what. Hours are those where the event is. For organisers, for their own events, and admins. */
  "PATCH /api/events/{eventId}/inventory/reminder": {
    path: { "eventId": string };
    query: {};
    body: ReminderChanges;
    data: ReminderData;
  };
  /** Mail the digest now, twenty times an hour at most. For organisers, for their own events, and admins. */
  "POST /api/events/{eventId}/inventory/reminder/trigger": {
    path: { "eventId": string };
    query: {};
    body: undefined;
    data: Triggered;
  };
  /** Order what has run low, one order for each supplier; what is on order already is not ordered twice. For organisers, for their own events, and admins. */
  "POST /api/events/{eventId}/inventory/reorder/apply": {
    path: { "eventId": string };
    query: {};
    body: ReorderBodyWithKey;
    data: Reordered;
  };
  /** Get an order as a sheet for its supplier. For organisers, for their own events, and admins of every tier. */
  "GET /api/events/{eventId}/inventory/orders/{orderId}/sheet.pdf": {
    path: { "eventId": string; "orderId": string };
    query: {};
    body: undefined;
    data: Blob;
  };
  /** Compare what was counted with what the book had expected, item by item. For organisers, for their own events, and admins of every tier. */
  "GET /api/events/{eventId}/inventory/variance": {
    path: { "eventId": string };
    query: { "from"?: string; "to"?: string; "limit"?: number; "cursor"?: string; "sort"?: "name" | "-name"; "withTotal"?: boolean };
    body: undefined;
    data: VariancePage;
  };
  /** Get the same as a file. For organisers, for their own events, and admins of every tier. */
  "GET /api/events/{eventId}/inventory/variance.csv": {
    path: { "eventId": string };
    query: { "from"?: string; "to"?: string };
    body: undefined;
    data: Blob;
  };
  /** List merchants who can be invited to an event. For organisers, for their own events, and admins of every tier. */
  "GET /api/events/{id}/merchant-directory": {
    path: { "id": string };
    query: { "q"?: string; "category"?: string; "city"?: string; "limit"?: number; "cursor"?: string; "sort"?: "businessName" | "-businessName"; "withTotal"?: boolean };
    body: undefined;
    data: DirectoryPage;
  };
  /** Invite merchants from the directory. For organisers, for their own events, and admins. */
  "POST /api/events/{id}/directory-invites": {
    path: { "id": string };
    query: {};
    body: DirectoryInvitesBodyWithKey;
    data: InvitedData;
  };
  /** Make a link by which a business can apply for a stall; it is mailed if there is an email. For organisers, for their own events, and admins. */
  "POST /api/events/{id}/merchant-invite": {
    path: { "id": string };
    query: {};
    body: MerchantInviteBodyWithKey;
    data: LinkData;
  };
  /** Read the event, terms and state of a link. For anybody. */
  "GET /api/events/merchant-invite/{slug}": {
    path: { "slug": string };
    query: {};
    body: undefined;
    data: PublicLinkData;
  };
  /** List one's own invitations. For merchants. */
  "GET /api/merchants/me/event-invites": {
    path: {};
    query: { "status"?: "pending" | "accepted" | "declined" | "withdrawn" | "expired"; "eventId"?: string; "limit"?: number; "cursor"?: string; "sort"?: "createdAt" | "-createdAt" | "startsAt" | "-startsAt"; "withTotal"?: boolean };
    body: undefined;
    data: InvitePage;
  };
  /** Read one of one's own invitations. For merchants. */
  "GET /api/merchants/me/event-invites/{inviteId}": {
    path: { "inviteId": string };
    query: {};
    body: undefined;
    data: InviteRow;
  };
  /** Accept or decline an invitation; the organiser gets an email. For merchants. */
  "PATCH /api/merchants/me/event-invites/{inviteId}": {
    path: { "inviteId": string };
    query: {};
    body: AnswerBody;
    data: InviteRow;
  };
  /** List the events one takes part in. For merchants. */
  "GET /api/merchants/me/events": {
    path: {};
    query: { "limit"?: number; "cursor"?: string; "sort"?: "startsAt" | "-startsAt" | "joinedAt" | "-joinedAt"; "withTotal"?: boolean };
    body: undefined;
    data: TakenPartPage;
  };
  /** Set one's stall to open, busy, paused or closed. For merchants. */
  "PATCH /api/merchants/me/pos-floor-status": {
    path: {};
    query: {};
    body: FloorStatusBody;
    data: FloorStatusData;
  };
  /** Get an uploaded picture. For anybody. */
  "GET /media/{name}": {
    path: { "name": string };
    query: {};
    body: undefined;
    data: Blob;
  };
  /** Read your account as a merchant. For merchants. */
  "GET /api/merchants/me": {
    path: {};
    query: { "fields"?: string };
    body: undefined;
    data: MerchantAccountChosen;
  };
  /** Change your account as a merchant. For merchants. */
  "PATCH /api/merchants/me": {
    path: {};
    query: {};
    body: MerchantChanges;
    data: MerchantAccount;
  };
  /** Set a new password. Every other session ends, and the owner gets a mail. For merchants. */
  "POST /api/merchants/change-password": {
    path: {};
    query: {};
    body: ChangePasswordBody;
    data: Empty;
  };
  /** Pause the merchant: hide them, close their stalls, and stop invitations and payouts. For merchants. */
  "POST /api/merchants/me/pause": {
    path: {};
    query: {};
    body: undefined;
    data: StatusData;
  };
  /** End the pause. Stalls stay closed until they are opened. For merchants. */
  "POST /api/merchants/me/resume": {
    path: {};
    query: {};
    body: ResumeBody;
    data: StatusData;
  };
  /** Delete the merchant and their personal data. The ledger keeps its entries. For merchants. */
  "POST /api/merchants/me/delete": {
    path: {};
    query: {};
    body: DeleteBody;
    data: DeletedData;
  };
  /** Read all metrics in the text format of Prometheus. For anybody. */
  "GET /metrics": {
    path: {};
    query: {};
    body: undefined;
    data: Blob;
  };
  /** List one's own payouts, the newest first. For merchants. */
  "GET /api/merchants/me/payout-requests": {
    path: {};
    query: { "amountMinor"?: number; "destination"?: "payrail" | "bank"; "mode"?: "now" | "schedule"; "scheduledFor"?: string; "payrailMsisdn"?: string; "idempotencyKey"?: string; "status"?: "scheduled" | "requested" | "processing" | "paid" | "failed" | "returned" | "cancelled" | "needs_review"; "limit"?: number; "cursor"?: string; "sort"?: "createdAt" | "-createdAt" | "amountMinor" | "-amountMinor"; "withTotal"?: boolean };
    body: undefined;
    data: PayoutPage;
  };
  /** Ask to be paid out, now or at a time. For merchants. */
  "POST /api/merchants/me/payout-requests": {
    path: {};
    query: {};
    body: PayoutBody;
    data: PayoutRow;
  };
  /** Read one's balances; with an amount, whether it could be paid out, and if not why. For merchants. */
  "GET /api/merchants/me/payout-requests/availability": {
    path: {};
    query: { "amountMinor"?: number; "destination"?: "payrail" | "bank"; "mode"?: "now" | "schedule"; "scheduledFor"?: string; "payrailMsisdn"?: string; "idempotencyKey"?: string };
    body: undefined;
    data: AvailabilityData;
  };
  /** Read a payout with its history. For merchants. */
  "GET /api/merchants/me/payout-requests/{id}": {
    path: { "id": string };
    query: {};
    body: undefined;
    data: PayoutData;
  };
  /** Cancel a payout that has not been submitted to the rail; its amount is available again. For merchants. */
  "POST /api/merchants/me/payout-requests/{id}/cancel": {
    path: { "id": string };
    query: {};
    body: undefined;
    data: PayoutRow;
  };
  /** Take an event of the payment rail, signed over its timestamp and raw body. For anybody. */
  "POST /api/payrail/callbacks": {
    path: {};
    query: {};
    body: undefined;
    data: Empty;
  };
  /** Find published events that are upcoming or running. For anybody. */
  "GET /api/events/public/discover": {
    path: {};
    query: { "q"?: string; "city"?: string; "category"?: "music" | "food" | "arts" | "sport" | "business" | "community" | "family" | "other"; "from"?: string; "to"?: string; "cashless"?: boolean; "lat"?: number; "lng"?: number; "radiusKm"?: number; "limit"?: number; "cursor"?: string; "sort"?: "startsAt" | "relevance" | "distance" };
    body: undefined;
    data: Discovered;
  };
  /** Read a published or unlisted event. For anybody. */
  "GET /api/events/public/{id}": {
    path: { "id": string };
    query: {};
    body: undefined;
    data: PublicEvent;
  };
  /** Read the tickets of an event: how many there are, their present price, and whether they are on sale. For anybody. */
  "GET /api/events/public/{id}/ticket-inventory": {
    path: { "id": string };
    query: {};
    body: undefined;
    data: Inventory;
  };
  /** Read the channels on which organisers may write, and the organisers who may not. For anybody signed in. */
  "GET /api/notifications/preferences": {
    path: {};
    query: {};
    body: undefined;
    data: PreferencesData;
  };
  /** Switch channels on and off, and let organisers write again. For anybody signed in. */
  "PATCH /api/notifications/preferences": {
    path: {};
    query: {};
    body: PreferencesBody;
    data: PreferencesData;
  };
  /** Register a device for push messages. For anybody signed in. */
  "POST /api/notifications/devices": {
    path: {};
    query: {};
    body: DeviceBodyWithKey;
    data: DeviceData;
  };
  /** Remove a device, for example after signing out on it. Repeating it also returns 200. For anybody signed in. */
  "DELETE /api/notifications/devices": {
    path: {};
    query: {};
    body: DeviceGoneBody;
    data: RemovedData;
  };
}
