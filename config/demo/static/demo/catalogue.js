// The products of the market, and adding them to the cart.

import { once, enqueue, onClick } from "./actions.js";
import { byId, copyOf, element, say, show, valuesOf } from "./dom.js";
import { money } from "./money.js";
import { change, onChange, session } from "./session.js";

let shownMarket = null;
let cursor = null;

export function setUpCatalogue() {
    onClick(byId("more-products"), () => loadPage());
    onChange(render);
}

function render({ market, checkout, order }) {
    show(byId("catalogue"), !checkout && !order);
    if (shownMarket === market) return;
    shownMarket = market;
    cursor = null;
    byId("products").replaceChildren();
    enqueue(null, loadPage);
}

async function loadPage() {
    const market = session.market;
    const query = { market_id: market.id, ...(cursor && { cursor_id: cursor }) };
    const { products, next_cursor_id: next } = await session.api.get("products.json", query);
    if (market !== session.market) return;
    cursor = next;
    byId("products").append(...products.filter(isPriced).map(card));
    show(byId("more-products"), cursor !== null);
}

const isPriced = (product) => product.variants.some((variant) => variant.pricing.length);

function card(product) {
    const item = copyOf("product");
    const form = item.querySelector("form");
    const variants = product.variants.filter((variant) => variant.pricing.length);
    const choice = form.elements.variant_id;
    item.querySelector("h2").textContent = product.title;
    item.querySelector(".description").textContent = product.description;
    form.id = `product-${product.id}`;
    choice.append(...variants.map((variant) => new Option(variant.title || variant.sku, variant.id)));
    show(item.querySelector(".variant"), variants.length > 1);
    const showPrice = () => {
        const variant = variants.find((each) => each.id === choice.value);
        item.querySelector(".price").replaceChildren(...price(variant.pricing[0]));
    };
    choice.addEventListener("change", showPrice);
    showPrice();
    form.querySelector("button").setAttribute("aria-label", `Add ${product.title} to the cart`);
    form.addEventListener("submit", () => once(form, () => addToCart(form, product)));
    return item;
}

function price({ price_cents: cents, compare_at_price_cents: before, currency }) {
    const shown = money(cents, currency);
    if (before === null) return [shown];
    return [`${shown} `, element("s", { textContent: money(before, currency) })];
}

async function addToCart(form, product) {
    const { variant_id: variantId, quantity } = valuesOf(form);
    const token = session.cart?.token ?? (await newCart());
    const body = { variant_id: variantId, quantity: quantity === "" ? null : Number(quantity) };
    const { cart } = await session.api.post(`carts/${token}/lines.json`, body);
    change({ cart });
    say(`${product.title} is in the cart.`);
}

async function newCart() {
    const { cart } = await session.api.post("carts.json", { market_id: session.market.id });
    change({ cart });
    return cart.token;
}
