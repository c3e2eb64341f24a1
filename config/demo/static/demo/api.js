// A client of the storefront API. A refusal is thrown as a `Problem` with the problem document (RFC 9457).

export class Problem extends Error {
    constructor(document) {
        super(document.detail || document.title);
        this.document = document;
    }

    get status() {
        return this.document.status;
    }
}

export class Api {
    constructor(root, key) {
        this.root = root;
        this.key = key;
    }

    get = (path, query = {}) => this.send("GET", `${path}?${new URLSearchParams(query)}`);
    post = (path, body, headers) => this.send("POST", path, body, headers);
    put = (path, body) => this.send("PUT", path, body);
    patch = (path, body) => this.send("PATCH", path, body);
    delete = (path) => this.send("DELETE", path);

    async send(method, path, body, headers = {}) {
        const answer = await this.fetch(path, {
            method,
            // Strict handling refuses misspelt fields, which would otherwise be ignored.
            headers: {
                "X-Storefront-Key": this.key,
                "Content-Type": "application/json",
                Prefer: "handling=strict",
                ...headers,
            },
            body: body && JSON.stringify(body),
        });
        const content = await contentOf(answer);
        if (!answer.ok) throw new Problem({ status: answer.status, ...content });
        return content;
    }

    async fetch(path, request) {
        try {
            return await fetch(`${this.root}/${path}`, request);
        } catch {
            throw new Problem({ status: 0, code: "unreachable", title: "The shop can't be reached. Try again." });
        }
    }
}

async function contentOf(answer) {
    try {
        return await answer.json();
    } catch {
        return { code: "unreadable", title: `The shop's answer (${answer.status}) can't be read.` };
    }
}
