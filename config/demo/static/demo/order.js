// Shows the placed order, and links to its confirmation email.

import { onClick } from "./actions.js";
import { byId, show } from "./dom.js";
import { change, onChange } from "./session.js";

export function setUpOrder() {
    onClick(byId("again"), () => {
        change({ order: null });
        byId("catalogue-title").focus();
    });
    onChange(render);
}

function render({ shop, order }) {
    show(byId("order"), order !== null);
    if (!order) return;
    byId("order-number").textContent = order.number;
    byId("order-email").textContent = order.email;
    byId("order-state").textContent = `The order is ${order.payment_status} and ${order.fulfillment_status}.`;
    byId("order-message").href = `${shop.handle}/orders/${order.token}/email`;
}
