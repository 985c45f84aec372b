"""query.py DATABASE QUERY...: the rows of the queries, with | between columns."""
import sqlite3
import sys

connection = sqlite3.connect("file:%s?mode=ro" % sys.argv[1], uri=True)
for query in sys.argv[2:]:
    for row in connection.execute(query):
        print(*row, sep="|")
