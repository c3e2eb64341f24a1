// The checkout's address, codes and VAT number, and the steps that its phase allows.

import { onClick, onSubmit, once } from "./actions.js";
import { byId, element, say, show, valuesOf } from "./dom.js";
import { money } from "./money.js";
import { change, onChange, session } from "./session.js";

// Mirrors the API's rules, to show the right forms. If the API refuses anyway, the refusal is shown.
const PHASES = {
    address: ["pending", "address"],
    code: ["pending", "address", "shipping"],
    vat: ["pending", "address", "shipping"],
    shipping: ["address", "shipping"],
    payment: ["shipping", "payment", "failed"],
};
const HINTS = {
    pending: "Prices are fixed and the goods are held for you. Where shall they go?",
    address: "How shall they be sent?",
    shipping: "How do you pay?",
    payment: "The amounts are final.",
    processing: "The payment is under way.",
    failed: "The payment has failed. Choose again how to pay.",
    abandoned: "This checkout has ended, and nothing is held any more. The cart may still be there.",
};
const FAILURES = { card_declined: "The card was declined.", payment_abandoned: "The payment was cancelled." };
const VAT_STATUS = {
    valid: "is valid",
    invalid: "is not valid",
    unavailable: "could not be checked, and tax is charged",
};

export function setUpCheckout() {
    onClick(byId("leave"), () => change({ checkout: null }));
    onSubmit(byId("address"), () => step("address", addressBody()));
    onSubmit(byId("code"), applyCode);
    onSubmit(byId("vat"), () => step("vat", valuesOf(byId("vat"))));
    onChange(render);
}

// Send one step of the checkout, and show the updated checkout.
export async function step(name, body) {
    const { checkout } = await session.api.put(stepPath(name), body);
    change({ checkout });
    say(byId("hint").textContent);
}

export const stepPath = (name) => `checkouts/${session.checkout.token}/${name}.json`;

function render({ checkout }) {
    show(byId("checkout"), checkout !== null && checkout.phase !== "completed");
    if (!checkout) return;
    for (const [id, phases] of Object.entries(PHASES)) {
        byId(id).querySelector("fieldset").disabled = !phases.includes(checkout.phase);
    }
    byId("hint").textContent = [FAILURES[checkout.failure_code], HINTS[checkout.phase]].filter(Boolean).join(" ");
    fillAddress(checkout);
    byId("codes").replaceChildren(...checkout.discount_codes.map((code) => codeItem(code, checkout.currency)));
    byId("vat-status").textContent = vatStatus(checkout.vat);
}

function fillAddress(checkout) {
    const form = byId("address");
    // Keep what the visitor is typing.
    if (form.dataset.token === checkout.token) return;
    form.dataset.token = checkout.token;
    form.reset();
    const known = {
        country_code: session.market.country_code,
        ...checkout.shipping_address,
        email: checkout.email,
        customer_note: checkout.customer_note,
    };
    for (const input of form.querySelectorAll("[name]")) input.value = known[input.name] ?? "";
}

function addressBody() {
    const { email, customer_note, ...address } = valuesOf(byId("address"));
    return { email, customer_note, shipping_address: address, same_as_shipping: true };
}

async function applyCode() {
    const { checkout } = await session.api.post(stepPath("discount"), valuesOf(byId("code")));
    byId("code").reset();
    change({ checkout });
    say("The code has been applied.");
}

function codeItem({ code, type, amount_cents: cents }, currency) {
    const remove = element("button", { type: "button", className: "plain", textContent: "Remove" });
    remove.setAttribute("aria-label", `Remove the code ${code}`);
    remove.addEventListener("click", () => once(remove, () => removeCode(code)));
    const kind = type === "gift_card" ? "gift card" : "discount";
    return element("li", {}, element("span", { textContent: `${code}, ${kind}: ${money(cents, currency)}` }), remove);
}

async function removeCode(code) {
    const { checkout } = await session.api.delete(stepPath(`discount/${encodeURIComponent(code)}`));
    change({ checkout });
    say("The code has been removed.");
    byId("code").elements.code.focus();
}

function vatStatus(vat) {
    if (!vat) return "";
    const result = `${vat.country_code} ${vat.number} ${VAT_STATUS[vat.status]}.`;
    return vat.reverse_charge ? `${result} You owe the tax yourself, and none is charged.` : result;
}
