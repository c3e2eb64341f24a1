// Amounts come as minor units in decimal strings, of which a currency has none, two or three digits.

const formats = new Map();

function formatOf(currency) {
    if (!formats.has(currency)) {
        formats.set(currency, new Intl.NumberFormat("en", { style: "currency", currency }));
    }
    return formats.get(currency);
}

export function money(cents, currency) {
    const format = formatOf(currency);
    return format.format(Number(cents) / 10 ** format.resolvedOptions().maximumFractionDigits);
}
