"""without_tables.py DB NAME...: removes tables."""
import sqlite3
import sys

connection = sqlite3.connect(sys.argv[1])
for name in sys.argv[2:]:
    connection.execute("DROP TABLE " + name)
connection.commit()
