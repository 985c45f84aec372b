"""valid-json.py SCHEMA: checks the JSON documents of standard input, one after the other, against a
JSON Schema. Prints how many of each form (of its oneOf) there were."""
import collections
import json
import sys

import jsonschema

with open(sys.argv[1], encoding="utf-8") as file:
    schema = json.load(file)
jsonschema.Draft202012Validator.check_schema(schema)
forms = [form["$ref"].rpartition("/")[2] for form in schema.get("oneOf", ())]
validators = {
    form: jsonschema.Draft202012Validator({"$ref": "#/$defs/" + form, "$defs": schema["$defs"]})
    for form in forms
}
validators = validators or {"document": jsonschema.Draft202012Validator(schema)}
text, at, counts = sys.stdin.read(), 0, collections.Counter()
while text[at:].strip():
    at = len(text) - len(text[at:].lstrip())
    document, at = json.JSONDecoder().raw_decode(text, at)
    errors = {form: list(validator.iter_errors(document)) for form, validator in validators.items()}
    valid = [form for form, found in errors.items() if not found]
    if len(valid) != 1:  # the form that is nearest, with the reason, which oneOf hides
        nearest = min(errors, key=lambda form: len(errors[form]))
        for error in errors[nearest][:5]:
            print(
                nearest
                + ": "
                + "/".join(map(str, error.absolute_path))
                + ": "
                + error.message[:300],
                file=sys.stderr,
            )
        sys.exit("%d forms fit: %s" % (len(valid), json.dumps(document)[:300]))
    counts[valid[0]] += 1
print("valid: " + ", ".join("%d %s" % (counts[form], form) for form in validators if counts[form]))
