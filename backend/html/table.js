// A table that is searched, sorted and shown a page at a time: a model has tens of thousands of
// rows, a page two dozen.

const ROWS_PER_PAGE = 25;

// columns: {title, get(row) -> text or number or null, number: is it bytes or a count,
//           text(row): how it is written, cell(row): an element instead}
class DataTable {
  constructor(parent, label, count, columns, {sort = null, descending = true} = {}) {
    this.columns = columns;
    this.count = count;
    this.label = label;
    this.sort = sort;
    this.descending = descending;
    this.page = 0;
    this.query = "";
    this.build(parent);
    this.select();
  }

  build(parent) {
    this.status = element("span", {role: "status", "aria-live": "polite"});
    this.previous = element("button", {type: "button", onclick: () => this.turn(-1)}, "Previous");
    this.next = element("button", {type: "button", onclick: () => this.turn(1)}, "Next");
    let timer = 0;
    const search = element("input", {type: "search", placeholder: "Search: words in any column",
      "aria-label": "Search in " + this.label, oninput: () => {
        clearTimeout(timer);
        timer = setTimeout(() => { this.query = search.value; this.select(); }, 120);
      }});
    this.headers = this.columns.map((column, index) => element("th",
      {scope: "col", class: column.number ? "number" : null},
      element("button", {type: "button", class: "plain", onclick: () => this.sortBy(index)},
        column.title)));
    this.body = element("tbody");
    parent.append(
      element("div", {class: "tools"}, search, this.previous, this.next, this.status),
      element("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": this.label},
        element("table", {}, element("thead", {}, element("tr", {}, ...this.headers)), this.body)));
  }

  textOf(row, column) {
    if (column.text) return column.text(row);
    const value = column.get(row);
    return column.number ? exactly(value) : value;
  }

  // All words of the search must occur in a row.
  select() {
    const wanted = this.query.toLowerCase().split(/\s+/).filter(Boolean);
    this.rows = [];
    for (let row = 0; row < this.count; ++row) {
      const text = wanted.length
        ? this.columns.map((column) => this.textOf(row, column)).join("\n").toLowerCase() : "";
      if (wanted.every((word) => text.includes(word))) this.rows.push(row);
    }
    this.order();
  }

  sortBy(index) {
    this.descending = this.sort === index ? !this.descending : Boolean(this.columns[index].number);
    this.sort = index;
    this.order();
  }

  order() {
    if (this.sort !== null) {
      const column = this.columns[this.sort];
      const sign = this.descending ? -1 : 1;
      const compare = column.number
        ? (a, b) => (column.get(a) ?? -1) - (column.get(b) ?? -1)
        : (a, b) => (column.get(a) < column.get(b) ? -1 : column.get(a) > column.get(b) ? 1 : 0);
      this.rows.sort((a, b) => sign * compare(a, b) || a - b);
    }
    this.page = 0;
    this.show();
  }

  turn(pages) {
    this.page += pages;
    this.show();
  }

  show() {
    const first = this.page * ROWS_PER_PAGE;
    const shown = this.rows.slice(first, first + ROWS_PER_PAGE);
    this.body.replaceChildren(...shown.map((row) => element("tr", {},
      ...this.columns.map((column) => element("td",
        {class: column.number ? "number" : column.name ? "name" : null},
        column.cell ? column.cell(row) : this.textOf(row, column))))));
    this.headers.forEach((header, index) => {
      if (this.sort !== index) header.removeAttribute("aria-sort");
      else header.setAttribute("aria-sort", this.descending ? "descending" : "ascending");
    });
    this.previous.disabled = this.page === 0;
    this.next.disabled = first + ROWS_PER_PAGE >= this.rows.length;
    this.status.textContent = this.rows.length === 0 ? "Nothing found" :
      `${withThousands(first + 1)} to ${withThousands(first + shown.length)} of ` +
      withThousands(this.rows.length);
  }
}

// Columns of a table of the data: indices of texts become texts.
function sizeColumns(get) {
  return [
    {title: "size", number: true, get, text: (row) => binaryUnits(get(row))},
    {title: "bytes", number: true, get},
  ];
}
