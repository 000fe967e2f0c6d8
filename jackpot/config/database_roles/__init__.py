"""Who may do what in the database: the roles (`roles.sql`) and their rights (`privileges.py`)."""
