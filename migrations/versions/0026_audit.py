"""The audit trail: one table that is only added to

The database refuses to change an entry, and to delete one that is younger than a year.

Revision ID: 0026
Revises: 0025
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = '0026'
down_revision = '0025'
branch_labels = None
depends_on = None

OBJECT_ID = sa.String(24, collation='C')
NEW_ID = (
    "lpad(to_hex(extract(epoch FROM now())::bigint), 8, '0') || left(replace(gen_random_uuid()::text, '-', ''), 16)"
)
OWNERS = ('organisation_id', 'event_id', 'account_id', 'actor_id')
TRIGGERS = """
    CREATE FUNCTION keep_audit_entry() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF TG_OP = 'DELETE' AND OLD.at < now() - interval '365 days' THEN
            RETURN OLD;
        END IF;
        RAISE EXCEPTION '% is insert-only: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'restrict_violation';
    END $$;
    CREATE TRIGGER audit_entry_rows BEFORE UPDATE OR DELETE ON audit_entry
        FOR EACH ROW EXECUTE FUNCTION keep_audit_entry();
    CREATE TRIGGER audit_entry_whole BEFORE TRUNCATE ON audit_entry
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
"""


def upgrade() -> None:
    op.create_table(
        'audit_entry',
        sa.Column('id', OBJECT_ID, server_default=sa.text(NEW_ID), nullable=False),
        sa.Column('at', sa.DateTime(timezone=True), server_default=sa.func.clock_timestamp(), nullable=False),
        sa.Column('action', sa.String(40), nullable=False),
        sa.Column('actor_kind', sa.String(10), nullable=False),
        sa.Column('actor_id', OBJECT_ID, nullable=True),
        sa.Column('session_id', OBJECT_ID, nullable=True),
        sa.Column('organisation_id', OBJECT_ID, nullable=True),
        sa.Column('event_id', OBJECT_ID, nullable=True),
        sa.Column('account_id', OBJECT_ID, nullable=True),
        sa.Column('subject_kind', sa.String(20), nullable=False),
        sa.Column('subject_id', sa.String(120, collation='C'), nullable=True),
        sa.Column('network', sa.String(45), nullable=True),
        sa.Column('request_id', sa.String(64), nullable=True),
        sa.Column('data', JSONB(), server_default=sa.text("'{}'"), nullable=False),
        sa.CheckConstraint(
            "actor_kind IN ('person', 'device', 'key', 'system', 'guest')", name=op.f('ck_audit_entry_actor_kind')
        ),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_audit_entry')),
    )
    for column in OWNERS:
        op.create_index(
            f"ix_audit_entry_{column.removesuffix('_id')}",
            'audit_entry',
            [column, 'at', 'id'],
            postgresql_where=sa.text(f'{column} IS NOT NULL'),
        )
    op.create_index('ix_audit_entry_at', 'audit_entry', ['at', 'id'])
    op.execute(TRIGGERS)


def downgrade() -> None:
    op.drop_table('audit_entry')
    op.execute('DROP FUNCTION keep_audit_entry()')
