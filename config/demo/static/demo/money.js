// Formats amounts. The API sends minor units as decimal strings; a currency has zero, two or three of those digits.

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
