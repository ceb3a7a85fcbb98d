"""Stock: an index in the order of names for each text that items share, and lists that are read for words by themselves.

The table of items is written anew once (about a minute for a million of them), and nobody reads or writes stock meanwhile.

Revision ID: 0012
Revises: 0011
Create Date: 2026-11-24 06:58:40.000000
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = '0012'
down_revision = '0011'
branch_labels = None
depends_on = None

FACETS = ('barcode', 'batch_number', 'storage_location', 'brand', 'supplier', 'product_type', 'category', 'unit')
JOINED = " || ' ' || ".join(
    f"coalesce({each}, '')"
    for each in ('name', 'sku', 'barcode', 'batch_number', 'category', 'brand', 'supplier', 'storage_location')
)
WORDS = (
    f"' ' || btrim(left(CASE WHEN octet_length({JOINED}) = char_length({JOINED}) THEN "
    f"regexp_replace(lower({JOINED}), '[^a-z0-9]+', ' ', 'g') ELSE "
    f'btrim(regexp_replace(replace(translate(regexp_replace(lower(normalize({JOINED}, NFKD)), '
    f"'[\\u0300-\\u036f]', '', 'g'), 'ŁØĐłøđħı', 'lodlodhi'), 'ß', 'ss'), '[!-/:-@\\[-`{{-~\\s]+', ' ', 'g')) "
    f'END, 480))'
)
ENTRIES = (
    "array_to_tsvector(string_to_array(ltrim(replace(words, ' ', ' ' || right(event_id, 8))), ' '))"
)
EXPIRY = "coalesce(expiry_date, '9999-12-31'::date)"
JOINED_BEFORE = " || ' ' || ".join(
    f"coalesce({each}, '')"
    for each in ('name', 'sku', 'category', 'brand', 'supplier', 'barcode', 'storage_location', 'batch_number')
)
WORDS_AND_VALUES = (
    f"array_to_tsvector(array_remove(array_remove(array_remove(string_to_array(replace(' ' || "
    f'translate(CASE WHEN octet_length({JOINED_BEFORE}) = char_length({JOINED_BEFORE}) THEN lower({JOINED_BEFORE}) ELSE '
    f"replace(translate(regexp_replace(lower(normalize({JOINED_BEFORE}, NFKD)), '[\\u0300-\\u036f]', '', 'g'), "
    f'\'ŁØĐłøđħı\', \'lodlodhi\'), \'ß\', \'ss\') END, \'!"#$%&\'\'()*+,-./:;<=>?@[\\]^_`{{|}}~\t\n\', \'                 '
    f"                 '), ' ', ' ' || right(event_id, 8)), ' ') || ARRAY[right(event_id, 8) || "
    f"'.category=' || lower(category), right(event_id, 8) || '.brand=' || lower(brand), right(event_id, "
    f"8) || '.supplier=' || lower(supplier), right(event_id, 8) || '.product_type=' || "
    f"lower(product_type), right(event_id, 8) || '.storage_location=' || lower(storage_location), "
    f"right(event_id, 8) || '.batch_number=' || lower(batch_number), right(event_id, 8) || '.barcode=' || "
    f"lower(barcode), right(event_id, 8) || '.unit=' || lower(unit)], right(event_id, 8)::text), NULL), "
    f"''))"
)

GIN = {'postgresql_using': 'gin', 'postgresql_with': {'fastupdate': 'on', 'gin_pending_list_limit': '256'}}


def upgrade() -> None:
    op.execute('SET LOCAL statement_timeout = 0')
    for each in ('ix_inventory_item_low', 'ix_inventory_item_name', 'ix_inventory_item_expiry', 'uq_inventory_item_sku'):
        op.drop_index(each, table_name='inventory_item')
    op.execute(
        'ALTER TABLE inventory_item DROP COLUMN search, '
        'ADD COLUMN name_key text NOT NULL GENERATED ALWAYS AS (lower(name)) STORED, '
        f'ADD COLUMN words text NOT NULL GENERATED ALWAYS AS ({WORDS}) STORED'
    )
    _index('uq_inventory_item_sku', ['event_id', 'sku_key'], unique=True, postgresql_include=['id', 'words'])
    _index('ix_inventory_item_name', ['event_id', 'name_key', 'id'], postgresql_include=['words'])
    _index('ix_inventory_item_expiry', ['event_id', _sql(EXPIRY), 'id'], postgresql_include=['expiry_date', 'words'])
    _index('ix_inventory_item_low', ['event_id', 'is_low', _sql('lower(name)'), 'id'])
    for each in FACETS:
        columns = ['event_id', _sql(f'lower({each})'), _sql('lower(name)'), 'id']
        _index(f'ix_inventory_item_{each}', columns, postgresql_where=sa.text(f'{each} IS NOT NULL'))
        # What ANALYZE sees of a partial index is not used for plans.
        op.execute(f'CREATE STATISTICS st_inventory_item_{each} ON (lower({each})) FROM inventory_item')
    _index('ix_inventory_item_search', [sa.text(ENTRIES)], **GIN)
    op.execute('ANALYZE inventory_item')


def downgrade() -> None:
    op.execute('SET LOCAL statement_timeout = 0')
    for each in ('uq_inventory_item_sku', *(f'ix_inventory_item_{each}' for each in ('search', 'name', 'expiry', 'low', *FACETS))):
        op.drop_index(each, table_name='inventory_item')
    for each in FACETS:
        op.execute(f'DROP STATISTICS st_inventory_item_{each}')
    op.drop_column('inventory_item', 'words')
    op.drop_column('inventory_item', 'name_key')
    words = sa.Computed(WORDS_AND_VALUES, persisted=True)
    op.add_column('inventory_item', sa.Column('search', postgresql.TSVECTOR(), words, nullable=False))
    _index('uq_inventory_item_sku', ['event_id', 'sku_key'], unique=True)
    _index('ix_inventory_item_name', ['event_id', _sql('lower(name)'), 'id'])
    _index('ix_inventory_item_expiry', ['event_id', _sql(EXPIRY), 'id'])
    _index('ix_inventory_item_low', ['event_id', _sql('lower(name)'), 'id'], postgresql_where=sa.text('is_low'))
    _index('ix_inventory_item_search', ['search'], **GIN)


def _index(name: str, columns: list, **options: object) -> None:
    op.create_index(name, 'inventory_item', columns, **options)


def _sql(expression: str) -> sa.ColumnElement:
    return sa.literal_column(expression)
