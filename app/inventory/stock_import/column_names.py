"""What spreadsheets call the fields of an item, in English, German and Afrikaans."""

from collections.abc import Sequence

from app.core.column_samples import match_columns
from app.core.spreadsheet import column_key
from app.inventory.item_fields import ITEM_FIELDS

NAMES = {
    "name": ("item", "item name", "product", "product name", "article", "description", "Artikel", "Artikelname",
             "Bezeichnung", "Produkt", "Beschreibung", "naam", "produk", "beskrywing"),
    "sku": ("item code", "product code", "item number", "item no", "code", "article number", "Artikelnummer",
            "Artikel-Nr", "Art.-Nr.", "Nummer", "itemkode", "produkkode", "kode", "artikelnommer"),
    "productType": ("type", "Typ", "Produktart", "tipe"),
    "expiryDate": ("expiry", "expires", "expires on", "best before", "use by", "Ablaufdatum", "MHD",
                   "Mindesthaltbarkeit", "haltbar bis", "vervaldatum"),
    "category": ("group", "Kategorie", "Warengruppe", "kategorie", "groep"),
    "brand": ("Marke", "make", "handelsmerk"),
    "supplier": ("vendor", "Lieferant", "Händler", "verskaffer"),
    "barcode": ("EAN", "GTIN", "UPC", "Strichcode", "strepieskode"),
    "storageLocation": ("location", "place", "place of storage", "bin", "shelf", "Lagerort", "Lagerplatz", "Standort",
                        "ligging", "stoorplek"),
    "batchNumber": ("batch", "lot", "lot number", "Charge", "Chargennummer", "lotnommer"),
    "unit": ("UOM", "unit of measure", "Einheit", "Mengeneinheit", "eenheid"),
    "costPrice": ("cost", "unit cost", "purchase price", "buying price", "Einkaufspreis", "EK", "EK-Preis",
                  "kosprys", "inkoopprys"),
    "sellPrice": ("price", "selling price", "sale price", "retail price", "Verkaufspreis", "VK", "VK-Preis", "Preis",
                  "verkoopprys", "prys"),
    "taxRate": ("tax", "VAT", "VAT rate", "MwSt", "Mehrwertsteuer", "Steuersatz", "BTW"),
    "parLevel": ("par", "fill up to", "target stock", "maximum", "Sollbestand", "teikenvoorraad"),
    "minOrderQty": ("minimum order", "MOQ", "order at least", "Mindestbestellmenge", "minimum bestelling"),
    "reorderLevel": ("reorder point", "low at", "minimum stock", "minimum", "Meldebestand", "Mindestbestand",
                     "herbestelvlak"),
    "onHand": ("quantity", "qty", "stock", "in stock", "count", "stock on hand", "Bestand", "Menge", "Anzahl",
               "Lagerbestand", "voorraad", "hoeveelheid", "aantal"),
    "reserved": ("allocated", "reserviert", "gereserveer"),
    "damaged": ("broken", "beschädigt", "defekt", "beskadig"),
    "notes": ("note", "comment", "remarks", "Notiz", "Bemerkung", "Anmerkung", "notas", "opmerkings"),
}  # fmt: skip
KEYS = {field.name: [column_key(name) for name in (field.name, *NAMES.get(field.name, ()))] for field in ITEM_FIELDS}


def suggest_mapping(columns: Sequence[str]) -> dict[str, str]:
    """The column of each field that has a usual name; an amount may have its currency in the name."""
    plain = {_without_currency(column): column for column in reversed(columns)}
    return {field: plain[column] for field, column in match_columns(list(plain), KEYS).items()}


def _without_currency(column: str) -> str:
    """`Cost price` for `Cost price (N$)`."""
    words = column.replace("(", " ").replace(")", " ").split()
    return " ".join(word for word in words if word.casefold() not in ("n$", "nad", "in")) or column
