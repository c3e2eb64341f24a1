"""Imports the files that other shop systems export: products, stock and customers of Shopify and WooCommerce.

`files` reads rows, `shopify` and `woocommerce` turn them into drafts without a database, and `operations` stores a draft
through the operations that the API calls. `imports` puts them together.
"""
