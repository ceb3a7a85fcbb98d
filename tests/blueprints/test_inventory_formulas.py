"""No file of a stock holds a formula, whatever separator a spreadsheet splits it by."""

import re

from app.inventory.reports.definitions import REPORTS
from tests.core.test_formulas import cells_of, is_formula
from tests.factories.inventory import Stock
from tests.http import Client, data


def test_no_file_holds_a_formula_in_a_locale_of_semicolons(client: Client) -> None:
    stock = Stock(client)
    payload = 'x;=2+5;y\n=2+5\t=2+5|=2+5; "=2+5"'
    item = stock.item(**dict.fromkeys(("name", "category", "supplier", "notes"), payload), sku="A;=1", onHand=3)
    data(stock.adjust(item, counted=2))
    wrong = "\n".join(["sku,name,onHand", '"A;=1;=2","x","1;=2+5"']) + "\n"
    errors = stock.sheet(wrong).get_json()["data"]["errorsUrl"]
    files = [
        stock.export(),
        stock.owner.get(f"{stock.path}/variance.csv").get_data(),
        stock.owner.get(errors).get_data(),
    ]
    files += [
        stock.owner.get(f"{stock.path}/reports", query_string={"format": "csv", "type": name}).get_data()
        for name in REPORTS
    ]
    for content in files:
        written = content.decode("utf-8-sig")
        assert [
            cell for cell in cells_of(written) if is_formula(cell) and not re.fullmatch(r'"?-[0-9.]+"?', cell)
        ] == []
    assert data(stock.sheet(files[0]))["unchanged"] == 1
    assert stock.read(item)["notes"] == payload
