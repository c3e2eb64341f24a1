from commerce.errors import Refusal


class PaymentMethodNotSupported(Refusal):
    """Carries `supported`, the codes of the methods that the account offers for the chosen delivery."""

    status = 422
    code = "payment_method_not_supported"
    title = "The payment method is not offered for this checkout"


class PaymentGatewayFailed(Refusal):
    """Carries the checkout's `phase` after the call: in `failed`, another method can be chosen."""

    status = 502
    code = "payment_gateway_failed"
    title = "The payment gateway gave no usable answer"


class InvalidSignature(Refusal):
    status = 401
    code = "invalid_signature"
    title = "The signature is wrong"
