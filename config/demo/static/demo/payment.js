// Payment and placing the order. Every step can be repeated safely.

import { onClick, onSubmit } from "./actions.js";
import { step, stepPath } from "./checkout.js";
import { byId, element, say, show, valuesOf } from "./dom.js";
import { money } from "./money.js";
import { change, onChange, session, showOrder } from "./session.js";

const NAMES = {
    cod: "Cash on delivery",
    bank_transfer: "Bank transfer",
    test_card: "Test card",
    stripe: "Card",
};

const methods = byId("payment-methods");
let shownFor = null;

export function setUpPayment() {
    onSubmit(byId("payment"), choose);
    onClick(byId("pay"), pay);
    onClick(byId("confirm"), () => confirm({}));
    onClick(byId("cancel"), () => confirm({ cancel: true }));
    onClick(byId("complete"), complete);
    onChange(render);
}

// When the visitor returns from a gateway's page, ask for the outcome without a click.
export async function confirmWhereUnderWay() {
    if (session.checkout?.phase === "processing" && !session.checkout.ready_to_complete) await confirm({});
}

function render({ shop, checkout }) {
    if (!checkout) return;
    showMethods(shop);
    for (const input of methods.querySelectorAll("input")) input.checked = input.value === checkout.payment_method;
    const isUnderWay = checkout.phase === "processing";
    const isReady = isUnderWay && checkout.ready_to_complete;
    show(byId("paying"), checkout.phase === "payment" || isUnderWay);
    show(byId("pay"), checkout.phase === "payment");
    show(byId("confirm"), isUnderWay && !isReady);
    show(byId("cancel"), isUnderWay && !isReady);
    show(byId("complete"), isReady);
    byId("paying-hint").textContent = hint(checkout, { isUnderWay, isReady });
}

// The methods that the shop offers. Only once for each shop, so that a choice and the focus stay.
function showMethods(shop) {
    if (shop === shownFor) return;
    shownFor = shop;
    methods.replaceChildren(...shop.payment_methods.map(choice));
}

function choice(method) {
    const input = element("input", { type: "radio", name: "payment_method", value: method, required: true });
    return element("label", {}, input, ` ${NAMES[method] ?? method}`);
}

function hint({ totals }, { isUnderWay, isReady }) {
    const due = money(totals.amount_due_cents, totals.currency);
    if (isReady) return "The payment is settled. One click is left.";
    return isUnderWay ? `The payment of ${due} has no outcome yet.` : `${due} are to be paid.`;
}

async function choose() {
    await step("payment_method", valuesOf(byId("payment")));
    byId("pay").focus();
}

async function pay() {
    const back = location.origin + location.pathname;
    const body = { return_url: back, cancel_url: back };
    const { checkout, payment_attempt: attempt } = await session.api.post(stepPath("start_payment"), body);
    change({ checkout });
    if (attempt.redirect_url) location.assign(attempt.redirect_url);
    else await confirm({});
}

async function confirm(payload) {
    const { checkout } = await session.api.post(stepPath("confirm"), { callback_payload: payload });
    change({ checkout });
    say(checkout.ready_to_complete ? byId("paying-hint").textContent : byId("hint").textContent);
    byId(checkout.ready_to_complete ? "complete" : "confirm").focus();
}

async function complete() {
    // One key per checkout, so that a retry gets the first answer.
    const headers = { "Idempotency-Key": `demo-page/${session.checkout.token}` };
    const { checkout } = await session.api.post(stepPath("complete"), {}, headers);
    await showOrder(checkout);
    byId("order-title").focus();
}
