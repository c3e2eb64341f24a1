// The lines and totals of the cart, checkout or order in the sidebar. Only a cart's lines can be changed.

import { enqueue, onSubmit, once } from "./actions.js";
import { byId, copyOf, element, keepInStep, say, show, valuesOf } from "./dom.js";
import { money } from "./money.js";
import { change, onChange, session } from "./session.js";

const TITLES = { cart: "Cart", checkout: "Your order", order: "Your order" };

export function setUpSummary() {
    onSubmit(byId("enter"), enterCheckout);
    onChange(render);
}

function render({ market, cart, checkout, order }) {
    const kind = order ? "order" : checkout ? "checkout" : "cart";
    const shown = order ?? checkout ?? cart;
    const lines = shown?.line_items ?? [];
    show(byId("summary"), true);
    byId("summary-title").textContent = TITLES[kind];
    show(byId("nothing"), !lines.length);
    show(byId("enter"), kind === "cart" && lines.length > 0);
    const includesTax = order?.prices_include_tax ?? market.prices_include_tax;
    const items = keepInStep(byId("lines"), lines, lineItem);
    items.forEach((item, index) => fillLine(item, lines[index], { kind, includesTax, currency: shown.currency }));
    byId("totals").replaceChildren(...(lines.length ? totals(shown, includesTax) : []));
}

function lineItem(line) {
    const item = copyOf("line");
    const form = item.querySelector("form");
    const input = form.elements.quantity;
    const remove = form.querySelector("button");
    form.id = `line-${line.id}`;
    remove.setAttribute("aria-label", `Remove ${line.title}`);
    input.closest("label").querySelector("span").textContent = `Quantity of ${line.title}`;
    input.addEventListener("change", () => {
        const quantity = input.value === "" ? null : Number(input.value);
        enqueue(form, () => setQuantity(line, quantity));
    });
    remove.addEventListener("click", () => once(remove, () => removeLine(line)));
    return item;
}

function fillLine(item, line, { kind, includesTax, currency }) {
    const total = includesTax ? line.line_total_with_tax_cents : line.line_total_without_tax_cents;
    const form = item.querySelector("form");
    const isFixed = kind !== "cart";
    item.querySelector(".title").textContent = isFixed ? `${line.quantity} × ${line.title}` : line.title;
    item.querySelector(".amount").textContent = money(total, currency);
    form.elements.quantity.value = line.quantity;
    show(form.elements.quantity.closest("label"), !isFixed);
    show(form.querySelector("button"), !isFixed);
}

function totals({ totals: sums, automatic_discounts: automatic = [] }, includesTax) {
    const amount = (cents) => money(cents, sums.currency);
    const subtotal = includesTax ? sums.subtotal_with_tax_cents : sums.subtotal_without_tax_cents;
    const has = (cents) => Number(cents ?? 0) !== 0;
    const titles = automatic.map(({ title }) => title).filter(Boolean);
    const rows = [
        ["Subtotal", amount(subtotal)],
        has(sums.discount_cents) && [["Discounts", ...titles].join(", "), amount(-sums.discount_cents)],
        sums.shipping_cents !== undefined && ["Shipping", amount(sums.shipping_cents)],
        has(sums.shipping_discount_cents) && ["taken off shipping", amount(-sums.shipping_discount_cents)],
        has(sums.cod_fee_cents) && ["Cash on delivery", amount(sums.cod_fee_cents)],
        [includesTax ? "Tax, included" : "Tax", amount(sums.tax_cents)],
        ["Total", amount(sums.total_cents), "total"],
        has(sums.gift_card_cents) && ["Gift cards", amount(-sums.gift_card_cents)],
        has(sums.gift_card_cents) && ["To pay", amount(sums.amount_due_cents), "total"],
    ];
    return rows.filter(Boolean).flatMap(([term, text, className = ""]) => [
        element("dt", { textContent: term, className }),
        element("dd", { textContent: text, className }),
    ]);
}

async function setQuantity(line, quantity) {
    const { cart } = await session.api.patch(linePath(line), { quantity }).catch(showAsItWas);
    change({ cart });
    say(`${quantity} of ${line.title} in the cart.`);
}

function showAsItWas(refused) {
    change({});
    throw refused;
}

async function removeLine(line) {
    const { cart } = await session.api.delete(linePath(line));
    change({ cart });
    say(`${line.title} is no longer in the cart.`);
    byId("catalogue-title").focus();
}

const linePath = (line) => `carts/${session.cart.token}/lines/${line.id}.json`;

async function enterCheckout() {
    const { email } = valuesOf(byId("enter"));
    const { checkout } = await session.api.post("checkouts.json", { cart_token: session.cart.token, email });
    change({ checkout });
    byId("checkout-title").focus();
}
