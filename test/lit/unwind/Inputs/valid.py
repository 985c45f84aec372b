"""valid.py SCHEMA [--lines]: checks the JSON documents of standard input, one after the other, or one in each
line, against a JSON Schema. Prints how many of each form there were."""
import collections
import json
import sys

import jsonschema

with open(sys.argv[1], encoding="utf-8") as file:
    schema = json.load(file)
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
text = sys.stdin.read()
if "--lines" in sys.argv:
    documents = [json.loads(line) for line in text.splitlines()]
else:
    documents, at = [], 0
    while at < len(text.rstrip()):
        document, at = json.JSONDecoder().raw_decode(text, len(text) - len(text[at:].lstrip()))
        documents.append(document)
forms = collections.Counter()
for document in documents:
    for error in validator.iter_errors(document):
        # oneOf hides the reason: that of the form which is nearest.
        near = jsonschema.exceptions.best_match([error])
        sys.exit("/".join(map(str, near.absolute_path)) + ": " + near.message[:300])
    form = "groups" if "groups" in document else "failure" if "error" in document else "core" if "command" in document else "live"
    forms[form] += 1
print("valid:", ", ".join("%d %s" % (count, form) for form, count in sorted(forms.items())))
