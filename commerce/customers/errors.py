from commerce.errors import Refusal


class CustomerEmailTaken(Refusal):
    status = 409
    code = "customer_email_taken"
    title = "Another customer has this email address"
    constraints = ("customers_email",)


class CustomerRedacted(Refusal):
    status = 409
    code = "customer_redacted"
    title = "The customer's personal data has been erased"
    constraints = ("customers_redacted_without_email",)


class SegmentHandleTaken(Refusal):
    status = 409
    code = "handle_taken"
    title = "The handle is taken"
    constraints = ("segments_handle",)
