// Remembers the chosen shop and market, and the tokens in each, across reloads.

const CHOICE = "demo";
const placeOf = ({ handle, marketId }) => `demo:${handle}:${marketId}`;

function read(place) {
    try {
        return JSON.parse(localStorage.getItem(place)) ?? {};
    } catch {
        return {};
    }
}

function write(place, content) {
    localStorage.setItem(place, JSON.stringify(content));
}

export const recallChoice = () => read(CHOICE);
export const recallTokens = (choice) => read(placeOf(choice));

export function rememberChoice(choice) {
    write(CHOICE, choice);
}

export function rememberTokens(choice, tokens) {
    write(placeOf(choice), tokens);
}
