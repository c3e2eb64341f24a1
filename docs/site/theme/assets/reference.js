const place = document.getElementById("reference");
const font = "system-ui, sans-serif";
const code = "ui-monospace, monospace";

// The tags are named `admin: tax_rates`. The menu shows "Tax rates" below "Admin".
function group(tags) {
  const groups = new Map();
  for (const tag of tags) {
    const [surface, resource = surface] = tag.name.split(": ");
    const words = resource.replaceAll(/[-_]/g, " ").replace("api ", "API ");
    tag["x-displayName"] = words[0].toUpperCase() + words.slice(1);
    const name = resource === surface ? "Messages" : surface[0].toUpperCase() + surface.slice(1);
    groups.set(name, [...(groups.get(name) ?? []), tag.name]);
  }
  return ["Storefront", "Admin", "Messages"].map((name) => ({ name, tags: groups.get(name) ?? [] }));
}

async function show() {
  const answer = await fetch(place.dataset.document);
  const documented = await answer.json();
  documented["x-tagGroups"] = group(documented.tags);
  Redoc.init(documented, options, place);
}

const options = {
  hideDownloadButton: true,
  jsonSampleExpandLevel: 3,
  scrollYOffset: "header",
  sortRequiredPropsFirst: true,
  theme: {
    colors: { primary: { main: "#00796b" } },
    typography: {
      fontFamily: font,
      headings: { fontFamily: font },
      code: { fontFamily: code },
    },
  },
};

show();
