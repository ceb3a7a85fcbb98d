"""What the columns of a file meant in the last import of an organisation

Revision ID: 0059
Revises: 0058
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = '0059'
down_revision = '0058'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        'import_mapping',
        sa.Column('organisation_id', sa.String(24, collation='C'), nullable=False),
        sa.Column('kind', sa.String(10), nullable=False),
        sa.Column('columns_digest', sa.LargeBinary, nullable=False),
        sa.Column('mapping', JSONB, nullable=False),
        sa.Column('saved_at', sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.PrimaryKeyConstraint('organisation_id', 'kind', 'columns_digest'),
        sa.ForeignKeyConstraint(['organisation_id'], ['account.id'], ondelete='CASCADE'),
    )


def downgrade() -> None:
    op.drop_table('import_mapping')
