"""Stock sheets: reading what people export, and writing it as one."""
