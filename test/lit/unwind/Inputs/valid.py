"""valid.py SCHEMA [--lines]: checks the JSON documents of standard input, one after the other, or
one in each line, against a JSON Schema. Prints how many of each form there were."""
import collections
import json
import sys

import jsonschema


def form_of(document):
    if "groups" in document:
        return "groups"
    if "error" in document:
        return "failure"
    return "core" if "command" in document else "live"


with open(sys.argv[1], encoding="utf-8") as file:
    schema = json.load(file)
jsonschema.Draft202012Validator.check_schema(schema)
whole = jsonschema.Draft202012Validator(schema)
parts = {
    form: jsonschema.Draft202012Validator({"$ref": "#/$defs/" + form, "$defs": schema["$defs"]})
    for form in ("core", "live", "failure", "groups")
}
text = sys.stdin.read()
if "--lines" in sys.argv:
    documents = [json.loads(line) for line in text.splitlines()]
else:
    documents, at = [], 0
    while text[at:].strip():
        at = len(text) - len(text[at:].lstrip())
        document, at = json.JSONDecoder().raw_decode(text, at)
        documents.append(document)
forms = collections.Counter()
for document in documents:
    form = form_of(document)
    for error in parts[form].iter_errors(document):  # with the reason, which oneOf hides
        sys.exit("/".join(map(str, error.absolute_path)) + ": " + error.message[:300])
    whole.validate(document)
    forms[form] += 1
print("valid:", ", ".join("%d %s" % (count, form) for form, count in sorted(forms.items())))
