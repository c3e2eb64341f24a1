// The shipping options for the address, and the pickup points of options that need one.

import { enqueue, onSubmit } from "./actions.js";
import { step } from "./checkout.js";
import { byId, element, show } from "./dom.js";
import { money } from "./money.js";
import { onChange, session } from "./session.js";

const PHASES = ["address", "shipping"];

const form = byId("shipping");
let quotes = [];
let quotedFor = null;

export function setUpShipping() {
    onSubmit(form, () => step("shipping", chosen()));
    form.addEventListener("change", (event) => {
        if (["quote", "postcode_prefix"].includes(event.target.name)) enqueue(form, showPickupPoints);
    });
    onChange(render);
}

function render({ checkout }) {
    const version = checkout && `${checkout.token} ${checkout.updated_at}`;
    if (version === quotedFor) return;
    quotedFor = version;
    if (checkout && PHASES.includes(checkout.phase)) enqueue(form, () => loadQuotes(version));
    else showQuotes([], checkout?.shipping_method ? summary(checkout) : "Save the address to see the shipping methods.");
}

function summary({ shipping_method: method, pickup_point: point }) {
    return [method.name, point?.name].filter(Boolean).join(", ");
}

async function loadQuotes(version) {
    const answer = await session.api.get(`checkouts/${session.checkout.token}/shipping_quote.json`);
    if (version !== quotedFor) return;
    showQuotes(answer.quotes, "Nothing can be sent to this address.");
    await showPickupPoints();
}

function showQuotes(found, otherwise) {
    // Every change of the checkout loads them again, which must not undo what the visitor has chosen.
    const chosenId = chosenRateId() ?? session.checkout?.shipping_rate_id;
    quotes = found;
    byId("no-quotes").textContent = quotes.length ? "" : otherwise;
    byId("quotes").replaceChildren(...quotes.map((quote) => choice(quote, quote.rate_id === chosenId)));
    show(byId("pickup"), false);
    // The next checkout begins without a point.
    if (!found.length) form.elements.pickup_point_id.replaceChildren();
}

function choice(quote, isChosen) {
    const input = element("input", {
        type: "radio",
        name: "quote",
        value: quote.rate_id,
        checked: isChosen,
        required: true,
    });
    const words = [...new Set([quote.method.name, quote.display_name]), duration(quote.method)].filter(Boolean).join(", ");
    return element("label", {}, input, `${words}: ${money(quote.price_cents, quote.currency)}`);
}

function duration({ estimated_days_min: least, estimated_days_max: most }) {
    return most === null ? "" : `${least ?? 0} to ${most} days`;
}

const chosenRateId = () => form.querySelector("[name=quote]:checked")?.value;
const chosenQuote = () => quotes.find(({ rate_id }) => rate_id === chosenRateId());

function chosen() {
    const quote = chosenQuote();
    return {
        shipping_method_id: quote.method.id,
        shipping_rate_id: quote.rate_id,
        pickup_point_id: (quote.method.requires_pickup_point && form.elements.pickup_point_id.value) || null,
    };
}

async function showPickupPoints() {
    const method = chosenQuote()?.method;
    show(byId("pickup"), Boolean(method?.requires_pickup_point));
    if (!method?.requires_pickup_point) return;
    const { pickup_points: points } = await session.api.get("pickup-points.json", pointsQuery(method));
    const select = form.elements.pickup_point_id;
    const before = select.value || session.checkout?.pickup_point_id;
    select.replaceChildren(
        ...points.map(({ id, name, zip, city }) => new Option(`${name}, ${zip} ${city}`, id)),
    );
    if (points.some(({ id }) => id === before)) select.value = before;
}

function pointsQuery({ carrier }) {
    const prefix = form.elements.postcode_prefix.value.trim();
    const query = { carrier, country_code: session.checkout.shipping_address.country_code, limit: 250 };
    return prefix ? { ...query, postcode_prefix: prefix } : query;
}
