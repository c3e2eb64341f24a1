// The state of the page: one shop and market, and this visitor's cart, checkout or order.

import { Api, Problem } from "./api.js";
import { setup } from "./dom.js";
import { recallTokens, rememberChoice, rememberTokens } from "./memory.js";

export const session = { shop: null, api: null, market: null, cart: null, checkout: null, order: null };

const renderers = [];

export function onChange(render) {
    renderers.push(render);
}

// Update parts of the session, remember their tokens, and render the page.
export function change(parts) {
    Object.assign(session, parts);
    const { cart, checkout, order } = session;
    rememberTokens(choice(), { cart: cart?.token, checkout: checkout?.token, order: order?.token });
    for (const render of renderers) render(session);
}

export function enterShop(shop) {
    Object.assign(session, { shop, market: null, api: new Api(setup.api, shop.key) });
}

export async function enterMarket(market) {
    session.market = market;
    rememberChoice(choice());
    await reload();
}

// Load everything again: after a page reload, or when something was changed elsewhere.
export async function reload() {
    const tokens = recallTokens(choice());
    const [cart, checkout, order] = await Promise.all([
        known("cart", "carts", tokens.cart),
        known("checkout", "checkouts", tokens.checkout),
        known("order", "orders", tokens.order),
    ]);
    change({ cart: cart?.status === "active" ? cart : null, checkout, order });
    if (checkout?.phase === "completed") await showOrder(checkout);
}

export async function showOrder(checkout) {
    const { order } = await session.api.get(`orders/${checkout.order_token}.json`);
    change({ cart: null, checkout: null, order });
}

const choice = () => ({ handle: session.shop.handle, marketId: session.market.id });

async function known(name, path, token) {
    if (!token) return null;
    try {
        return (await session.api.get(`${path}/${token}.json`))[name];
    } catch (error) {
        // The installation may have been recreated since.
        if (error instanceof Problem && error.status === 404) return null;
        throw error;
    }
}
