// Starts the page: chooses a shop and a market, and loads the rest.

import { enqueue } from "./actions.js";
import { setUpCatalogue } from "./catalogue.js";
import { setUpCheckout } from "./checkout.js";
import { byId, setup } from "./dom.js";
import { recallChoice } from "./memory.js";
import { setUpOrder } from "./order.js";
import { confirmWhereUnderWay, setUpPayment } from "./payment.js";
import { enterMarket, enterShop, session } from "./session.js";
import { setUpShipping } from "./shipping.js";
import { setUpSummary } from "./summary.js";

const shopChoice = byId("shop");
const marketChoice = byId("market");
let markets = [];

async function chooseShop(handle, marketId) {
    const shop = setup.shops.find((each) => each.handle === handle) ?? setup.shops[0];
    shopChoice.value = shop.handle;
    enterShop(shop);
    // The API lists the newest first.
    markets = (await session.api.get("markets.json")).markets.reverse();
    marketChoice.replaceChildren(...markets.map((market) => new Option(`${market.name}, ${market.currency}`, market.id)));
    await chooseMarket(marketId);
}

async function chooseMarket(marketId) {
    const market = markets.find((each) => each.id === marketId) ?? markets[0];
    marketChoice.value = market.id;
    await enterMarket(market);
}

document.addEventListener("submit", (event) => event.preventDefault());
shopChoice.append(...setup.shops.map((shop) => new Option(shop.name, shop.handle)));
shopChoice.addEventListener("change", () => enqueue(null, () => chooseShop(shopChoice.value)));
marketChoice.addEventListener("change", () => enqueue(null, () => chooseMarket(marketChoice.value)));

for (const setUp of [setUpCatalogue, setUpSummary, setUpCheckout, setUpShipping, setUpPayment, setUpOrder]) setUp();

const { handle, marketId } = recallChoice();
enqueue(null, () => chooseShop(handle, marketId));
enqueue(null, confirmWhereUnderWay);
