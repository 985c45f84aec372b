"""query.py DATABASE QUERY...: the rows of the queries, with | between columns. The folder
`packages` beside the database is left out of paths."""
import os
import sqlite3
import sys

folder = os.path.join(os.path.dirname(os.path.abspath(sys.argv[1])), "packages", "")
connection = sqlite3.connect("file:%s?mode=ro" % sys.argv[1], uri=True)
for query in sys.argv[2:]:
    for row in connection.execute(query):
        print(*(str(value).replace(folder, "") for value in row), sep="|")
