"""SQL of invoice numbers."""

from sqlalchemy import text

from app.invoicing.models import InvoiceCounter

TAKE_NUMBER = text(f"""
    INSERT INTO {InvoiceCounter.__tablename__} AS counter (organiser_id, series, year, last)
    VALUES (:organiser_id, :series, extract(year FROM CAST(:moment AS timestamptz) AT TIME ZONE :home), 1)
        ON CONFLICT (organiser_id, series, year) DO UPDATE SET last = counter.last + 1
    RETURNING year, last""")
