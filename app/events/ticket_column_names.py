"""What sellers of tickets call the columns of their lists, in English, German and Afrikaans."""

from collections.abc import Collection, Sequence

from app.core.column_samples import match_columns
from app.core.spreadsheet import column_key
from app.events.ticket_layouts import FIELDS, LAYOUTS

OTHER_NAMES = {
    "reference": ("ticket no", "ticket nr", "ticket #", "ticket number", "ticket id", "ticket ref", "ticket reference",
                  "ticket code", "ticket serial", "ticket serial number", "serial number", "attendee no",
                  "attendee number", "attendee id", "order no", "order number", "order ref", "order reference",
                  "booking no", "booking ref", "booking reference", "Buchungsnr", "Buchungsnummer", "Bestellnummer",
                  "Bestellnr", "Ticketnummer", "Ticketnr", "Ticketcode", "Ticket-ID", "Kartennummer", "Kartennr",
                  "Eintrittskartennummer", "Seriennummer", "Teilnehmernummer", "Auftragsnummer", "kaartjienommer",
                  "kaartjienr", "kaartjiekode", "nommer van kaartjie", "reeksnommer", "bestelnommer", "besprekingsnommer"),
    "ticketType": ("ticket type name", "ticket name", "ticket category", "kind", "type", "category", "item", "item name",
                   "product", "product name", "price category", "Ticketart", "Ticketname", "Ticketkategorie",
                   "Kategorie", "Preiskategorie", "Tickettyp", "Kartenart", "Kartentyp", "Art", "Produkt", "Produktname",
                   "Artikel", "kaartjiesoort", "kaartjietipe", "soort kaartjie", "tipe kaartjie", "soort", "tipe", "kategorie",
                   "produk", "ticket"),
    "name": ("guest", "guest name", "attendee", "full name", "customer", "customer name", "buyer", "buyer name",
             "purchaser", "purchaser name", "ticket holder", "ticket holder name", "holder", "Gast", "Teilnehmer",
             "Teilnehmername", "Vorname und Nachname", "Kunde", "Kundenname", "Käufer", "Ticketinhaber", "naam", "gas",
             "koper", "naam van koper", "naam koper", "kaartjiehouer"),
    "lastName": ("last name", "surname", "family name", "attendee last name", "attendee surname", "Nachname",
                 "Familienname", "Zuname", "van", "familienaam"),
    "email": ("e-mail address", "purchaser e-mail", "buyer e-mail", "customer e-mail", "billing e-mail", "mail",
              "E-Mail", "E-Mail-Adresse", "Mailadresse", "E-Mail Käufer", "E-Mail des Käufers", "e-pos", "e-posadres",
              "e-pos koper", "e-pos van koper", "e-posadres van koper", "koper e-pos"),
    "price": ("ticket price", "unit price", "item price", "price per ticket", "price each", "face value", "price paid",
              "gross price", "amount paid", "paid", "amount", "total", "Ticketpreis", "Einzelpreis", "Kartenpreis",
              "Stückpreis", "Preis pro Ticket", "Preis", "Verkaufspreis", "bezahlter Preis", "bezahlter Betrag",
              "Bruttopreis", "Betrag", "kaartjieprys", "eenheidsprys", "prys per kaartjie", "prys", "verkoopprys",
              "prys betaal", "bedrag betaal", "bedrag"),
    "currency": ("Währung", "geldeenheid"),
    "soldAt": ("sold on", "date sold", "sale date", "paid on", "ordered on", "purchased at",
               "purchased on", "purchase date", "date of purchase", "date purchased", "booking date", "order created",
               "Gekauft am", "Verkauft am", "Bestellt am", "Kaufdatum", "Verkaufsdatum", "Bestelldatum",
               "Buchungsdatum", "Datum der Bestellung", "gekoop op", "verkoop op", "aankoopdatum", "besteldatum",
               "datum gekoop", "date", "when", "Datum"),
    "status": ("ticket status", "ticket state", "order status", "order state", "payment status",
               "payment state", "booking status", "purchase status", "status of the order", "Ticketstatus",
               "Status des Tickets", "Bestellstatus", "Status der Bestellung", "Zahlungsstatus", "Status der Zahlung",
               "Buchungsstatus", "Auftragsstatus", "Zustand", "kaartjiestatus", "bestelstatus", "bestellingstatus",
               "status van die bestelling", "betaalstatus", "betalingstatus", "toestand",
               "state"),
    "orderNumber": ("order", "order no", "order nr", "order code", "order id", "order ref", "order reference",
                    "booking no", "booking number", "booking id", "booking ref", "booking reference", "Bestellung",
                    "Bestellnummer", "Bestellnr", "Bestellcode", "Bestell-ID", "Buchungsnr", "Buchungsnummer",
                    "Auftragsnummer", "bestelling", "bestelnommer", "besprekingsnommer"),
    "secret": ("code", "QR code", "barcode number", "barcode content", "ticket barcode", "ticket code", "Ticketcode",
               "Barcode-Inhalt", "Barcodenummer", "Strichcode", "QR-Code", "strepieskode", "kaartjiekode", "kode"),
    "validFrom": ("Gültig ab", "geldig vanaf"),
    "validUntil": ("Gültig bis", "geldig tot"),
}  # fmt: skip
"""The totals of orders, their fees and their discounts are left out: none of them is the price of a ticket."""
PRICE_ENDINGS = ("", "N$", "NAD", "gross", "incl VAT", "incl tax", "brutto", "inkl MwSt", "BTW ingesluit")
TOTALS = frozenset(
    column_key(f"{name} {ending}")
    for name in ("total", "total paid", "amount", "amount paid", "Betrag", "bedrag")
    for ending in PRICE_ENDINGS
)
"""They are the price only where no other column is: in some lists they are of the whole order."""
FIRST_NAMES = tuple(
    map(column_key, ("first name", "given name", "forename", "attendee first name", "Vorname", "voornaam"))
)
PARTS_OF_NAMES = {*FIRST_NAMES, "name", "naam"}
"""Columns that a column of last names completes. `Name` beside `Vorname` is the last name itself."""
TICKET = column_key("Ticket")


def suggest_mapping(columns: Sequence[str], *, names_only: Collection[str] = ()) -> dict[str, str]:
    """The column of each field whose name one of the formats or another seller has. A column is one field.

    A column of orders is the number of the ticket only if no other is. `Ticket` is the number if no other column is, and
    another one is the ticket type; but not if it is in `names_only`, the columns whose values are no numbers of tickets.
    The column of last names is one beside a column of first names or alone: whole names need none.
    """
    names = {field: _list_keys(field, attribute) for field, attribute in FIELDS.items()}
    names["price"].sort(key=TOTALS.__contains__)
    _decide_ticket(columns, names_only, names)
    names["reference"].sort(key=set(names["orderNumber"]).__contains__)
    if "vorname" in map(column_key, columns):
        names["lastName"].append("name")
    has_last_names = match_columns(columns, {"lastName": names["lastName"]})
    names["name"] = [*FIRST_NAMES, *names["name"]] if has_last_names else [*names["name"], *FIRST_NAMES]
    mapping: dict[str, str] = {}
    for field, column in match_columns(columns, names).items():
        if column not in mapping.values():
            mapping[field] = column
    if "name" in mapping and column_key(mapping["name"]) not in PARTS_OF_NAMES:
        mapping.pop("lastName", None)
    return mapping


def _list_keys(field: str, attribute: str) -> list[str]:
    """The keys of the names of a field, those of the formats first."""
    endings = PRICE_ENDINGS if field == "price" else ("",)
    names = [f"{name} {ending}" for name in OTHER_NAMES.get(field, ()) for ending in endings]
    own = [
        f"{key}{column_key(ending)}" for layout in LAYOUTS for key in layout.columns[attribute] for ending in endings
    ]
    return [*own, *map(column_key, names)]


def _decide_ticket(columns: Sequence[str], names_only: Collection[str], names: dict[str, list[str]]) -> None:
    """Make `Ticket` a name of the number instead of the ticket type, if it is the only column that can be the number."""
    keys = {column_key(column) for column in columns}
    numbers = set(names["reference"]) - set(names["orderNumber"])
    is_name = TICKET in map(column_key, names_only)
    if not is_name and not keys & numbers and keys & set(names["ticketType"]) - {TICKET}:
        names["ticketType"].remove(TICKET)
        names["reference"].append(TICKET)
