"""schema.py SCHEMA FOLDER: the questions in a folder are as the schema has them, and their sections
have the sizes that they name."""
import glob
import json
import os
import sys

import jsonschema

with open(sys.argv[1], encoding="utf-8") as file:
    validator = jsonschema.Draft202012Validator(json.load(file))
paths = glob.glob(os.path.join(sys.argv[2], "*.json"))
for path in paths:
    with open(path, encoding="utf-8") as file:
        questions = json.load(file)
    validator.validate(questions)
    assert (
        os.path.getsize(os.path.join(sys.argv[2], questions["section"])) == questions["size"]
    ), path
assert paths
print("%d files are valid" % len(paths))
