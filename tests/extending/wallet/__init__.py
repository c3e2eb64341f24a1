"""docs/extending.md, "Add a payment gateway": a wallet that takes approved payments, outside of the product."""
